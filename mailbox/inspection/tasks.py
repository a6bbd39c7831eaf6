"""One task: its state, its result and its journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast
from uuid import UUID

from django.db.models import Exists, OuterRef, Subquery

from mailbox.access.callers import Caller
from mailbox.access.capabilities import visible_tasks
from mailbox.database.paging import Page, in_turn, keyset
from mailbox.journal import compacted_tasks
from mailbox.models import Artifact, AuditEvent, Lease, Message, ReplayEntry, Result, Task
from mailbox.models.task import TaskQuerySet

if TYPE_CHECKING:

    class WholeTask(Task):
        """A task as `whole_task` returns it."""

        has_messages: bool
        has_artifacts: bool
        cached_id: int | None
        cached_from: UUID | None
        cached_hits: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """A task as it was read, with the lease that it had then: None unless its state is ``in_flight``."""

    task: Task
    lease: Lease | None = None

    @classmethod
    def of(cls, task: Task) -> Self:
        """Return the entry of a task with the lease of its attempt, even if that lease has ended since the read."""
        if task.state != Task.State.IN_FLIGHT:
            return cls(task=task)
        return cls(task=task, lease=task.leases.filter(attempt=task.attempt).select_related("holder").first())


def task(caller: Caller, task_id: UUID) -> QueueEntry:
    """Return one task with its lease.

    Raises `UnknownTaskError`, the same for an absent task and for a task that the caller may not see.
    """
    return QueueEntry.of(visible_tasks(caller).with_parties().select_related("waits_on").by_id(task_id))


def whole_task(task_id: UUID) -> WholeTask:
    """Return a task with its parties, its result, the task that it waits on, and the cached result of its key.

    The cached result is ``cached_id``, ``cached_from`` (a task's uuid) and ``cached_hits``, None without one.
    ``has_messages`` and ``has_artifacts`` are whether the task has such rows. For people, who see all tasks. Raises
    `UnknownTaskError`.
    """
    entry = ReplayEntry.objects.filter(cache_key=OuterRef("cache_key"))
    cached = {"cached_id": "pk", "cached_from": "source_task_id", "cached_hits": "hits"}
    rows = Task.objects.with_parties().select_related("waits_on", "result")
    its = OuterRef("pk")
    rows = rows.annotate(
        has_messages=Exists(Message.objects.filter(task=its)), has_artifacts=Exists(Artifact.objects.filter(task=its))
    )
    rows = rows.annotate(**{name: Subquery(entry.values(field)) for name, field in cached.items()})
    return cast("WholeTask", rows.by_id(task_id))


def alike(task: Task) -> TaskQuerySet:
    """Return the other tasks with the same idempotency key, newest first, of any sender and recipient."""
    if not task.idempotency_key:
        return Task.objects.none()
    same = Task.objects.filter(idempotency_key=task.idempotency_key).exclude(pk=task.pk)
    return same.with_parties().order_by("-pk")


def results_of_alike(task: Task, *, most: int, original: str | None) -> list[Result]:
    """Return the results of the ``most`` newest tasks with the same key, newest first, then that of ``original``.

    ``original`` is the id of a task; None adds no result. The contents and errors of the results are left out.
    """
    same = list(alike(task).values_list("pk", flat=True)[:most])
    results = Result.objects.with_task_id().defer("content", "error_message", "task__intent_text", "task__metadata")
    answers = list(results.filter(task__in=same).order_by("-pk")) if same else []
    if original:
        answers += results.filter(task__uuid=original).exclude(task__in=same)
    return answers


def children(task: Task) -> TaskQuerySet:
    """Return the tasks whose parent is this task, newest first, with their parties, as a queryset."""
    return Task.objects.with_parties().filter(parent=task.uuid).order_by("-pk")


def open_children(task: Task) -> TaskQuerySet:
    """Return the unresolved tasks whose parent is this task, oldest first, with their parties, as a queryset."""
    return Task.objects.unresolved().filter(parent=task.uuid).with_parties().order_by("pk")


def earlier_from(caller: Caller, task_id: UUID) -> Task | None:
    """Return the task of this id that the caller sent, with its parties; None without one.

    A compacted task is returned as an object without a row and without its content.
    """
    if kept := Task.objects.with_parties().filter(uuid=task_id, sender=caller.agent).first():
        return kept
    gone = compacted_tasks.find(task_id)
    return gone.as_task() if gone and gone.sender == caller.agent else None


def newest_lease(task: Task) -> Lease | None:
    """Return the lease, live or ended, that was the newest when ``task`` was read; None if it had no lease yet."""
    return task.leases.filter(attempt=task.attempt).first() if task.attempt else None


def newest_messages(
    task: Task, *, most: int, characters: int, before: int | None = None
) -> tuple[Sequence[Message], bool]:
    """Return the messages that were the newest when ``task`` was read, oldest first, and whether these are all of them.

    They are at most ``most``. Older messages are left out once the JSON exceeds ``characters``. With ``before``, only
    messages with a smaller number count.
    """
    rows = Message.objects.all() if before is None else Message.objects.filter(seq__lt=before)
    return rows.newest_of(task.pk, seq=task.journal_seq, most=most, characters=characters)


def count_sender_messages(task: Task, seq: int) -> int:
    """Return how many messages of the task's sender have this number or a greater one."""
    return Message.objects.filter(task=task, role=Message.Role.USER, seq__gte=seq, seq__lte=task.journal_seq).count()


def message(task: Task, seq: int) -> Message | None:
    """Return the message with this number; None without one."""
    return Message.objects.filter(task=task, seq=seq).first()


def every_message(task: Task) -> Iterator[Message]:
    """Yield all messages of a task, in order, a few of them read by one query."""
    for one, _ in in_turn(Message.objects.filter(task=task, seq__lte=task.journal_seq), ("seq",)):
        yield one


def result(caller: Caller, task_id: UUID) -> Result | None:
    """Return the task's result, None without one; raise `UnknownTaskError`. The result is not delivered."""
    row = task(caller, task_id).task
    return Result.objects.select_related("task").filter(task=row).first()


def timeline(caller: Caller, task_id: UUID, *, limit: int = 100, cursor: str | None = None) -> Page[AuditEvent]:
    """Return a page of the task's numbered journal rows, in order; raise `UnknownTaskError`."""
    visible_tasks(caller).only("pk").by_id(task_id)
    events = AuditEvent.objects.of_task(task_id)
    return keyset(events, "seq", int, is_unique=True, limit=limit, cursor=cursor, name="timeline")
