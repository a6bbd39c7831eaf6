"""API keys: added and revoked, shown once."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from mailbox.gate import audit, entries
from mailbox.gate.callers import Caller
from mailbox.gate.requests import Request
from mailbox.models import Agent, ApiKey
from mailbox.words import tokens
from mailbox.words.envelopes import check_to_come
from mailbox.words.errors import InvalidRequestError, KeyLimitError, UnknownKeyError

LIVE_KEYS_PER_OWNER = 2


def add_key(
    caller: Caller,
    *,
    agent: Agent | None = None,
    username: str | None = None,
    expires_at: datetime | None = None,
) -> str:
    """Return a new API key of ``agent``, or of a person for automation; it is shown this once.

    An agent may add a key of its own (to rotate it); any other needs ``a2a.capabilities.grant``.
    ``expires_at`` is to come; None lasts until revoked. Raises `InvalidRequestError`, and `KeyLimitError` when the
    owner already has two live keys.
    """
    if (agent is None) == (username is None):
        raise InvalidRequestError(dict.fromkeys(("agent", "username"), "name an agent or a person, one of them"))
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        check_to_come(expires_at, journal.now, path="expires_at")
        _require_own(caller, agent, str(agent or username), journal)
        user = User.objects.filter(username=username).first() if username is not None else None
        owner = agent or user
        if owner is None:
            raise InvalidRequestError({"username": "no such person"})
        # The owner's row serialises the count of its keys.
        type(owner)._default_manager.select_for_update().get(pk=owner.pk)
        if ApiKey.objects.live(journal.now).filter(agent=agent, user=user).count() >= LIVE_KEYS_PER_OWNER:
            raise KeyLimitError(f"{owner} already has {LIVE_KEYS_PER_OWNER} live keys; revoke one first")
        minted = create_key(journal.now, agent=agent, user=user, expires_at=expires_at)
        journal.beside(entries.key_added(str(owner), minted.public_id))
    return minted.key


def revoke_key(caller: Caller, public_id: str) -> ApiKey:
    """Revoke a key at once; revoking it again changes nothing.

    An agent may revoke its own; any other needs ``a2a.capabilities.grant``. Raises `UnknownKeyError`.
    """
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        visible = ApiKey.objects.visible_to(caller.party)
        key = (
            visible.select_for_update(of=("self",)).select_related("agent", "user").filter(public_id=public_id).first()
        )
        if key is None:
            raise UnknownKeyError(f'no key "{public_id[:8]}" here', public_id=public_id[:8])
        _require_own(caller, key.agent, str(key.agent or key.user), journal)
        if key.revoked_at is None:
            key.revoked_at = journal.now
            key.save(update_fields=["revoked_at"])
            journal.beside(entries.key_revoked(str(key.agent or key.user), public_id))
    return key


def _require_own(caller: Caller, agent: Agent | None, owner: str, journal: audit.Journal) -> None:
    if caller.agent is not None and caller.agent == agent:
        return
    journal.admit(Request.to_manage_keys(owner))


def create_key(now: datetime, **owner: Any) -> tokens.Minted:
    """Store a new key of ``owner`` (the fields of `ApiKey`) and return it. Decides and journals nothing."""
    minted = tokens.mint()
    ApiKey.objects.create(public_id=minted.public_id, digest=minted.digest, created_at=now, **owner)
    return minted
