"""The tasks of the official A2A protocol, which only their sender sees: by id, as a list, and when they stop.

A task stops when it is interrupted or resolved. All requests of a process that wait for such tasks share one look.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from mailbox.database import listed, managers, prepared
from mailbox.database.bell import topics
from mailbox.database.bell.waiters import AwaitedLook, SharedLook
from mailbox.database.paging import BUDGET, after, in_turn, page
from mailbox.models import Agent, Result, Task
from mailbox.models.task import TaskQuerySet
from mailbox.words.a2a.states import TaskState, columns_of
from mailbox.words.errors import UnknownTaskError

MOST_COUNTED = 10_000
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_LIST = "official tasks"
_CHANGED = ("state", "awaits", "outcome", "attempt", "turn", "journal_seq", "status_at", "is_direct")
_RESULT = ("id", "status", "content", "error_message", "has_more")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """The filters of the list. None is no filter. ``since`` includes its own moment."""

    context_id: str | None = None
    state: TaskState | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialTaskPage:
    """A page of tasks with their results. ``total`` counts the tasks of all pages, at most `MOST_COUNTED`."""

    tasks: Sequence[Task]
    next_cursor: str | None
    total: int


def find(sender: Agent, recipient: Agent, task_id: str) -> Task:
    """Return a task of this sender for this recipient, with its parties and its result.

    Raises `UnknownTaskError` for any other task, and for an id of no task.
    """
    if not _UUID.fullmatch(task_id):
        raise UnknownTaskError(f"no task {task_id[:100]} is known to you", task_id=task_id[:100])
    return _of(sender, recipient).with_parties().select_related("result").by_id(UUID(task_id))


def now(task: Task) -> Task:
    """Return the task as it is now, with its result. Raises `UnknownTaskError` if it was deleted."""
    return Task.objects.select_related("result").by_id(task.uuid)


def listing(
    sender: Agent, recipient: Agent, wanted: TaskFilter = TaskFilter(), *, limit: int, cursor: str | None = None
) -> OfficialTaskPage:
    """Return a page of the tasks of this sender for this recipient, the newest status first.

    Tasks that were answered directly are left out. A page ends at the budget of bytes of all that its tasks have, with
    their messages and artifacts. Raises `InvalidRequestError` for a cursor of another list.
    """
    name = f"{_LIST} {sender.pk} {recipient.pk}"
    position = after(cursor, name, (datetime, int))
    matches = _narrowed(_of(sender, recipient).filter(is_direct=False), wanted)
    rows = in_turn(
        matches.select_related("result"),
        ("status_at", "pk"),
        position,
        newest_first=True,
        most=limit + 1,
        at_once=limit + 1,
    )
    read = page(rows, limit, name, budget=BUDGET, weigh=lambda task: task.size)
    total = matches.order_by()[:MOST_COUNTED].count()
    return OfficialTaskPage(tasks=read.items, next_cursor=read.next_cursor, total=total)


def _of(sender: Agent, recipient: Agent) -> TaskQuerySet:
    return Task.objects.filter(sender=sender, recipient=recipient).of_official_dialect()


def _narrowed(rows: TaskQuerySet, wanted: TaskFilter) -> TaskQuerySet:
    if wanted.context_id is not None:
        rows = rows.filter(context_id=wanted.context_id)
    if wanted.state is not None:
        rows = rows.filter(**columns_of(wanted.state))
    if wanted.since is not None:
        rows = rows.filter(status_at__gte=wanted.since)
    return rows


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
            task.result = managers.instance_of(Result, _RESULT, self.result, task=task)
        return task


def awaiting(task: Task, wake: Callable[[], None]) -> AbstractContextManager[AwaitedLook[UUID, StoppedTask]]:
    """Watch for the stop of a task during the block. ``wake`` is called once `AwaitedLook.read` returns it."""
    return _look.awaiting(task.uuid, topics.task(task.uuid), wake)


def _stopped(ids: Sequence[UUID]) -> Mapping[UUID, StoppedTask]:
    """Return the stops of those tasks that have stopped. One statement."""
    sql, values = _STOPPED.format(ids=listed.UUIDS[connection.vendor]), {"ids": listed.array(ids)}
    return {UUID(str(row[0])): _stop(row) for row in prepared.rows(sql, values)}


def _stop(row: Sequence[Any]) -> StoppedTask:
    _, *changed, status_at, is_direct = row[: len(_CHANGED) + 1]
    *result, has_more = row[len(_CHANGED) + 1 :]
    at = None if status_at is None else listed.moment(status_at)
    return StoppedTask((*changed, at, bool(is_direct)), () if result[0] is None else (*result, bool(has_more)))


_look = SharedLook(_stopped)
