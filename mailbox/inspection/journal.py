"""Rows of the journal by what they belong to: a task, a request, a pass of the retry gate, the people."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from mailbox.gate.callers import Caller
from mailbox.models import AuditEvent, Task


def newest_about(task_id: UUID, *, most: int) -> Sequence[AuditEvent]:
    """Return the ``most`` newest rows that name the task, the newest first, those beside its life too."""
    return list(AuditEvent.objects.filter(task_id=task_id).order_by("-pk")[:most])


def all_about(task_id: UUID) -> Sequence[AuditEvent]:
    """Return every row that names the task, the oldest first, those beside its life too."""
    return list(AuditEvent.objects.filter(task_id=task_id).order_by("pk"))


def of_request(caller: Caller, task: Task) -> AuditEvent | None:
    """Return the first row that the caller's request wrote into the task's life; None where it wrote none."""
    return AuditEvent.objects.of_task(task.uuid).of_request(caller.name, caller.request_id).first()


def newest_by_people(*, most: int) -> Sequence[AuditEvent]:
    """Return the ``most`` newest decisions of people on the dashboard; of a repair in bulk not each lease."""
    return list(AuditEvent.objects.by_people().newest_first()[:most])


def requeues_of(scan: AuditEvent, *, most: int) -> Sequence[AuditEvent]:
    """Return the first ``most`` repairs that a pass of the retry gate made, in order."""
    return list(AuditEvent.objects.requeues_of(scan)[:most])
