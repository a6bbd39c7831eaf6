"""The recent dealings of one agent: counterparts, leases and waiting tasks. Each read is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max

from mailbox.database import compiled
from mailbox.database.compiled import AGENT
from mailbox.models import Agent, Lease, Task

AMONG = 500  # the agent's newest tasks that are looked at, of those it sent and of those it received


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """Another agent, with the recent tasks that it sent to this agent and received from it."""

    display: str
    sent: int = 0
    received: int = 0
    last_at: datetime

    def joined(self, other: Counterpart) -> Counterpart:
        """Return the counterpart with the numbers of both."""
        return Counterpart(
            display=self.display,
            sent=self.sent + other.sent,
            received=self.received + other.received,
            last_at=max(self.last_at, other.last_at),
        )


def next_queued(agent: Agent, *, most: int) -> Sequence[Task]:
    """Return the ``most`` tasks that the agent leases next, in their order, with ``opening``."""
    return _next_queued(most).rows(agent=agent.pk)


def counterparts(agent: Agent, *, most: int) -> Sequence[Counterpart]:
    """Return the ``most`` agents with the latest tasks to or from this agent, among its newest tasks."""
    found: dict[str, Counterpart] = {}
    for mine, other in (("recipient", "sender"), ("sender", "recipient")):
        for display, count, last_at in _others(mine, other, AMONG).rows(agent=agent.pk):
            numbers = {"sent" if other == "sender" else "received": count}
            one = Counterpart(display=display, last_at=last_at, **numbers)
            found[display] = found[display].joined(one) if display in found else one
    return sorted(found.values(), key=lambda one: one.last_at, reverse=True)[:most]


@compiled.once
def _next_queued(most: int) -> Any:
    found = Task.objects.leasable().filter(recipient=AGENT).with_parties().with_opening()
    return found.order_by("queued_at", "pk")[:most]


@compiled.once
def _others(mine: str, other: str, among: int) -> Any:
    newest = Task.objects.filter(**{mine: AGENT}).order_by("-pk").values("pk")[:among]
    rows = Task.objects.filter(pk__in=newest).values_list(f"{other}__display").order_by()
    return rows.annotate(count=Count("pk"), last_at=Max("sent_at"))


def last_leased_at(agent: Agent) -> datetime | None:
    """Return when the agent last leased one of its newest tasks, None for never."""
    newest = Task.objects.filter(recipient=agent).order_by("-pk").values("pk")[:AMONG]
    moment: datetime | None = Lease.objects.filter(task__in=newest).aggregate(at=Max("leased_at"))["at"]
    return moment
