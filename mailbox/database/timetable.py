"""The task cluster's timetable, as the database keeps it; this module alone knows django-q2's tables."""

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
# How the names of our jobs begin, past ones too. A version with the last may run beside this one.
OURS = ("mailbox.background.jobs.", "mailbox.schedule.")

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


def keep(minutes: Mapping[str, int]) -> None:
    """Plan each job named in ``minutes`` once in so many minutes, and no other job of ours.

    A job that is planned already keeps its next run, a new one is due at once. The jobs of others stay. Two calls at
    once could plan a job twice: the caller must keep them apart.
    """
    known = Schedule.objects.filter(reduce(or_, (Q(func__startswith=prefix) for prefix in OURS)))
    kept = {row.func: row for row in known.order_by("pk") if row.func in minutes}
    known.exclude(pk__in=[row.pk for row in kept.values()]).delete()
    for func, every in minutes.items():
        row = kept.get(func) or Schedule(func=func, name=func, next_run=timezone.now())
        row.schedule_type, row.minutes, row.repeats = Schedule.MINUTES, every, -1
        row.save()
