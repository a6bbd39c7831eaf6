"""Agents: registered, paused and resumed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import base58
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import IntegrityError

from mailbox.access import audit, own_agents
from mailbox.access.callers import Caller
from mailbox.access.credentials import signing_keys
from mailbox.access.credentials.keys import create_key
from mailbox.access.requests import Request
from mailbox.journal import hub_entries
from mailbox.models import Agent, SigningKey
from mailbox.words import ed25519, names
from mailbox.words.envelopes import DISPLAY, DISPLAY_MAX_LENGTH, check_pubkey, check_reason, is_pubkey
from mailbox.words.errors import AgentConflictError, InvalidRequestError


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A new agent with its secrets, which are shown once and not stored.

    ``private_key`` is the 32-byte Ed25519 seed in base58; None if the request had a public key.
    """

    agent: Agent
    private_key: str | None
    api_key: str


def register_agent(
    caller: Caller,
    display: str,
    *,
    pubkey: str | None = None,
    proof: ed25519.KeyProof | None = None,
    also: Callable[[Agent, audit.Journal], object] | None = None,
) -> Registration:
    """Register an agent with its first API key. Needs ``a2a.agents.register``.

    A bare local part gets the host ``local``. Without ``pubkey`` an Ed25519 key pair is made, which signs requests. A
    given key signs requests if ``proof`` proves it; without a proof, the agent can give the proof later. ``also`` is
    called with the new agent and the journal, within the same decision. The key expires as `create_key` decides.

    Raises `InvalidRequestError`, also for the host that is kept for spelled names; `CapabilityMissingError`; and
    `AgentConflictError` if the display, ignoring case, or the public key is taken. Journals ``agent_registered``.
    """
    display = display_of(display)
    if is_pubkey(display.partition("@")[0]):
        raise InvalidRequestError({"display": "the local part must not be a public key, which names another agent"})
    if display.lower().endswith(f"@{names.HOST}"):
        raise InvalidRequestError({"display": f'the host "{names.HOST}" is reserved for names that are not displays'})
    if proof is not None and proof.pubkey != pubkey:
        raise InvalidRequestError({"proof": "is of another public key"})
    return _register(caller, display, pubkey, also, proof=proof, with_key=True)


def _register(
    caller: Caller,
    display: str,
    pubkey: str | None,
    also: Callable[[Agent, audit.Journal], object] | None,
    *,
    with_key: bool,
    proof: ed25519.KeyProof | None = None,
) -> Registration:
    check_display(display)
    if pubkey is not None:
        check_pubkey(pubkey, "pubkey")
        if problem := ed25519.problem_with(pubkey):
            raise InvalidRequestError({"pubkey": problem.removeprefix("pubkey ")})
    has_pubkey = pubkey is not None
    private_key, pubkey = (None, pubkey) if pubkey else new_pair()
    try:
        with audit.decision(caller) as journal:
            journal.admit(Request.to_register(display))
            if proof is not None:
                signing_keys.check(proof, display, journal)
            proven = proof is not None if has_pubkey else None
            if SigningKey.objects.filter(pubkey=pubkey).exists():
                raise AgentConflictError("This public key belongs to another agent.", agent=display)
            agent = _create_agent(display, pubkey, journal, proven=proven)
            if proven or (with_key and not has_pubkey):
                signing_keys.store(agent, pubkey, journal)
            key = create_key(caller, journal.now, agent=agent).secret if with_key else ""
            if also is not None:
                also(agent, journal)
    except IntegrityError as error:
        raise AgentConflictError(f'"{display}" or its public key is already registered.', agent=display) from error
    return Registration(agent=agent, private_key=private_key, api_key=key)


def ensure_agent(caller: Caller, name: str) -> Agent:
    """Return the agent ``name``, a display or a local part at ``local``. A new name is registered.

    Registering needs ``a2a.agents.register``. The new agent has no API key; it acts in process until it gets one.
    Raises `InvalidRequestError`, a capability error, and `AgentConflictError` for a name that differs from another
    agent's name only in case. Journals ``agent_registered``.
    """
    display = display_of(name)
    known = _known(display)
    if known is not None:
        return known
    try:
        return _register(caller, display, None, None, with_key=False).agent
    except AgentConflictError:
        twin = _known(display)  # registered by another request meanwhile
        if twin is None:
            raise
        return twin


def ensure_named(caller: Caller, name: str) -> Agent:
    """Return the agent at the `address_of` this name as `ensure_agent` does, with its errors."""
    try:
        return ensure_agent(caller, address_of(name))
    except AgentConflictError:  # meanwhile an agent was registered whose name differs only in case
        return ensure_agent(caller, address_of(name))


def address_of(name: str) -> str:
    """Return the display of the agent of this name, which may be any text and may not be registered yet.

    A display or local part is the agent's own. Any other text has the display that `names.spelled` makes. So has a
    public key, and a name that differs from a registered agent's only in case. Raises `InvalidRequestError`.
    """
    if is_pubkey(name):
        return names.spelled(name)
    display = display_of(name)
    if DISPLAY.fullmatch(display):
        alike = Agent.objects.spelled_like(display)
        if alike is None or alike.display == display:
            return display
    return names.spelled(name)


def enrol(name: str, journal: audit.Journal) -> Agent:
    """Return the agent ``name`` as `ensure_agent` does, within the decision of ``journal``, and check no capability."""
    display = display_of(name)
    check_display(display)
    return _known(display) or _create_agent(display, new_pair()[1], journal)


def display_of(name: str) -> str:
    """Return ``name`` if it is a display; a local part gets the host ``local``."""
    return name if "@" in name else f"{name}@local"


def check_display(display: str) -> None:
    """Raise `InvalidRequestError` for text that cannot be the display of a new agent, and for a name of the hub."""
    if not DISPLAY.fullmatch(display) or len(display) > DISPLAY_MAX_LENGTH:
        raise InvalidRequestError({"display": f'invalid AgentId.display: "{display[:DISPLAY_MAX_LENGTH]}"'})
    if is_pubkey(display.partition("@")[0]):
        raise InvalidRequestError({"display": "the local part must not be a public key, which names another agent"})
    if display.lower().endswith(f"@{names.HUB_HOST}"):
        raise InvalidRequestError({"display": f'the host "{names.HUB_HOST}" is reserved for agents of the hub itself'})
    if display.lower() in own_agents.OWN_AGENTS:
        raise InvalidRequestError({"display": f'"{display.lower()}" is reserved for an agent of the hub itself'})


def pause_agent(caller: Caller, agent: Agent, *, reason: str, renews: bool = True) -> Agent:
    """Pause an agent: it leases no task until it is resumed, and may finish the tasks that it holds.

    Needs ``a2a.agents.pause``, which operators hold. Pausing again replaces the reason, or raises `AgentConflictError`
    without ``renews``. Raises `InvalidRequestError` for a blank reason, `CapabilityMissingError`. Locks the agent row;
    journals ``agent_paused``.
    """
    reason = check_reason(reason)
    with audit.decision(caller) as journal:
        paused = _locked_to_pause(agent, journal)
        if paused.paused_at is not None and not renews:
            raise AgentConflictError(f"{paused} is already paused.", agent=paused.display)
        if paused.paused_at is None or paused.paused_reason != reason:
            paused.paused_at, paused.paused_reason = paused.paused_at or journal.now, reason
            paused.save(update_fields=["paused_at", "paused_reason"])
            journal.beside(hub_entries.AgentPausedEntry(paused.display, reason))
    return paused


def resume_agent(caller: Caller, agent: Agent, *, reason: str = "", since: datetime | None = None) -> Agent:
    """Resume a paused agent. Nothing changes for an agent that is not paused.

    Needs ``a2a.agents.pause``, which operators hold. ``since`` guards against ending a newer pause: if the agent was
    paused at another time, `AgentConflictError` is raised. Locks the agent row; journals ``agent_resumed``.
    """
    reason = check_reason(reason) if reason.strip() else ""
    with audit.decision(caller) as journal:
        resumed = _locked_to_pause(agent, journal)
        if since is not None and resumed.paused_at != since:
            raise AgentConflictError(f"{resumed} was resumed meanwhile.", agent=resumed.display)
        if resumed.paused_at is not None:
            journal.beside(hub_entries.AgentResumedEntry(resumed.display, reason, resumed.paused_reason))
            resumed.paused_at, resumed.paused_reason = None, ""
            resumed.save(update_fields=["paused_at", "paused_reason"])
    return resumed


def _locked_to_pause(agent: Agent, journal: audit.Journal) -> Agent:
    journal.admit(Request.to_pause(agent))
    return Agent.objects.select_for_update().get(pk=agent.pk)


def _known(display: str) -> Agent | None:
    alike = Agent.objects.spelled_like(display)
    if alike is not None and alike.display != display:
        raise AgentConflictError(f'"{display}" differs from the agent "{alike}" only in case.', agent=alike)
    return alike


def _create_agent(display: str, pubkey: str, journal: audit.Journal, *, proven: bool | None = None) -> Agent:
    local = display.partition("@")[0]
    agent = Agent.objects.create(display=display, local=local, pubkey=pubkey, created_at=journal.now)
    journal.beside(hub_entries.AgentRegisteredEntry(display, pubkey, proven=proven))
    return agent


def new_pair() -> tuple[str, str]:
    """Return the private and the public key of a new agent, in base58."""
    private = Ed25519PrivateKey.generate()
    seed = base58.b58encode(private.private_bytes_raw()).decode()
    return seed, base58.b58encode(private.public_key().public_bytes_raw()).decode()
