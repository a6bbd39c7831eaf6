"""Agents: their names, their keys, and their peers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mailbox.models import Agent, ApiKey, Peer, SigningKey


def first_names(*, most: int) -> Sequence[str]:
    """Return the displays of the first ``most`` agents by name."""
    return list(Agent.objects.order_by("display").values_list("display", flat=True)[:most])


def newest_peers(agent: Agent, *, most: int) -> Sequence[Peer]:
    """Return the ``most`` peers of this agent that were seen last, newest first."""
    return list(Peer.objects.of_agent(agent).last_seen_first()[:most])


def live_keys(agent: Agent, now: datetime) -> Sequence[ApiKey]:
    """Return the live API keys of this agent, oldest first."""
    return list(ApiKey.objects.live(now).filter(agent=agent).order_by("pk"))


def live_signing_key(agent: Agent) -> SigningKey | None:
    """Return the key by which this agent signs its requests; None without one."""
    return SigningKey.objects.live().of_agent(agent).first()
