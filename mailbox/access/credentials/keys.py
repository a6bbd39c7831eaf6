"""API keys: how they are added, rotated and revoked, and when they expire. A key is shown once, when it is added.

A rotation gives a new key the place of an old one, and both are valid for a while. A client certificate, which a
trusted proxy passes on, is stored as an API key of its agent.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User

from mailbox.access import audit, own_agents
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.journal import access_entries
from mailbox.models import Agent, ApiKey
from mailbox.words import certificates, tokens
from mailbox.words.envelopes import check_to_come
from mailbox.words.errors import InvalidRequestError, KeyLimitError, KeyReplacedError, UnknownKeyError
from mailbox.words.times import epoch_ms

LIVE_KEYS_PER_OWNER = 2
LEAST_OVERLAP, USUAL_OVERLAP, MOST_OVERLAP = timedelta(minutes=1), timedelta(hours=1), timedelta(days=7)


class Expiry(NamedTuple):
    """The expiry of a key, None for never. ``renews`` is as in `ApiKey`."""

    expires_at: datetime | None
    renews: bool


def of_new(caller: Caller, wanted: datetime | None, now: datetime) -> Expiry:
    """Return the expiry of a key that ``caller`` makes and that shall expire at ``wanted``.

    None means as late as possible: with the caller's own key if that expires, and within A2A_KEY_MAX_AGE_MS; without
    both never. Raises `InvalidRequestError` if ``wanted`` is later.
    """
    own = ApiKey.objects.filter(public_id=caller.credential).values_list("expires_at", flat=True).first()
    aged = _end_of_age(now)
    latest = min((limit for limit in (own, aged) if limit is not None), default=None)
    if wanted is not None and latest is not None and wanted > latest:
        limit = "the expiry of the key that makes it" if latest == own else "A2A_KEY_MAX_AGE_MS"
        raise InvalidRequestError({"expires_at": f"must be at most {latest:%Y-%m-%dT%H:%M:%SZ}, because of {limit}"})
    return Expiry(wanted or latest, renews=wanted is None and aged is not None and own is None)


def of_successor(old: ApiKey, now: datetime) -> Expiry:
    """Return the expiry of the key that replaces ``old``: that of ``old``, or a new age if only the age limits it."""
    aged = _end_of_age(now)
    if old.expires_at is None or old.renews:
        return Expiry(aged, renews=aged is not None)
    return Expiry(old.expires_at if aged is None else min(old.expires_at, aged), renews=False)


def _end_of_age(now: datetime) -> datetime | None:
    return now + settings.A2A_KEY_MAX_AGE if settings.A2A_KEY_MAX_AGE else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A new API key with its row. ``secret`` is the whole key, which is shown once and not stored."""

    secret: str
    row: ApiKey


def add_key(
    caller: Caller,
    *,
    agent: Agent | None = None,
    username: str | None = None,
    expires_at: datetime | None = None,
) -> NewKey:
    """Create an API key for ``agent``, or for a person's automation, and return it.

    An agent may add a key of its own, to replace the old one. All other callers need ``a2a.capabilities.grant``.
    ``expires_at`` is a future time; None means as late as `create_key` allows. Raises `InvalidRequestError`,
    `CapabilityMissingError`, and `KeyLimitError` if the owner has two live keys. Locks the owner's row; journals
    ``key_added``.
    """
    if (agent is None) == (username is None):
        raise InvalidRequestError(dict.fromkeys(("agent", "username"), "must name an agent or a person, not both"))
    caller.must_do_more_than_send()
    own_agents.refuse_credentials(agent)
    with audit.decision(caller) as journal:
        check_to_come(expires_at, journal.now, path="expires_at")
        require_own(caller, agent, str(agent or username), journal)
        user = User.objects.filter(username=username).first() if username is not None else None
        owner = agent or user
        if owner is None:
            raise InvalidRequestError({"username": "no such person"})
        lock_owner(owner)
        _require_room(owner, journal, agent=agent, user=user)
        made = create_key(caller, journal.now, wanted=expires_at, agent=agent, user=user)
        journal.beside(access_entries.KeyAddedEntry(str(owner), made.row.public_id))
    return made


def revoke_key(caller: Caller, public_id: str, *, with_made: bool = False) -> list[ApiKey]:
    """Revoke a key at once. A second call changes nothing. Return the key, and then the other keys that were revoked.

    ``with_made`` also revokes the keys that were made with it, the keys made with these, and so on. An agent may revoke
    its own keys. All other callers need ``a2a.capabilities.grant``. Raises `UnknownKeyError`, `CapabilityMissingError`.
    Locks the keys; journals ``key_revoked`` for each.
    """
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        key = _locked(ApiKey.objects.visible_to(caller.party).filter(public_id=public_id).first())
        if key is None:
            raise UnknownKeyError(f'No key has the public id "{public_id[:8]}".', public_id=public_id[:8])
        require_own(caller, key.agent, key.owner, journal)
        revoked = [key]
        if with_made:
            for made in _made_with(key):
                if made.agent_id != key.agent_id or made.user_id != key.user_id:
                    require_own(caller, made.agent, made.owner, journal)
                revoked.append(made)
        for one in revoked:
            revoke_row(one, journal)
    return revoked


def create_key(caller: Caller, now: datetime, *, wanted: datetime | None = None, **owner: Any) -> NewKey:
    """Store a new key of ``owner`` (the fields of `ApiKey`) and return it. Checks no capability; journals nothing.

    The key expires as `key_expiry.of_new` decides, with its error.
    """
    expires_at, renews = of_new(caller, wanted, now)
    return store_key(now, expires_at=expires_at, renews=renews, made_by=caller.credential, **owner)


def store_key(now: datetime, **fields: Any) -> NewKey:
    """Store a new key with these fields of `ApiKey` and return it. Decides and journals nothing."""
    minted = tokens.mint()
    row = ApiKey.objects.create(public_id=minted.public_id, digest=minted.digest, created_at=now, **fields)
    return NewKey(secret=minted.key, row=row)


def lock_owner(owner: Agent | User) -> None:
    """Lock the row of a key's owner, so that two requests do not add a third key."""
    type(owner)._default_manager.select_for_update(no_key=True).get(pk=owner.pk)


def _require_room(owner: Agent | User, journal: audit.Journal, **of: Any) -> None:
    if ApiKey.objects.live(journal.now).filter(**of).count() >= LIVE_KEYS_PER_OWNER:
        raise KeyLimitError(f"{owner} already has {LIVE_KEYS_PER_OWNER} live keys. Revoke one first.")


def require_own(caller: Caller, agent: Agent | None, owner: str, journal: audit.Journal) -> None:
    """Require ``a2a.capabilities.grant`` unless the caller is the agent that owns the key."""
    if caller.agent is not None and caller.agent == agent:
        return
    journal.admit(Request.to_manage_keys(owner))


def revoke_row(key: ApiKey, journal: audit.Journal) -> None:
    """Revoke a locked key within the decision of ``journal``. Nothing changes for a revoked key."""
    if key.revoked_at is None:
        key.revoked_at = journal.now
        key.save(update_fields=["revoked_at"])
        journal.beside(access_entries.KeyRevokedEntry(key.owner, key.public_id))


def _locked(key: ApiKey | None) -> ApiKey | None:
    locked = ApiKey.objects.select_for_update(of=("self",)).select_related("agent", "user")
    return None if key is None else locked.get(pk=key.pk)


def _made_with(key: ApiKey) -> Iterator[ApiKey]:
    """Yield the unrevoked keys that were made with ``key``, directly or through other keys, and lock each."""
    makers, seen = [key.public_id], {key.public_id}
    while makers:
        locked = ApiKey.objects.select_for_update(of=("self",)).select_related("agent", "user").order_by("pk")
        made = [one for one in locked.filter(made_by__in=makers) if one.public_id not in seen]
        makers = [one.public_id for one in made]
        seen.update(makers)
        yield from (one for one in made if one.revoked_at is None)


def bind_certificate(caller: Caller, agent: Agent, certificate: str) -> ApiKey:
    """Let the holder of the public key in ``certificate`` act as ``agent`` without an API key. Return the new row.

    The row counts among the agent's keys, expires as a new key does, and is revoked as a key is. Its digest is the hex
    SHA-256 of the certificate's SubjectPublicKeyInfo. Needs ``a2a.capabilities.grant``, unless the caller is the
    agent. Raises `InvalidRequestError` for text that is no certificate and for a public key that was bound before.
    Raises `CapabilityMissingError`, and `KeyLimitError` if the agent has two live keys. Locks the agent's row; journals
    ``key_added``.
    """
    caller.must_do_more_than_send()
    own_agents.refuse_credentials(agent)
    fingerprint = certificates.fingerprint(certificate)
    if fingerprint is None:
        raise InvalidRequestError({"certificate": "must be an X.509 certificate, as PEM or as DER in base64"})
    public_id = certificates.public_id(fingerprint)
    with audit.decision(caller) as journal:
        require_own(caller, agent, agent.display, journal)
        lock_owner(agent)
        if ApiKey.objects.filter(public_id=public_id).exists():
            raise InvalidRequestError({"certificate": "has a public key that was bound before; make a new key pair"})
        _require_room(agent, journal, agent=agent)
        expires_at, renews = of_new(caller, None, journal.now)
        row = ApiKey.objects.create(
            public_id=public_id,
            digest=fingerprint,
            created_at=journal.now,
            expires_at=expires_at,
            renews=renews,
            made_by=caller.credential,
            agent=agent,
        )
        journal.beside(access_entries.KeyAddedEntry(agent.display, public_id))
    return row


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """The successor of a key, and the time when the replaced key expires."""

    new: NewKey
    overlap_ends_at: datetime


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
        old = _locked_for_rotation(caller, public_id, journal)
        last = ApiKey.objects.select_related("agent", "user").filter(replaces=old.public_id).order_by("-pk").first()
        if last is not None:
            _withdraw(last, journal)
        _check_room(old, journal.now)
        expires_at, renews = (last.expires_at, last.renews) if last else of_successor(old, journal.now)
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
        ends_at_ms = epoch_ms(old.expires_at)
        journal.beside(access_entries.KeyRotatedEntry(old.owner, made.row.public_id, old.public_id, ends_at_ms))
    return Rotation(new=made, overlap_ends_at=old.expires_at)


def _locked_for_rotation(caller: Caller, public_id: str | None, journal: audit.Journal) -> ApiKey:
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
