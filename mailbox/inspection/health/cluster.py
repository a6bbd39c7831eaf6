"""The task cluster, as its timetable and its passes in the database show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from mailbox.database import timetable
from mailbox.models import LastPass

SILENT_AFTER = timedelta(seconds=150)  # a running cluster finishes a sweep about every minute
CLOCKS_DIFFER = timedelta(minutes=1)  # a sweep of another host may end so far ahead of this host's clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The task cluster, judged by its finished passes.

    ``next_retry`` is None if no pass is planned. ``swept_at`` is the end of the newest sweep that ended, also of a
    failed sweep, None before the first. ``waiting`` counts the jobs that are due and not started.
    """

    next_retry: datetime | None
    swept_at: datetime | None
    waiting: int

    @classmethod
    def read(cls) -> Cluster:
        """Return the cluster's state now."""
        due = timetable.due_since(timezone.now())
        return cls(next_retry=timetable.next_run(timetable.RETRY_JOB), swept_at=swept_at(), waiting=len(due))

    def is_running(self, now: datetime) -> bool:
        """Whether a sweep finished lately. A sweep in the future proves nothing: the clock was set back since."""
        return is_recent(self.swept_at, now)


def is_recent(swept_at: datetime | None, now: datetime) -> bool:
    """Whether a sweep that ended then shows that a cluster runs, None for no sweep."""
    return swept_at is not None and -CLOCKS_DIFFER <= now - swept_at < SILENT_AFTER


def swept_at() -> datetime | None:
    """Return the end of the newest sweep that ended, also of a failed sweep, by any process; None before the first."""
    return next(iter(LastPass.objects.filter(job=timetable.SWEEP_JOB).values_list("finished_at", flat=True)), None)
