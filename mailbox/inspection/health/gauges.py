"""The numbers of the hub for monitoring, for all its processes together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Min, Q, QuerySet

from mailbox.inspection.health import cluster
from mailbox.inspection.statistics import backlogs
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, Result, RollUpTurn, Task

COUNTED_TO = 100_000  # rows of one number
QUEUED_TO = 10_000  # tasks or leases of one agent
QUERIES = 13


class AgentQueue(NamedTuple):
    """The queue of one agent. ``oldest`` is the age of its oldest leasable task, None without one."""

    agent: str
    queued: int
    leased: int
    oldest: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauges:
    """The numbers of this instant. An age is None without a row.

    ``queues`` are those of the busiest agents, whose ``queued`` and ``leased`` stop at `QUEUED_TO`. The other numbers
    stop at `COUNTED_TO`, except ``agents``, ``leased`` and ``stale``. ``failing`` counts callbacks whose last attempt
    failed. ``sums`` are those of all minutes that were rolled up. ``journal`` is the key of the newest row.
    """

    queues: Sequence[AgentQueue]
    agents: int
    queued: int
    interrupted: int
    leased: int
    stale: int
    oldest_lease: timedelta | None
    pending: int
    oldest_result: timedelta | None
    callbacks: int
    failing: int
    given_up: int
    oldest_callback: timedelta | None
    journal: int
    swept: timedelta | None
    sums: RollUpTurn


def read(now: datetime, *, stale_after: timedelta, most_agents: int) -> Gauges:
    """Return the numbers, with the queues of the ``most_agents`` busiest agents. Makes `QUERIES` queries."""
    leases = Lease.objects.live().aggregate(
        all=Count("pk"), stale=Count("pk", filter=Q(leased_at__lte=now - stale_after)), since=Min("leased_at")
    )
    callbacks = [_callbacks(state) for state in PushDelivery.UNDER_WAY]
    return Gauges(
        queues=queues(now, most_agents),
        agents=Agent.objects.count(),
        queued=_count(Task.objects.queued()),
        interrupted=_count(Task.objects.interrupted()),
        leased=leases["all"],
        stale=leases["stale"],
        oldest_lease=_age(now, leases["since"]),
        pending=_count(Result.objects.pending()),
        oldest_result=_age(now, next((owed["since"] for owed in backlogs.oldest_owed()), None)),
        callbacks=sum(found["all"] for found in callbacks),
        failing=sum(found["failing"] for found in callbacks),
        given_up=_count(PushDelivery.objects.given_up()),
        oldest_callback=_age(now, min((found["due"] for found in callbacks if found["due"]), default=None)),
        journal=AuditEvent.objects.aggregate(newest=Max("pk"))["newest"] or 0,
        swept=_age(now, cluster.swept_at()),
        sums=RollUpTurn.read(),
    )


def queues(now: datetime, most: int) -> list[AgentQueue]:
    """Return the queues of the ``most`` busiest agents, without those that have nothing to do. One query."""
    agents = backlogs.with_oldest(backlogs.with_backlog(Agent.objects.all(), QUEUED_TO))
    busiest: QuerySet[Any] = backlogs.busiest_first(agents)
    return [
        AgentQueue(display, min(queued, QUEUED_TO), min(leased, QUEUED_TO), _age(now, since))
        for display, queued, leased, since in busiest.values_list("display", "queued", "leased", "waits_since")[:most]
        if queued or leased
    ]


def _callbacks(state: PushDelivery.State) -> dict[str, Any]:
    """Return how many callbacks are in this state, how many of them have failed, and when the first is due."""
    rows = PushDelivery.objects.filter(state=state).order_by()[:COUNTED_TO]
    again = Q(attempts__gt=F("forgiven") + 1)
    return rows.aggregate(all=Count("pk"), failing=Count("pk", filter=again), due=Min("next_attempt_at"))


def _count(rows: QuerySet[Any]) -> int:
    return rows.order_by()[:COUNTED_TO].count()


def _age(now: datetime, since: datetime | None) -> timedelta | None:
    return None if since is None else now - since
