"""The agents themselves: all of them, their names, and the peers that use their credentials."""

from __future__ import annotations

from collections.abc import Sequence

from mailbox.models import Agent, Peer
from mailbox.models.agent import AgentQuerySet


def everyone() -> AgentQuerySet:
    """Return all agents as a query in no order, which `mailbox.inspection.backlogs` adds to."""
    return Agent.objects.all()


def first_names(*, most: int) -> Sequence[str]:
    """Return the displays of the first ``most`` agents by name."""
    return list(Agent.objects.order_by("display").values_list("display", flat=True)[:most])


def newest_peers(agent: Agent, *, most: int) -> Sequence[Peer]:
    """Return the ``most`` peers that used this agent's credentials last, the newest first."""
    return list(Peer.objects.of_agent(agent).last_seen_first()[:most])
