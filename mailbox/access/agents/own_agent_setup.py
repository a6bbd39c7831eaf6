"""The hub's own agents: made, and taken back from a program that registered under their name."""

from datetime import datetime

from django.utils import timezone

from mailbox.access import audit, own_agents
from mailbox.access.agents.registration import new_pair
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.journal import access_entries, hub_entries
from mailbox.models import Agent, ApiKey, CapabilityGrant, PublicRoute, SigningKey
from mailbox.words.errors import InvalidRequestError


def hub_agent(display: str) -> Agent:
    """Return an agent of the hub itself, registered on first use. Its private key is not stored.

    Raises `AgentConflictError` for an agent that another program may act as.
    """
    agent = hub_row(display)
    own_agents.check(agent, display, timezone.now())
    return agent


def hub_row(display: str) -> Agent:
    """Return the row that has the name of the hub's own agent, ignoring case, also if another program may act as it."""
    defaults = {"local": display.partition("@")[0], "pubkey": new_pair()[1], "created_at": timezone.now()}
    return Agent.objects.spelled_like(display) or Agent.objects.get_or_create(display=display, defaults=defaults)[0]


def make_all() -> list[str]:
    """Register the hub's own agents. Return a message for each that another program may act as."""
    for display in own_agents.OWN_AGENTS:
        hub_row(display)
    return own_agents.conflicts(timezone.now())


def reclaim(caller: Caller, name: str) -> Agent:
    """Make the agent ``name``, such as ``operators@hub``, the hub's own again; return it.

    The agent loses its API keys, signing key, public routes and grants. It gets the hub's spelling and a new public
    key, and keeps its tasks. Needs ``a2a.capabilities.grant``. Raises `InvalidRequestError` for another name, and a
    capability error. Locks the agent row; journals ``key_revoked``, ``route_revoked``, ``capability_revoked`` and
    ``agent_reclaimed``.
    """
    display = next((own for own in own_agents.OWN_AGENTS if own == name.lower()), None)
    if display is None:
        raise InvalidRequestError({"agent": f"must be one of {', '.join(own_agents.OWN_AGENTS)}"})
    row = hub_row(display)
    with audit.decision(caller) as journal:
        journal.admit(Request.to_manage_keys(display))
        agent = Agent.objects.select_for_update().get(pk=row.pk)
        _revoke_access(agent, journal.now, journal)
        journal.beside(hub_entries.AgentReclaimedEntry(display, agent.display, pubkey := new_pair()[1], agent.pubkey))
        agent.display, agent.local, agent.pubkey = display, display.partition("@")[0], pubkey
        agent.save(update_fields=["display", "local", "pubkey"])
    return agent


def _revoke_access(agent: Agent, now: datetime, journal: audit.Journal) -> None:
    for key in ApiKey.objects.select_for_update().filter(agent=agent, revoked_at=None):
        key.revoked_at = now
        key.save(update_fields=["revoked_at"])
        journal.beside(access_entries.KeyRevokedEntry(agent.display, key.public_id))
    for route in PublicRoute.objects.select_for_update().filter(agent=agent, revoked_at=None):
        route.revoked_at = now
        route.save(update_fields=["revoked_at"])
        journal.beside(access_entries.RouteRevokedEntry(agent.display, route.public_id))
    SigningKey.objects.live().of_agent(agent).update(retired_at=now)
    for grant in CapabilityGrant.objects.select_for_update().filter(subject=agent, revoked_at=None):
        grant.revoked_at = now
        grant.save(update_fields=["revoked_at"])
        journal.beside(access_entries.CapabilityRevokedEntry(grant.grant_id, agent.display, grant.action))
