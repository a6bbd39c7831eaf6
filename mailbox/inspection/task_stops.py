"""Tasks that stop: interrupted or resolved. All requests of a process that wait for such tasks share one look."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from mailbox.database import instances, listed, prepared
from mailbox.database.bell import topics
from mailbox.database.bell.waiters import AwaitedLook, SharedLook
from mailbox.models import Result, Task

_CHANGED = ("state", "awaits", "outcome", "attempt", "turn", "journal_seq", "status_at", "is_direct")
_RESULT = ("id", "status", "content", "error_message", "has_more")
_STOPPED = f"""
SELECT task.uuid, {", ".join(f"task.{name}" for name in _CHANGED)}, {", ".join(f"result.{name}" for name in _RESULT)}
FROM mailbox_task task LEFT JOIN mailbox_result result ON result.task_id = task.id
WHERE task.uuid IN ({{ids}}) AND task.state IN ('interrupted', 'resolved')"""  # noqa: S608 (columns of our own)


@dataclass(frozen=True, slots=True)
class StoppedTask:
    """The columns of a task that its life changes, and the columns of its result, () without one."""

    changed: Sequence[Any]
    result: Sequence[Any]

    def of(self, task: Task) -> Task:
        """Bring the task up to date, with its result; return it."""
        task.__dict__.update(zip(_CHANGED, self.changed, strict=True))
        if self.result:
            task.result = instances.of_row(Result, _RESULT, self.result, task=task)
        return task


def awaiting(task: Task, wake: Callable[[], None]) -> AbstractContextManager[AwaitedLook[UUID, StoppedTask]]:
    """Watch for the stop of a task during the block. ``wake`` is called once `AwaitedLook.read` returns it."""
    return _look.awaiting(task.uuid, topics.task(task.uuid), wake)


def _stopped(ids: Sequence[UUID]) -> Mapping[UUID, StoppedTask]:
    """Return the stops of those tasks that have stopped. One statement."""
    sql, values = _STOPPED.format(ids=listed.UUIDS[connection.vendor]), {"ids": listed.given(ids)}
    return {UUID(str(row[0])): _stop(row) for row in _rows(sql, values)}


def _rows(sql: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    if connection.vendor == "postgresql":
        return prepared.rows(sql, values)
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _stop(row: Sequence[Any]) -> StoppedTask:
    _, *changed, status_at, is_direct = row[: len(_CHANGED) + 1]
    *result, has_more = row[len(_CHANGED) + 1 :]
    at = None if status_at is None else listed.moment(status_at)
    return StoppedTask((*changed, at, bool(is_direct)), () if result[0] is None else (*result, bool(has_more)))


_look = SharedLook(_stopped)
