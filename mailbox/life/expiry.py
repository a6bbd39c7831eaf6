"""Tasks that ran out of time: queued or interrupted past their deadline, or leased beyond their work timeout.

The first verb that reads such a task resolves it, so the hub is right without its scheduler. The sweep only resolves
such tasks sooner.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.access.capabilities import visible_leases, visible_tasks
from mailbox.access.limits import waits
from mailbox.journal import task_entries
from mailbox.life.resolution import resolve
from mailbox.models import Agent, Lease, Task
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.task import TaskQuerySet

Value = TypeVar("Value")

DEADLINE_EXCEEDED = "deadline exceeded"
TIMED_OUT = "Task timed out"  # corvid-agent's words; its clients show them


# In these states a task expires at its deadline. Its holder may miss the deadline: then the work timeout counts.
WITHOUT_HOLDER = (Task.State.QUEUED, Task.State.INTERRUPTED)


def expire_overdue(task: Task, journal: Journal) -> None:
    """Resolve a queued or interrupted task past its deadline as ``expired``. The caller holds the task row's lock."""
    resolve(
        task,
        Task.Outcome.EXPIRED,
        journal,
        task_entries.TaskExpiredEntry(DEADLINE_EXCEEDED, deadline_ms=task.deadline_ms),
        end=Lease.End.EXPIRED,
        error_message=DEADLINE_EXCEEDED,
    )


def expire_due(tasks: TaskQuerySet, leases: LeaseQuerySet, journal: Journal, *, limit: int = 100) -> int:
    """Expire the tasks of ``leases`` past their work timeout, and those of ``tasks`` past their deadline.

    At most ``limit`` tasks of each kind; returns how many. Locks each row, and skips rows that another transaction has
    locked. Waiters come last: a leader's end waits for its waiters, and the sweep must hold no other waiter meanwhile.
    """
    ended = _expire_timed_out(leases, journal, limit)
    overdue = tasks.overdue(journal.now)
    leading = _expire_overdue(overdue.filter(waits_on=None), journal, limit)
    keys = {task.cache_key for task in leading if task.cache_key}
    woken_or_waiting = overdue.filter(Q(waits_on__isnull=False) | Q(cache_key__in=keys))
    return ended + len(leading) + len(_expire_overdue(woken_or_waiting, journal, limit))


def _expire_overdue(overdue: TaskQuerySet, journal: Journal, limit: int) -> Sequence[Task]:
    waiting = overdue.with_parties().order_by("pk")
    expired = list(waiting.select_for_update(skip_locked=True, no_key=True, of=("self",))[:limit])
    for task in expired:
        # An earlier task of this loop may have woken or resolved this one.
        task.refresh_from_db(fields=["state", "journal_seq", "waits_on"])
        if task.state in WITHOUT_HOLDER:
            expire_overdue(task, journal)
    return expired


def _expire_timed_out(leases: LeaseQuerySet, journal: Journal, limit: int) -> int:
    due = leases.timed_out(journal.now).with_task().order_by("task_id")
    expired = list(due.select_for_update(skip_locked=True, no_key=True, of=("self", "task"))[:limit])
    for lease in expired:
        resolve(
            lease.task,
            Task.Outcome.EXPIRED,
            journal,
            task_entries.TaskExpiredEntry(TIMED_OUT, lease_id=lease.lease_id, attempt=lease.attempt),
            end=Lease.End.EXPIRED,
            lease=lease,
            error_message=TIMED_OUT,
        )
    return len(expired)


def current(caller: Caller, task_id: UUID) -> Task:
    """Return a task as it is now, with its parties, the task that it waits on, and its result.

    A task past its deadline or work timeout is expired first, which locks its row and journals ``a2a_task_expired``.
    Raises `UnknownTaskError` for an absent task and for a task that the caller may not see, and changes neither.
    """
    visible = visible_tasks(caller).whole()
    task = visible.by_id(task_id)
    if _is_due(task, timezone.now()):
        with audit.decision(caller) as journal:
            expire_due(*_single(caller, task_id), journal)
        task = visible.by_id(task_id)
    return task


def read(caller: Caller, task_id: UUID, look: Callable[[Task], Value], *, wait: timedelta | None) -> Value:
    """Call ``look``, and again at each change of the task, until it returns a true value; return its last value.

    ``look`` gets the task as `current` returns it. Before each look, a task past its deadline or work timeout is
    expired as `current` does, with its error. The watch rings at that moment, so the wait ends then, if ``look``
    returns a true value for a resolved task. A task that becomes due as the wait ends is expired and looked at once
    more. ``wait`` None has no limit; zero looks once. Also raises as `waits.until`.
    """
    seen: list[Task] = []

    def look_when_current() -> Value:
        seen[:] = [current(caller, task_id)]
        return look(seen[0])

    value = waits.for_change(caller, task_id, look_when_current, wait)
    return look_when_current() if not value and _is_due(seen[0], timezone.now()) else value


def _is_due(task: Task, now: datetime) -> bool:
    if task.state in WITHOUT_HOLDER:
        return task.is_overdue(now)
    lease = task.live_lease() if task.state == Task.State.IN_FLIGHT and task.work_timeout is not None else None
    return lease is not None and lease.has_timed_out(now)


def _single(caller: Caller, task_id: UUID) -> tuple[TaskQuerySet, LeaseQuerySet]:
    """Return the task and its leases as querysets for `expire_due`, empty if the caller may not see the task."""
    return visible_tasks(caller).filter(uuid=task_id), visible_leases(caller).filter(task__uuid=task_id)


def expire_within(journal: Journal, task: Task) -> bool:
    """Expire ``task`` if it is due, within the decision of ``journal``; return whether it was.

    The object ``task`` is not changed.
    """
    if not _is_due(task, journal.now):
        return False
    return expire_due(Task.objects.filter(pk=task.pk), Lease.objects.filter(task=task), journal) > 0


def expire_if_due(caller: Caller, task_id: UUID) -> None:
    """Expire the task if it is past its deadline or work timeout, before a verb decides by its state."""
    now = timezone.now()
    task, leases = _single(caller, task_id)
    if task.overdue(now).exists() or leases.timed_out(now).exists():
        with audit.decision(caller) as journal:
            expire_due(task, leases, journal)


def expire_if_timed_out(caller: Caller, task_id: UUID) -> None:
    """Expire the task if it is past its work timeout, so that a late result is rejected."""
    _, leases = _single(caller, task_id)
    if leases.timed_out(timezone.now()).exists():
        with audit.decision(caller) as journal:
            expire_due(Task.objects.none(), leases, journal)


def sweep(caller: Caller, *, batch: int = 100) -> int:
    """Expire every task that is due; return how many. Each transaction expires at most ``batch`` tasks of each kind."""
    return _expire_all(caller, Task.objects.all(), Lease.objects.all(), batch)


def make_inbox_current(caller: Caller, owner: Agent, *, batch: int = 100) -> None:
    """Expire each task addressed to ``owner`` that is due and that the caller may see, before a list shows them.

    Without such a task, nothing is locked or written. Each transaction expires at most ``batch`` tasks of each kind.
    """
    now = timezone.now()
    tasks, leases = visible_tasks(caller).addressed_to(owner), visible_leases(caller).filter(task__recipient=owner)
    if tasks.overdue(now).exists() or leases.timed_out(now).exists():
        _expire_all(caller, tasks, leases, batch)


def _expire_all(caller: Caller, tasks: TaskQuerySet, leases: LeaseQuerySet, batch: int) -> int:
    total = 0
    while True:
        with audit.decision(caller) as journal:
            ended = expire_due(tasks, leases, journal, limit=batch)
        total += ended
        if ended < batch:
            return total
