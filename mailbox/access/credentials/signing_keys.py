"""Signing keys: proved, changed and retired. An agent signs its requests by its live key.

The public key that an agent was registered with names it for ever: grants, journal rows and addresses keep that key.
So an agent sees the same rows before and after a change of its signing key.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import IntegrityError

from mailbox.access import audit, own_agents
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.journal import hub_entries
from mailbox.models import Agent, SigningKey
from mailbox.words.ed25519 import KeyProof
from mailbox.words.errors import AgentConflictError, InvalidRequestError
from mailbox.words.times import epoch_ms


def set_signing_key(caller: Caller, agent: Agent, proof: KeyProof) -> SigningKey:
    """Make the key of ``proof`` the agent's signing key, and retire the one until now. A second call changes nothing.

    The key that the agent was registered with needs no other signature. Each other key needs a signature by the key
    until now, too. A caller without that signature, or for another agent, needs ``a2a.capabilities.grant``: so an
    operator replaces a key that is lost or stolen. Raises `InvalidRequestError` for a proof that does not hold and for
    a retired key, `CapabilityMissingError`, and `AgentConflictError` for a key of another agent. Locks the agent row;
    journals ``signing_key_set``.
    """
    caller.must_do_more_than_send()
    own_agents.refuse_credentials(agent)
    try:
        with audit.decision(caller) as journal:
            check(proof, agent.display, journal)
            Agent.objects.select_for_update().get(pk=agent.pk)
            keys = of(agent)
            live = next((key for key in keys if key.retired_at is None), None)
            if caller.agent != agent or not _is_agreed(proof, agent, keys):
                journal.admit(Request.to_manage_keys(agent.display))
            if live is not None and live.pubkey == proof.pubkey:
                return live
            if live is not None:
                live.retired_at = journal.now
                live.save(update_fields=["retired_at"])
            made = store(agent, proof.pubkey, journal)
            journal.beside(hub_entries.SigningKeySetEntry(agent.display, made.pubkey, live.pubkey if live else ""))
            return made
    except IntegrityError as error:
        raise AgentConflictError("This public key belongs to another agent.", agent=agent.display) from error


def retire_signing_key(caller: Caller, agent: Agent) -> SigningKey | None:
    """Retire the agent's signing key at once, and return it; None without a live one. It never comes back.

    An agent may retire its own key. All other callers need ``a2a.capabilities.grant``. Raises `CapabilityMissingError`.
    Locks the agent row; journals ``signing_key_retired``.
    """
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        if caller.agent != agent:
            journal.admit(Request.to_manage_keys(agent.display))
        Agent.objects.select_for_update().get(pk=agent.pk)
        live = SigningKey.objects.of_agent(agent).live().first()
        if live is not None:
            live.retired_at = journal.now
            live.save(update_fields=["retired_at"])
            journal.beside(hub_entries.SigningKeyRetiredEntry(agent.display, live.pubkey))
    return live


def of(agent: Agent) -> Sequence[SigningKey]:
    """Return the agent's signing keys, the oldest first. Retired keys are among them, so old signatures verify."""
    return list(SigningKey.objects.of_agent(agent).oldest_first())


def check(proof: KeyProof, display: str, journal: audit.Journal) -> None:
    """Raise `InvalidRequestError` unless the proof is for this agent at this hub, and recent."""
    proof.check(hub=settings.PUBLIC_URL, display=display, now_ms=epoch_ms(journal.now))


def store(agent: Agent, pubkey: str, journal: audit.Journal) -> SigningKey:
    """Store a proved key of ``agent``. Raises `InvalidRequestError` for a retired one. Checks no capability.

    Raises `AgentConflictError` for the public key of another agent, and `IntegrityError` for its signing key.
    """
    if Agent.objects.filter(pubkey=pubkey).exclude(pk=agent.pk).exists():
        raise AgentConflictError("This public key belongs to another agent.", agent=agent.display)
    if SigningKey.objects.of_agent(agent).filter(pubkey=pubkey).exists():
        raise InvalidRequestError({"pubkey": "was retired; make a new key"})
    return SigningKey.objects.create(agent=agent, pubkey=pubkey, proven_at=journal.now)


def _is_agreed(proof: KeyProof, agent: Agent, keys: Sequence[SigningKey]) -> bool:
    """Whether the agent's key until now agrees to the key of ``proof``. Without a live key, none can agree.

    An agent that never proved a key has the key until now that it was registered with.
    """
    live = next((key.pubkey for key in keys if key.retired_at is None), None if keys else agent.pubkey)
    if live is None or live == proof.pubkey:
        return live is not None
    return proof.is_agreed_by(live, hub=settings.PUBLIC_URL, display=agent.display)
