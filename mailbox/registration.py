"""Agents and their API keys: who there is, and how each proves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import base58
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone

from mailbox import audit, capabilities, key_format
from mailbox.callers import Caller
from mailbox.capabilities import Request
from mailbox.envelopes import (
    DISPLAY,
    DISPLAY_MAX_LENGTH,
    AgentRef,
    check_pubkey,
    check_reason,
    check_to_come,
    is_pubkey,
)
from mailbox.errors import (
    AgentConflictError,
    Draft,
    InvalidRequestError,
    KeyLimitError,
    UnknownAgentError,
    UnknownKeyError,
)
from mailbox.kinds import Kind
from mailbox.models import Agent, ApiKey

LIVE_KEYS_PER_OWNER = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A new agent with its secrets, which are shown once and kept nowhere.

    ``private_key`` is base58 of the 32-byte Ed25519 seed; None when the agent brought its own key.
    """

    agent: Agent
    private_key: str | None
    api_key: str


def register_agent(
    caller: Caller,
    display: str,
    *,
    pubkey: str | None = None,
    also: Callable[[Agent, audit.Journal], object] | None = None,
) -> Registration:
    """Register an agent and give it its first API key. Needs ``a2a.agents.register``.

    A bare local part gets the host ``local``. Without ``pubkey`` an Ed25519 pair is made. ``also`` adds to the
    new agent within the same decision. Raises `AgentConflictError` when the display (ignoring case) or the
    key is taken.
    """
    return _register(caller, display_of(display), pubkey, also, with_key=True)


def _register(
    caller: Caller,
    display: str,
    pubkey: str | None,
    also: Callable[[Agent, audit.Journal], object] | None,
    *,
    with_key: bool,
) -> Registration:
    check_display(display)
    if pubkey is not None:
        check_pubkey(pubkey, "pubkey")
    private_key, pubkey = (None, pubkey) if pubkey else _new_pair()
    try:
        with audit.decision(caller) as journal:
            request = Request(verb=capabilities.REGISTER, scope_id=f"a2a-register:{display}")
            permit = capabilities.require(caller, request, journal.now)
            permit.use(journal.now)
            journal.beside(permit.draft)
            agent = _create_agent(display, pubkey, journal)
            key = _create_key(journal.now, agent=agent) if with_key else ""
            if also is not None:
                also(agent, journal)
    except IntegrityError as error:
        raise AgentConflictError(f'"{display}" or its public key is already registered', agent=display) from error
    return Registration(agent=agent, private_key=private_key, api_key=key)


def ensure_agent(caller: Caller, name: str) -> Agent:
    """Return the agent ``name`` (a display, or a local part at ``local``), registering it when it is new.

    Needs ``a2a.agents.register`` only then. The new agent has no API key: it acts in process, or gets one.
    Raises `InvalidRequestError`, a capability error, `AgentConflictError` for a name that differs from another's only
    in case. Journals ``agent_registered``.
    """
    display = display_of(name)
    known = _known(display)
    if known is not None:
        return known
    try:
        return _register(caller, display, None, None, with_key=False).agent
    except AgentConflictError:
        twin = _known(display)  # a racing one that was first
        if twin is None:
            raise
        return twin


def enrol(name: str, journal: audit.Journal) -> Agent:
    """Return the agent ``name`` as `ensure_agent` does, within a decision that may register agents."""
    display = display_of(name)
    check_display(display)
    return _known(display) or _create_agent(display, _new_pair()[1], journal)


def display_of(name: str) -> str:
    """Return the display that ``name`` means: itself, or a local part at the host ``local``."""
    return name if "@" in name else f"{name}@local"


def check_display(display: str) -> None:
    """Raise `InvalidRequestError` for what cannot be a new agent's display."""
    if not DISPLAY.fullmatch(display) or len(display) > DISPLAY_MAX_LENGTH:
        raise InvalidRequestError({"display": f'invalid AgentId.display: "{display[:DISPLAY_MAX_LENGTH]}"'})


def hub_agent(display: str) -> Agent:
    """Return an agent of the hub's own, registered on first use with a key pair that nobody keeps."""
    defaults = {"local": display.partition("@")[0], "pubkey": _new_pair()[1], "created_at": timezone.now()}
    return Agent.objects.get_or_create(display=display, defaults=defaults)[0]


def pause_agent(caller: Caller, agent: Agent, *, reason: str, renews: bool = True) -> Agent:
    """Keep the agent's tasks queued: none is leased to it until it is resumed; what it holds it may finish.

    Needs ``a2a.agents.pause``. Pausing again only renews the reason, or without ``renews`` raises
    `AgentConflictError`. Locks the agent row; journals ``agent_paused``.
    """
    reason = check_reason(reason)
    with audit.decision(caller) as journal:
        paused = _locked_to_pause(caller, agent, journal)
        if paused.paused_at is not None and not renews:
            raise AgentConflictError(f"{paused} is paused already.", agent=paused.display)
        if paused.paused_at is None or paused.paused_reason != reason:
            paused.paused_at, paused.paused_reason = paused.paused_at or journal.now, reason
            paused.save(update_fields=["paused_at", "paused_reason"])
            journal.beside(Draft(kind=Kind.AGENT_PAUSED, data={"display": paused.display, "reason": reason}))
    return paused


def resume_agent(caller: Caller, agent: Agent, *, reason: str = "", since: datetime | None = None) -> Agent:
    """Let a paused agent lease again; one that is not paused stays as it is, and nothing is journalled.

    ``since`` names the pause that is meant: any other raises `AgentConflictError`. Needs ``a2a.agents.pause``. Locks
    the agent row; journals ``agent_resumed`` with the reason it was paused for.
    """
    reason = check_reason(reason) if reason.strip() else ""
    with audit.decision(caller) as journal:
        resumed = _locked_to_pause(caller, agent, journal)
        if since is not None and resumed.paused_at != since:
            raise AgentConflictError(f"{resumed} was resumed meanwhile.", agent=resumed.display)
        if resumed.paused_at is not None:
            data = {"display": resumed.display, "reason": reason, "was_paused_for": resumed.paused_reason}
            resumed.paused_at, resumed.paused_reason = None, ""
            resumed.save(update_fields=["paused_at", "paused_reason"])
            journal.beside(Draft(kind=Kind.AGENT_RESUMED, data=data))
    return resumed


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
    with audit.decision(caller) as journal:
        check_to_come(expires_at, journal.now, path="expires_at")
        _require_own(caller, agent, journal, scope_id=f"a2a-key:{agent or username}")
        user = User.objects.filter(username=username).first() if username is not None else None
        owner = agent or user
        if owner is None:
            raise InvalidRequestError({"username": "no such person"})
        # The owner's row serialises the count of its keys.
        type(owner)._default_manager.select_for_update().get(pk=owner.pk)
        if ApiKey.objects.live(journal.now).filter(agent=agent, user=user).count() >= LIVE_KEYS_PER_OWNER:
            raise KeyLimitError(f"{owner} already has {LIVE_KEYS_PER_OWNER} live keys; revoke one first")
        key = _create_key(journal.now, agent=agent, user=user, expires_at=expires_at)
        data = {"owner": str(owner), "public_id": key_format.public_id(key)}
        journal.beside(Draft(kind=Kind.KEY_ADDED, data=data))
    return key


def revoke_key(caller: Caller, public_id: str) -> ApiKey:
    """Revoke a key at once; revoking it again changes nothing.

    An agent may revoke its own; any other needs ``a2a.capabilities.grant``. Raises `UnknownKeyError`.
    """
    with audit.decision(caller) as journal:
        visible = ApiKey.objects.filter(agent=caller.agent) if caller.agent else ApiKey.objects.all()
        key = (
            visible.select_for_update(of=("self",)).select_related("agent", "user").filter(public_id=public_id).first()
        )
        if key is None:
            raise UnknownKeyError(f'no key "{public_id[:8]}" here', public_id=public_id[:8])
        _require_own(caller, key.agent, journal, scope_id=f"a2a-key:{key.agent or key.user}")
        if key.revoked_at is None:
            key.revoked_at = journal.now
            key.save(update_fields=["revoked_at"])
            data = {"owner": str(key.agent or key.user), "public_id": public_id}
            journal.beside(Draft(kind=Kind.KEY_REVOKED, data=data))
    return key


def find_agent(ref: AgentRef) -> Agent:
    """Return the registered agent that ``ref`` means; raise `UnknownAgentError`."""
    return Agent.objects.named(ref)


def agent_at(name: str) -> Agent:
    """Return the agent that a path names by public key, display or local part; raise `UnknownAgentError`."""
    try:
        ref = AgentRef(pubkey=name) if is_pubkey(name) else AgentRef.parse(name)
    except InvalidRequestError as error:
        raise UnknownAgentError(f"no agent {name[:DISPLAY_MAX_LENGTH]!r} is registered here") from error
    return find_agent(ref)


def _locked_to_pause(caller: Caller, agent: Agent, journal: audit.Journal) -> Agent:
    request = Request(verb=capabilities.PAUSE, scope_id=f"a2a-pause:{agent}", peer_pubkey_b58=agent.pubkey)
    journal.beside(capabilities.require(caller, request, journal.now).draft)
    return Agent.objects.select_for_update().get(pk=agent.pk)


def _require_own(caller: Caller, agent: Agent | None, journal: audit.Journal, *, scope_id: str) -> None:
    if caller.agent is not None and caller.agent == agent:
        return
    permit = capabilities.require(caller, Request(verb=capabilities.GRANT, scope_id=scope_id), journal.now)
    journal.beside(permit.draft)


def _known(display: str) -> Agent | None:
    exact = Agent.objects.filter(display=display).first()
    if exact is None and (alike := Agent.objects.spelled_like(display)) is not None:
        raise AgentConflictError(f'"{display}" differs from the agent "{alike}" only in case', agent=alike)
    return exact


def _create_agent(display: str, pubkey: str, journal: audit.Journal) -> Agent:
    local = display.partition("@")[0]
    agent = Agent.objects.create(display=display, local=local, pubkey=pubkey, created_at=journal.now)
    journal.beside(Draft(kind=Kind.AGENT_REGISTERED, data={"display": display, "pubkey": pubkey}))
    return agent


def _create_key(now: datetime, **owner: Any) -> str:
    minted = key_format.mint()
    ApiKey.objects.create(public_id=minted.public_id, digest=minted.digest, created_at=now, **owner)
    return minted.key


def _new_pair() -> tuple[str, str]:
    private = Ed25519PrivateKey.generate()
    seed = base58.b58encode(private.private_bytes_raw()).decode()
    return seed, base58.b58encode(private.public_key().public_bytes_raw()).decode()
