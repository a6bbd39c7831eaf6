"""The queue and the leases of each minute of an hour whose tasks were made at times in the past."""

from datetime import datetime, timedelta

from django.db.models import Q

from mailbox.models import Depth, Lease, Task
from mailbox.models.rollup import floor
from mailbox.upkeep import rollups


def measure(now: datetime) -> None:
    """Roll up the minutes, and count the queue and the leases of each minute of the last hour as they were."""
    rollups.roll()
    for back in range(1, 60):
        at = floor(now) - timedelta(minutes=back)
        live = Lease.objects.filter(Q(ended_at=None) | Q(ended_at__gt=at), leased_at__lte=at)
        leased = Lease.objects.filter(leased_at__lte=at).values("task")
        ended = Task.objects.filter(resolved_at__lte=at).values("pk")
        Depth.objects.create(
            minute=at,
            queued=Task.objects.filter(sent_at__lte=at).exclude(pk__in=leased).exclude(pk__in=ended).count(),
            leased=live.count(),
            stale=live.filter(leased_at__lte=at - timedelta(minutes=5)).count(),
        )
