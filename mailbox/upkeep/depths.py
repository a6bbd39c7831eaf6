"""The queues and leases of each minute, which charts of the past need. No other row tells them later."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.database.counted import Counted
from mailbox.models import Agent, Depth, Lease, Task
from mailbox.models.rollup import floor
from mailbox.repairs.auto_retry import AutoRetry
from mailbox.upkeep.rollups import KEPT

AGENTS = 100  # the busiest agents, which have rows of their own
COUNTED_TO = 100_000  # tasks of the hub
OF_AGENT = 10_000  # tasks or leases of one agent


def measure(now: datetime | None = None) -> int:
    """Count queued tasks and leases of the hub and its busiest agents; return how many rows this minute got.

    A second call in the same minute changes nothing. Rows older than `KEPT` are deleted.
    """
    now = now or timezone.now()
    minute = floor(now)
    if Depth.objects.of(None).filter(minute=minute).exists():
        return 0
    live, after = Lease.objects.live(), AutoRetry.from_settings().policy.min_lease_age
    hub = Depth(
        minute=minute,
        queued=Task.objects.queued().order_by()[:COUNTED_TO].count(),
        leased=live.count(),
        stale=Lease.objects.stale(now, after).count(),
    )
    rows = [hub, *_of_agents(minute, Lease.objects.stale(now, after))]
    with write_turns.turn(), transaction.atomic():
        Depth.objects.bulk_create(rows, ignore_conflicts=True)
        Depth.objects.filter(minute__lt=minute - KEPT).delete()
    return len(rows)


def _of_agents(minute: datetime, stale: QuerySet[Lease]) -> list[Depth]:
    to_it = Task.objects.queued().filter(recipient=OuterRef("pk"))
    # Two counts, each by an index of its own: leasable tasks, and tasks that wait on another.
    queued = [Counted.up_to(OF_AGENT, to_it.filter(waits_on__isnull=waits)) for waits in (True, False)]
    agents = Agent.objects.annotate(
        queued=queued[0] + queued[1],
        leased=Counted.up_to(OF_AGENT, Lease.objects.live().filter(holder=OuterRef("pk"))),
        old=Counted.up_to(OF_AGENT, stale.filter(holder=OuterRef("pk"))),
    ).filter(Q(queued__gt=0) | Q(leased__gt=0))
    found = agents.order_by("-queued", "-leased").values_list("pk", "queued", "leased", "old")[:AGENTS]
    return [Depth(agent_id=pk, minute=minute, queued=q, leased=held, stale=old) for pk, q, held, old in found]
