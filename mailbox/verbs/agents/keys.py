"""API keys: added and revoked. A key is shown once, when it is added."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from mailbox.gate import audit, entries, own_agents
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
    """Create an API key for ``agent``, or for a person's automation, and return it.

    An agent may add a key of its own, to replace the old one. All other callers need ``a2a.capabilities.grant``.
    ``expires_at`` is a future time, None for no expiry. Raises `InvalidRequestError`, `CapabilityMissingError`, and
    `KeyLimitError` if the owner has two live keys. Locks the owner's row; journals ``key_added``.
    """
    if (agent is None) == (username is None):
        raise InvalidRequestError(dict.fromkeys(("agent", "username"), "must name an agent or a person, not both"))
    caller.must_do_more_than_send()
    own_agents.refuse_credentials(agent)
    with audit.decision(caller) as journal:
        check_to_come(expires_at, journal.now, path="expires_at")
        _require_own(caller, agent, str(agent or username), journal)
        user = User.objects.filter(username=username).first() if username is not None else None
        owner = agent or user
        if owner is None:
            raise InvalidRequestError({"username": "no such person"})
        # The lock of the owner's row keeps two requests from adding a third key.
        type(owner)._default_manager.select_for_update().get(pk=owner.pk)
        if ApiKey.objects.live(journal.now).filter(agent=agent, user=user).count() >= LIVE_KEYS_PER_OWNER:
            raise KeyLimitError(f"{owner} already has {LIVE_KEYS_PER_OWNER} live keys. Revoke one first.")
        minted = create_key(journal.now, agent=agent, user=user, expires_at=expires_at)
        journal.beside(entries.key_added(str(owner), minted.public_id))
    return minted.key


def revoke_key(caller: Caller, public_id: str) -> ApiKey:
    """Revoke a key at once. A second call changes nothing.

    An agent may revoke its own keys. All other callers need ``a2a.capabilities.grant``. Raises `UnknownKeyError`,
    `CapabilityMissingError`. Locks the key; journals ``key_revoked``.
    """
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        visible = ApiKey.objects.visible_to(caller.party)
        key = (
            visible.select_for_update(of=("self",)).select_related("agent", "user").filter(public_id=public_id).first()
        )
        if key is None:
            raise UnknownKeyError(f'No key has the public id "{public_id[:8]}".', public_id=public_id[:8])
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
