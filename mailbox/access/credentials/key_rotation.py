"""The rotation of an API key: a new key takes its place, and both are valid for a while."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.credentials import keys
from mailbox.access.credentials.keys import LIVE_KEYS_PER_OWNER, NewKey, lock_owner, revoke_row, store_key
from mailbox.access.requests import Request
from mailbox.journal import entries
from mailbox.models import ApiKey
from mailbox.words.errors import InvalidRequestError, KeyLimitError, KeyReplacedError, UnknownKeyError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """The successor of a key, and the time when the replaced key expires."""

    new: NewKey
    overlap_ends_at: datetime


LEAST_OVERLAP, USUAL_OVERLAP, MOST_OVERLAP = timedelta(minutes=1), timedelta(hours=1), timedelta(days=7)


def rotate_key(caller: Caller, *, public_id: str | None = None, overlap: timedelta = USUAL_OVERLAP) -> Rotation:
    """Create the successor of a key, let the key expire after ``overlap``, and return the successor.

    ``public_id`` None means the key of this request. Another key needs ``a2a.capabilities.grant``. The successor
    expires with the key that it replaces. If only A2A_KEY_MAX_AGE_MS limits that key, the successor starts a new age.

    A lost answer cannot be read again, so the call can be repeated with the old key. A successor that was never used is
    then revoked, and a new one is returned. The end of the old key is never put off. Raises `KeyReplacedError` if the
    successor was used. Raises `KeyLimitError` while the key's own predecessor is valid, or for an owner with too many
    keys. Raises `UnknownKeyError`, also for a client certificate, `InvalidRequestError`, `CapabilityMissingError`.
    Locks the owner's row and the key; journals ``key_rotated``, and ``key_revoked`` for an unused successor.
    """
    if not LEAST_OVERLAP <= overlap <= MOST_OVERLAP:
        least, most = (span // timedelta(milliseconds=1) for span in (LEAST_OVERLAP, MOST_OVERLAP))
        raise InvalidRequestError({"overlap_ms": f"must be between {least} and {most}"})
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        old = _locked(caller, public_id, journal)
        last = ApiKey.objects.select_related("agent", "user").filter(replaces=old.public_id).order_by("-pk").first()
        if last is not None:
            _withdraw(last, journal)
        _check_room(old, journal.now)
        expires_at, renews = (last.expires_at, last.renews) if last else keys.of_successor(old, journal.now)
        made = store_key(
            journal.now,
            agent=old.agent,
            user=old.user,
            expires_at=expires_at,
            renews=renews,
            made_by=old.public_id,
            replaces=old.public_id,
        )
        ends = journal.now + overlap
        old.expires_at = ends if old.expires_at is None else min(old.expires_at, ends)
        old.save(update_fields=["expires_at"])
        journal.beside(
            entries.key_rotated(old.owner, made.row.public_id, old.public_id, overlap_ends_at=old.expires_at)
        )
    return Rotation(new=made, overlap_ends_at=old.expires_at)


def _locked(caller: Caller, public_id: str | None, journal: audit.Journal) -> ApiKey:
    """Return the live key to rotate, and lock its owner and the key."""
    wanted = public_id or caller.credential
    if not wanted:
        raise UnknownKeyError("This request came without an API key, so there is no key to rotate.")
    live = ApiKey.objects.live(journal.now).select_related("agent", "user").filter(public_id=wanted)
    key = live.first()
    owner = None if key is None else key.agent or key.user
    if key is None or owner is None:
        raise UnknownKeyError(f'No live key has the public id "{wanted[:8]}".', public_id=wanted[:8])
    if wanted != caller.credential:
        journal.admit(Request.to_manage_keys(key.owner))
    if key.is_certificate:
        raise UnknownKeyError(
            "A client certificate is no API key. Renew it with its key, or bind another one.", public_id=wanted
        )
    lock_owner(owner)
    locked = live.select_for_update(of=("self",)).first()
    if locked is None:
        raise UnknownKeyError(f'No live key has the public id "{wanted[:8]}".', public_id=wanted[:8])
    return locked


def _withdraw(last: ApiKey, journal: audit.Journal) -> None:
    """Revoke the unused successor of an earlier call, whose answer may be lost."""
    if last.last_used_at is not None:
        raise KeyReplacedError(
            f"This key was replaced by {last}, which is in use. Use that key. If it is not yours, revoke it.",
            public_id=last.public_id,
        )
    revoke_row(last, journal)


def _check_room(old: ApiKey, now: datetime) -> None:
    live = ApiKey.objects.live(now).filter(agent=old.agent, user=old.user)
    if old.replaces and live.filter(public_id=old.replaces).exists():
        raise KeyLimitError(
            f"a2a_{old.replaces}_…, which this key replaced, is still valid. Revoke it, or rotate after its end.",
            public_id=old.replaces,
        )
    others = live.exclude(pk=old.pk).not_replaced(now).count()
    if others >= LIVE_KEYS_PER_OWNER:
        raise KeyLimitError(f"{old.owner} already has {others} other live keys. Revoke one first.")
