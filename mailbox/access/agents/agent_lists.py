"""Agents: their names, their keys, and their peers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mailbox.database import compiled
from mailbox.database.compiled import AGENT, NOW
from mailbox.models import Agent, ApiKey, Peer, SigningKey


def first_names(*, most: int) -> Sequence[str]:
    """Return the displays of the first ``most`` agents by name."""
    return list(Agent.objects.order_by("display").values_list("display", flat=True)[:most])


def newest_peers(agent: Agent, *, most: int) -> Sequence[Peer]:
    """Return the ``most`` peers of this agent that were seen last, newest first."""
    return _newest_peers(most).rows(agent=agent.pk)


def live_keys(agent: Agent, now: datetime) -> Sequence[ApiKey]:
    """Return the live API keys of this agent, oldest first."""
    return _live_keys().rows(agent=agent.pk, now=now)


def live_signing_key(agent: Agent) -> SigningKey | None:
    """Return the key by which this agent signs its requests; None without one."""
    return next(iter(_live_signing_keys().rows(agent=agent.pk)), None)


@compiled.once
def _newest_peers(most: int) -> Any:
    return Peer.objects.filter(agent=AGENT).last_seen_first()[:most]


@compiled.once
def _live_keys() -> Any:
    return ApiKey.objects.live(NOW).filter(agent=AGENT).order_by("pk")


@compiled.once
def _live_signing_keys() -> Any:
    return SigningKey.objects.live().filter(agent=AGENT)
