"""Rows of the journal: of a task, of a request, of a pass of the retry gate, of people."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from mailbox.access.callers import Caller
from mailbox.database.paging import Page, in_turn, newest
from mailbox.models import AuditEvent, Task


def newest_about(task_id: UUID, *, most: int) -> Page[AuditEvent]:
    """Return the first page of the rows of the task, newest first, numbered or not, at most ``most``."""
    return newest(AuditEvent.objects.filter(task_id=task_id), limit=most, cursor=None, name="about")


def copied_from(task_id: UUID) -> str | None:
    """Return the id of the task of which this one is a copy, as the row of its send names it; None for no copy."""
    sent = AuditEvent.objects.of_task(task_id).first()
    return sent.fields.get("copy_of") if sent else None


def all_about(task_id: UUID) -> Iterator[AuditEvent]:
    """Yield every row of the task, oldest first, numbered or not. They are read a few at a time."""
    for event, _ in in_turn(AuditEvent.objects.filter(task_id=task_id), ("pk",)):
        yield event


def of_request(caller: Caller, task: Task) -> AuditEvent | None:
    """Return the first numbered row of the task that the caller's request wrote; None if it wrote none."""
    return AuditEvent.objects.of_task(task.uuid).of_request(caller.name, caller.request_id).first()


def newest_by_people(*, most: int) -> Sequence[AuditEvent]:
    """Return the ``most`` newest decisions of people on the dashboard, without the single repairs of a plan."""
    return list(AuditEvent.objects.by_people().newest_first()[:most])


def requeues_of(scan: AuditEvent, *, most: int) -> Sequence[AuditEvent]:
    """Return the first ``most`` repairs of a pass of the retry gate, in order."""
    return list(AuditEvent.objects.requeues_of(scan)[:most])
