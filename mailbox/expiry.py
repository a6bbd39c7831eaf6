"""Tasks that ran out of time before anyone took them."""

from __future__ import annotations

from mailbox.audit import Journal
from mailbox.kinds import Kind
from mailbox.models import Lease, Task
from mailbox.models.task import TaskQuerySet

DEADLINE_EXCEEDED = "deadline exceeded"


def expire_queued(task: Task, journal: Journal) -> None:
    """Resolve a queued task past its deadline as ``expired``. The caller holds the task row's lock."""
    task.resolve(Task.Outcome.EXPIRED, journal.now, lease=None, end=Lease.End.EXPIRED, error_message=DEADLINE_EXCEEDED)
    journal.life(task, Kind.TASK_EXPIRED, reason=DEADLINE_EXCEEDED, deadline_ms=task.deadline_ms)


def expire_overdue(tasks: TaskQuerySet, journal: Journal, *, limit: int = 100) -> int:
    """Expire up to ``limit`` of these tasks that are queued past their deadline; return how many.

    Locks each row, skipping rows that another decision holds.
    """
    overdue = tasks.overdue(journal.now).order_by("pk")
    found = overdue.select_for_update(skip_locked=True, no_key=True, of=("self",))[:limit]
    for task in found:
        expire_queued(task, journal)
    return len(found)
