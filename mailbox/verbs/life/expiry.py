"""Tasks that ran out of time: queued past their deadline, or in flight longer than they allow.

Whoever meets such a task first resolves it, so the hub is right without its scheduler; the sweep only
makes it prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from mailbox.gate import audit
from mailbox.gate.audit import Journal
from mailbox.gate.callers import Caller
from mailbox.models import Lease, Task
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.verbs.life.resolution import resolve
from mailbox.words.kinds import Kind

DEADLINE_EXCEEDED = "deadline exceeded"
TIMED_OUT = "Task timed out"  # corvid-agent's words; its clients show them


def expire_queued(task: Task, journal: Journal) -> None:
    """Resolve a queued task past its deadline as ``expired``. The caller holds the task row's lock."""
    resolve(
        task,
        Task.Outcome.EXPIRED,
        journal,
        kind=Kind.TASK_EXPIRED,
        data={"reason": DEADLINE_EXCEEDED, "deadline_ms": task.deadline_ms},
        end=Lease.End.EXPIRED,
        error_message=DEADLINE_EXCEEDED,
    )


def expire_due(tasks: TaskQuerySet, leases: LeaseQuerySet, journal: Journal, *, limit: int = 100) -> int:
    """Expire these leases' tasks that outlasted ``work_timeout`` and these tasks that are queued past their deadline.

    Up to ``limit`` of each sort; returns how many. Locks each row, skipping rows that another decision holds. Those
    that wait on others come last: whose end wakes waiters waits for them, and must not hold those of others then.
    """
    ended = _expire_timed_out(leases, journal, limit)
    overdue = tasks.overdue(journal.now)
    leading = _expire_overdue(overdue.filter(waits_on=None), journal, limit)
    keys = {task.cache_key for task in leading if task.cache_key}
    woken_or_waiting = overdue.filter(Q(waits_on__isnull=False) | Q(cache_key__in=keys))
    return ended + len(leading) + len(_expire_overdue(woken_or_waiting, journal, limit))


def _expire_overdue(overdue: TaskQuerySet, journal: Journal, limit: int) -> Sequence[Task]:
    waiting = overdue.with_parties().order_by("pk")
    found = list(waiting.select_for_update(skip_locked=True, no_key=True, of=("self",))[:limit])
    for task in found:
        # The task before it in this very loop may have woken it, or answered it.
        task.refresh_from_db(fields=["state", "journal_seq", "waits_on"])
        if task.state == Task.State.QUEUED:
            expire_queued(task, journal)
    return found


def _expire_timed_out(leases: LeaseQuerySet, journal: Journal, limit: int) -> int:
    due = leases.timed_out(journal.now).with_task().order_by("task_id")
    found = list(due.select_for_update(skip_locked=True, no_key=True, of=("self", "task"))[:limit])
    for lease in found:
        resolve(
            lease.task,
            Task.Outcome.EXPIRED,
            journal,
            kind=Kind.TASK_EXPIRED,
            data={"reason": TIMED_OUT, "lease_id": str(lease.lease_id), "attempt": lease.attempt},
            end=Lease.End.EXPIRED,
            lease=lease,
            error_message=TIMED_OUT,
        )
    return len(found)


def expire_if_due(caller: Caller, task_id: UUID) -> None:
    """Resolve this one task if its time is up, before a party to it is shown its state."""
    now = timezone.now()
    queued = Task.objects.overdue(now).filter(uuid=task_id)
    leases = Lease.objects.timed_out(now).filter(task__uuid=task_id)
    if caller.party is not None:
        queued, leases = queued.visible_to(caller.party), leases.concerning(caller.party)
    if queued.exists() or leases.exists():
        with audit.decision(caller) as journal:
            expire_due(queued, leases, journal)


def expire_if_timed_out(caller: Caller, task_id: UUID) -> None:
    """Resolve this one task of the caller's if its lease outlasted ``work_timeout``, before what comes too late for it."""
    due = Lease.objects.timed_out(timezone.now()).filter(task__uuid=task_id)
    if caller.party is not None:
        due = due.concerning(caller.party)
    if due.exists():
        with audit.decision(caller) as journal:
            expire_due(Task.objects.none(), due, journal)


def sweep(caller: Caller, *, batch: int = 100) -> int:
    """Expire everything that is due, a bounded transaction at a time; return how many tasks ended."""
    total = 0
    while True:
        with audit.decision(caller) as journal:
            ended = expire_due(Task.objects.all(), Lease.objects.all(), journal, limit=batch)
        total += ended
        if ended < batch:
            return total
