"""The task cluster's timetable, and the results of its jobs. Only this module writes django-q2's tables.

Of django-q2 the hub uses the documented models alone.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django_q.models import Schedule, Task

from mailbox.database import write_turns

RETRY_JOB = "mailbox.background.jobs.retry_pass"
SWEEP_JOB = "mailbox.background.jobs.sweep_pass"
ALERT_JOB = "dashboard.alerts.alert_pass"
JOBS = (SWEEP_JOB, RETRY_JOB, ALERT_JOB)
# The names of our jobs begin so. The last is of an earlier version, which may run beside this version.
OURS = ("mailbox.background.jobs.", "dashboard.alerts.", "mailbox.schedule.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One run of the job ``func``. ``key`` is the job's row in the timetable.

    Until the end of the run is recorded, the timetable plans the next run at ``held_until``.
    """

    key: int
    func: str
    held_until: datetime
    next_run: datetime


def next_run(func: str) -> datetime | None:
    """Return when the job with this dotted name is due, None if it is not planned."""
    return next(iter(Schedule.objects.filter(func=func).order_by("next_run").values_list("next_run", flat=True)), None)


def due_since(now: datetime) -> Sequence[datetime]:
    """Return the times since which jobs of `JOBS` are due and not taken, the longest wait first."""
    due = Schedule.objects.filter(func__in=JOBS, next_run__lt=now)
    return tuple(due.order_by("next_run").values_list("next_run", flat=True))


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


def take_due(now: datetime, running: Collection[str]) -> Sequence[Turn]:
    """Take a turn of each job of `JOBS` that is due and not ``running``. No other process takes the same turn.

    Missed runs are made up for once. A taken job is due again at its next run, at the latest after the setting
    ``retry`` of Q_CLUSTER. So a process that dies delays it little. A time further ahead than the job's interval is
    moved near, because a clock that jumped leaves such times.
    """
    latest = now + timedelta(seconds=settings.Q_CLUSTER["retry"])
    turns: dict[str, Turn] = {}
    for row in Schedule.objects.filter(func__in=JOBS, schedule_type=Schedule.MINUTES).order_by("pk"):
        every = timedelta(minutes=row.minutes or 1)
        if row.next_run > now + every:
            _move(row.pk, row.next_run, now + every)
        elif row.next_run < now and row.func not in running and row.func not in turns:
            following = row.next_run + ((now - row.next_run) // every + 1) * every
            turn = Turn(key=row.pk, func=row.func, held_until=min(following, latest), next_run=following)
            if _move(row.pk, row.next_run, turn.held_until):
                turns[row.func] = turn
    return tuple(turns.values())


def record(turn: Turn, *, started: datetime, error: str | None) -> None:
    """Store the result of a run, and plan the job's next run. ``error`` tells why the run failed, None: it succeeded.

    The newest successes and failures of each job are kept, as many of each as the setting ``save_limit`` of Q_CLUSTER.
    """
    result = Task(
        id=uuid.uuid4().hex,
        name=turn.func.rpartition(".")[2],
        func=turn.func,
        group=turn.func,
        started=started,
        stopped=timezone.now(),
        success=error is None,
        result=error,
    )
    alike = Task.objects.filter(func=turn.func, success=result.success)
    newest = alike.order_by("-stopped").values("pk")[: settings.Q_CLUSTER["save_limit"]]
    with write_turns.turn(), transaction.atomic():
        result.save(force_insert=True)
        alike.exclude(pk__in=newest).delete()
        Schedule.objects.filter(pk=turn.key).update(task=result.pk)
        _move(turn.key, turn.held_until, turn.next_run)


def _move(key: int, planned: datetime, to: datetime) -> bool:
    """Plan the job at ``to`` if it is still planned at ``planned``, and return whether it was."""
    return bool(Schedule.objects.filter(pk=key, next_run=planned).update(next_run=to))


def _ours() -> Q:
    return reduce(or_, (Q(func__startswith=prefix) for prefix in OURS))
