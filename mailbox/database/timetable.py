"""The task cluster's timetable and queue in the database. Only this module knows django-q2's tables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import CharField, Q
from django.db.models.sql import Query
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ, Schedule

from mailbox.database import compiled
from mailbox.database.compiled import Parameter
from mailbox.database.paging import Counted, query_of_figures

RETRY_JOB = "mailbox.background.jobs.retry_pass"
SWEEP_JOB = "mailbox.background.jobs.sweep_pass"
ALERT_JOB = "dashboard.alerts.alert_pass"
# The names of our jobs begin so. The last is of an earlier version, which may run beside this version.
OURS = ("mailbox.background.jobs.", "dashboard.alerts.", "mailbox.schedule.")

WAITING_COUNTED = 1000


def next_run(func: str) -> datetime | None:
    """Return when the job with this dotted name is due, None if it is not planned."""
    planned: list[datetime] = _planned().rows(func=func)
    return planned[0] if planned else None


def waiting() -> int:
    """Return the number of jobs that run or wait in the queue, at most `WAITING_COUNTED`."""
    ((number,),) = _waiting(WAITING_COUNTED).rows()
    return int(number)


@compiled.once
def _planned() -> Any:
    planned = Schedule.objects.filter(func=Parameter("func", CharField()))
    return planned.order_by("next_run").values_list("next_run", flat=True)


@compiled.once
def _waiting(most: int) -> Query:
    return query_of_figures(Counted(OrmQ.objects.order_by().values("pk")[:most]))


def keep(minutes: Mapping[str, int]) -> None:
    """Plan each job of ``minutes`` at its interval in minutes, and delete every other job of ours from the timetable.

    A job that is planned already keeps its next run, unless that lies further ahead than the interval. A new job is due
    at once. Jobs of other applications stay. The caller must not run two calls at the same time, since they could plan
    a job twice.
    """
    now = timezone.now()
    known = Schedule.objects.filter(_ours())
    kept = {row.func: row for row in known.order_by("pk") if row.func in minutes}
    known.exclude(pk__in=[row.pk for row in kept.values()]).delete()
    for func, every in minutes.items():
        row = kept.get(func) or Schedule(func=func, name=func, next_run=now)
        row.schedule_type, row.minutes, row.repeats = Schedule.MINUTES, every, -1
        row.next_run = min(row.next_run, now + timedelta(minutes=every))
        row.save()


def bring_near(now: datetime) -> None:
    """Move every time of the timetable and of the queue that lies too far from ``now`` as near as its span allows.

    A clock that jumped leaves such times. The span of a job of ours is its interval. A time before the span would cost
    the scheduler a step for each missed run. The span of a queued job's lock is the setting ``retry`` of Q_CLUSTER,
    after which another process may run the job.
    """
    for row in Schedule.objects.filter(_ours(), schedule_type=Schedule.MINUTES):
        span = timedelta(minutes=row.minutes)
        if row.next_run > now + span:
            Schedule.objects.filter(pk=row.pk, next_run__gt=now + span).update(next_run=now + span)
        elif row.next_run < now - span:
            Schedule.objects.filter(pk=row.pk, next_run__lt=now - span).update(next_run=now - span)
    latest = now + timedelta(seconds=Conf.RETRY)
    ahead = OrmQ.objects.filter(lock__gt=latest)
    if ahead.exists():
        ahead.update(lock=latest)


def is_due(now: datetime) -> bool:
    """Whether the timetable holds a job that is due and not in the queue yet."""
    return bool(Schedule.objects.exclude(repeats=0).filter(next_run__lt=now).exists())


def _ours() -> Q:
    return reduce(or_, (Q(func__startswith=prefix) for prefix in OURS))
