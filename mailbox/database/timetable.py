"""The task cluster's timetable in the database. Only this module knows django-q2's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Q
from django.utils import timezone
from django_q.models import OrmQ, Schedule

RETRY_JOB = "mailbox.background.jobs.retry_pass"
SWEEP_JOB = "mailbox.background.jobs.sweep_pass"
# The names of our jobs begin so. The last is of an earlier version, which may run beside this version.
OURS = ("mailbox.background.jobs.", "mailbox.schedule.")

SILENT_AFTER = timedelta(seconds=150)  # a running cluster reads its timetable about every 30 s
WAITING_COUNTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The task cluster, as far as its timetable in the database tells.

    ``next_retry`` is None if no pass is planned. ``looked_at`` is about when the cluster last read its timetable, None
    before its first start. ``waiting`` counts the jobs that run or wait for a worker, up to `WAITING_COUNTED`.
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


def keep(minutes: Mapping[str, int]) -> None:
    """Plan each job of ``minutes`` at its interval in minutes, and delete every other job of ours from the timetable.

    A job that is planned already keeps its next run. A new job is due at once. Jobs of other applications stay. The
    caller must not run two calls at the same time, since they could plan a job twice.
    """
    known = Schedule.objects.filter(reduce(or_, (Q(func__startswith=prefix) for prefix in OURS)))
    kept = {row.func: row for row in known.order_by("pk") if row.func in minutes}
    known.exclude(pk__in=[row.pk for row in kept.values()]).delete()
    for func, every in minutes.items():
        row = kept.get(func) or Schedule(func=func, name=func, next_run=timezone.now())
        row.schedule_type, row.minutes, row.repeats = Schedule.MINUTES, every, -1
        row.save()
