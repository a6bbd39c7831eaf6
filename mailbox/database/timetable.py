"""The task cluster's timetable, as the database keeps it; beside `mailbox.background.jobs` alone this module knows django-q2."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django_q.models import OrmQ, Schedule

RETRY_JOB = "mailbox.background.jobs.retry_pass"
SWEEP_JOB = "mailbox.background.jobs.sweep_pass"

SILENT_AFTER = timedelta(seconds=150)  # a running cluster looks about every 30 s for what is due each minute
WAITING_COUNTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What the database tells of the task cluster, which keeps its timetable there.

    ``next_retry`` None: no pass is planned. ``looked_at`` is about when the cluster last went through its timetable,
    None when it never started here. ``waiting`` jobs wait for a worker or run, counted to `WAITING_COUNTED`.
    """

    next_retry: datetime | None
    looked_at: datetime | None
    waiting: int

    @classmethod
    def read(cls) -> Cluster:
        rows = {row.func: row for row in Schedule.objects.filter(func__in=(RETRY_JOB, SWEEP_JOB))}
        sweep, retry_row = rows.get(SWEEP_JOB), rows.get(RETRY_JOB)
        return cls(
            next_retry=retry_row.next_run if retry_row else None,
            looked_at=sweep.next_run - timedelta(minutes=sweep.minutes) if sweep else None,
            waiting=OrmQ.objects.order_by()[:WAITING_COUNTED].count(),
        )

    def is_running(self, now: datetime) -> bool:
        return self.looked_at is not None and now - self.looked_at < SILENT_AFTER
