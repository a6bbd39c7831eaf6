"""The events of tasks in words of the official A2A protocol: their journal rows, read for the fold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from mailbox.models import Artifact, AuditEvent, Message, Result, Task
from mailbox.words import json_text
from mailbox.words.a2a.fold import (
    ArtifactRow,
    EventPosition,
    Fold,
    LifeEnd,
    LifeMessage,
    LifeRow,
    TaskSnapshot,
    derived_id,
    opening_of,
)
from mailbox.words.a2a.states import ENDING, Change, change_of
from mailbox.words.conversation import AGENT
from mailbox.words.kinds import Kind

FIRST = 1  # the number of the journal row of a send
FORCED = "force_error"  # the action of the repair that ends a task


def view_of(task: Task) -> TaskSnapshot:
    """Return a task as its reader sees it now. The task needs its result, as `Task.result_or_none` reads it."""
    return views([task])[0]


def view_at(task: Task, position: EventPosition) -> TaskSnapshot:
    """Return a task as its reader saw it at ``position``, the end of a row. The row must be there."""
    fold = fold_before(task)
    if position.seq == FIRST:
        fold.add(LifeRow(seq=FIRST, kind=Kind.TASK_SENT, at=task.sent_at, data={}))
        return fold.view()
    for row in rows_after(task, 0):
        if row.seq <= position.seq:
            fold.add(row)
    return fold.view()


def views(tasks: Sequence[Task]) -> list[TaskSnapshot]:
    """Return tasks as their reader sees them now, in the given order.

    A task without updates and messages is shown from its row and its result. The others need three queries together.
    """
    others = folds([task for task in tasks if not _is_plain(task)])
    return [(others.get(task.pk) or _plain(task)).view() for task in tasks]


def folds(tasks: Sequence[Task]) -> Mapping[int, Fold]:
    """Return the fold over all rows of each task, by the task's primary key. Three queries, none without tasks."""
    by_task = {task.pk: fold_before(task) for task in tasks}
    for task, rows in _rows_by_task(tasks):
        for row in rows:
            by_task[task.pk].add(row)
    return by_task


def fold_before(task: Task) -> Fold:
    """Return the fold of a task to which no row was added yet."""
    return Fold(task.uuid, task.context_id, opening(task))


def opening(task: Task) -> LifeMessage:
    """Return the message that made a task, which has no row of its own."""
    opened = opening_of(task.intent_text, task.official_metadata)
    return LifeMessage(
        seq=FIRST,
        message_id=opened.message_id or derived_id(task.uuid, FIRST),
        blocks=opened.blocks,
        is_agents=opened.is_agents,
        extra=opened.extra,
    )


def rows_after(task: Task, seq: int) -> list[LifeRow]:
    """Return the rows of a task with greater numbers than ``seq``, in order. Three queries at most."""
    return next((rows for _, rows in _rows_by_task([task], after=seq)), [])


def _rows_by_task(tasks: Sequence[Task], *, after: int = 0) -> Iterable[tuple[Task, list[LifeRow]]]:
    """Yield the rows of each task, in order. A row is read before what has its number, so nothing is missing."""
    by_uuid = {task.uuid: task for task in tasks}
    journal: dict[UUID, list[AuditEvent]] = defaultdict(list)
    for event in AuditEvent.objects.of_tasks(by_uuid, after=after) if by_uuid else ():
        journal[event.task_id or UUID(int=0)].append(event)
    wanted = _Beside.read([by_uuid[uuid] for uuid in journal], [e for rows in journal.values() for e in rows], after)
    for uuid, events in journal.items():
        task = by_uuid[uuid]
        yield task, [wanted.row(task, event) for event in events]


@dataclass(slots=True)
class _Beside:
    """The messages, artifacts and results under the numbers of journal rows, by the task's primary key."""

    messages: Mapping[tuple[int, int], Message]
    produced: Mapping[tuple[int, int], Artifact]
    results: Mapping[int, Result]

    @classmethod
    def read(cls, tasks: Collection[Task], events: Sequence[AuditEvent], after: int) -> _Beside:
        changes = {change_of(Kind(event.kind)) for event in events}
        keys = [task.pk for task in tasks]
        messages: Iterable[Message] = ()
        produced: Iterable[Artifact] = ()
        results: Iterable[Result] = ()
        if changes & {Change.UPDATED, Change.INTERRUPTED, Change.HEARD, Change.ENDED}:
            messages = Message.objects.filter(task__in=keys, seq__gt=after)
        if Change.UPDATED in changes:
            produced = Artifact.objects.filter(task__in=keys, seq__gt=after)
        if changes & {Change.ENDED, Change.REPAIRED}:
            results = _results(tasks)
        return cls(
            messages={(row.task_id, row.seq): row for row in messages},
            produced={(row.task_id, row.seq): row for row in produced},
            results={row.task_id: row for row in results},
        )

    def row(self, task: Task, event: AuditEvent) -> LifeRow:
        kind, seq, data = Kind(event.kind), event.seq or 0, json_text.loads(event.data)
        message, artifact = self.messages.get((task.pk, seq)), self.produced.get((task.pk, seq))
        ends = kind in ENDING and (kind != Kind.REPAIR_APPLIED or data.get("action") == FORCED)
        result = self.results.get(task.pk) if ends else None
        return LifeRow(
            seq=seq,
            kind=kind,
            at=event.at,
            data=data,
            message=None if message is None else _message(task, message),
            produced=None if artifact is None else _produced(artifact),
            ending=None if result is None else _ending(result),
        )


def _results(tasks: Collection[Task]) -> Iterable[Result]:
    """Return the results of tasks with their tasks, as they are now: the tasks may have been read before their end."""
    return Result.objects.filter(task__in=[task.pk for task in tasks]).select_related("task")


def _message(task: Task, message: Message) -> LifeMessage:
    extra = message.details
    return LifeMessage(
        seq=message.seq,
        message_id=message.message_id or derived_id(task.uuid, message.seq),
        blocks=message.words,
        is_agents=AGENT in (message.role, extra.get("role")),
        progress=message.progress,
        extra=extra,
    )


def _produced(artifact: Artifact) -> ArtifactRow:
    return ArtifactRow(
        artifact_id=artifact.artifact_id,
        blocks=artifact.blocks,
        append=artifact.append,
        last_chunk=artifact.last_chunk,
        extra=artifact.details,
    )


def _ending(result: Result) -> LifeEnd:
    return LifeEnd(
        outcome=result.task.outcome or "",
        blocks=result.blocks,
        error_message=result.error_message,
        is_direct=result.task.is_direct,
    )


def _is_plain(task: Task) -> bool:
    """Whether the task has had no more than a send, a lease and an end, so that its row and its result tell all."""
    result = task.result_or_none
    is_resolved = result is not None
    return (
        task.status_at is not None
        and task.turn == 1
        and task.attempt <= 1
        and task.state != Task.State.INTERRUPTED
        and is_resolved == (task.outcome is not None)
        and task.journal_seq == FIRST + task.attempt + is_resolved
        and not (result is not None and result.has_more)
    )


def _plain(task: Task) -> Fold:
    """Return the fold over the rows of a plain task, made from its own row and its result."""
    fold = fold_before(task)
    at = task.status_at or task.sent_at
    fold.add(LifeRow(seq=FIRST, kind=Kind.TASK_SENT, at=task.sent_at, data={}))
    if task.attempt:
        fold.add(LifeRow(seq=FIRST + 1, kind=Kind.TASK_LEASED, at=at, data={"attempt": task.attempt}))
    if (result := task.result_or_none) is not None:
        result.task = task
        fold.add(LifeRow(seq=task.journal_seq, kind=Kind.RESULT_POSTED, at=at, data={}, ending=_ending(result)))
    return fold
