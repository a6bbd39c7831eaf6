"""What stands in the hub at this instant: every number that the overview shows of now, read at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from django.contrib.auth.models import User
from django.db.models import Subquery

from dashboard.figures import charts, thresholds
from dashboard.figures.charts import Band
from dashboard.figures.thresholds import COUNTED_TO, Count
from mailbox.database.counted import Counted
from mailbox.inspection import backlogs
from mailbox.models import AuditEvent, Lease, PushDelivery, Result, Task
from mailbox.models.agent import AgentQuerySet
from mailbox.words import json_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """``ages`` has the live leases of each band; the moments are None where there is nothing they could be of.

    ``scan`` is the data of the newest pass of the retry gate by the scheduler.
    """

    ages: Sequence[tuple[Band, int]]
    stale_safe: int
    queued: Count
    pending: Count
    given_up: Count
    quiet: Count
    paused: Count  # with tasks waiting
    waits_since: datetime | None
    owed_since: datetime | None
    scanned_at: datetime | None
    scan: Mapping[str, Any]

    @classmethod
    def read(cls, username: str, now: datetime) -> Self:
        """Read it for the person of this name, whose row the one query hangs from."""
        stale_after = thresholds.stale_after()
        bands = charts.bands(stale_after)
        live = [Lease.objects.aged(now, band.least, band.most) for band in bands]
        scans = AuditEvent.objects.scans().through(AuditEvent.Source.SCHEDULER).newest_first()
        (found,) = User.objects.filter(username=username).values_list(
            *(Counted(leases.values("pk")) for leases in live),
            Counted(thresholds.stale_leases(now).safe_to_repeat().values("pk")),
            Counted.up_to(COUNTED_TO, Task.objects.queued()),
            Counted.up_to(COUNTED_TO, Result.objects.pending()),
            Counted.up_to(COUNTED_TO, PushDelivery.objects.given_up()),
            Counted.up_to(COUNTED_TO, backlogs.quiet(thresholds.quiet_before(now))),
            Counted.up_to(COUNTED_TO, backlogs.paused_with_work()),
            Subquery(backlogs.oldest_waiting()),
            Subquery(backlogs.oldest_owed()),
            Subquery(scans.values("at")[:1]),
            Subquery(scans.values("data")[:1]),
        )
        ages, (safe, *counts, waits, owed, scanned_at, scan) = found[: len(bands)], found[len(bands) :]
        queued, pending, given_up, quiet, paused = map(Count, counts)
        return cls(
            ages=list(zip(bands, ages, strict=True)),
            stale_safe=safe,
            queued=queued,
            pending=pending,
            given_up=given_up,
            quiet=quiet,
            paused=paused,
            waits_since=waits,
            owed_since=owed,
            scanned_at=scanned_at,
            scan=json_text.loads(scan) if scan else {},
        )

    @property
    def in_flight(self) -> int:
        return sum(count for _, count in self.ages)

    @property
    def stale(self) -> int:
        """How many leases are in the bands at and above the threshold, which is one of their edges."""
        stale_after = thresholds.stale_after()
        return sum(count for band, count in self.ages if band.least >= stale_after)


def standing_of(agents: AgentQuerySet, now: datetime) -> AgentQuerySet:
    """Add all that pages tell of an agent as it is now."""
    waiting = backlogs.with_oldest(backlogs.with_backlog(agents))
    known = backlogs.with_signs(waiting, thresholds.quiet_before(now))
    return backlogs.with_stale(known, now - thresholds.stale_after())
