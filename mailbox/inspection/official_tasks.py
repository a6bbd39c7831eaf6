"""The tasks of the official A2A protocol: one by its id, and the list. They are seen by their sender alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mailbox.database.paging import BUDGET, after, in_turn, page
from mailbox.models import Agent, Task
from mailbox.models.task_queries import TaskQuerySet
from mailbox.words.a2a.states import TaskState, columns_of
from mailbox.words.errors import UnknownTaskError

MOST_COUNTED = 10_000
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_NONE = UUID(int=0)
_LIST = "official tasks"


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
    is_uuid = _UUID.fullmatch(task_id) is not None
    found = _of(sender, recipient).filter(uuid=UUID(task_id) if is_uuid else _NONE)
    task = found.with_parties().select_related("result").first()
    if task is None or not is_uuid:
        raise UnknownTaskError(f'no task "{task_id[:100]}" is known to you', task_id=task_id[:100])
    return task


def now(task: Task) -> Task:
    """Return the task as it is now, with its result. Raises `UnknownTaskError` if it was deleted."""
    found = Task.objects.filter(pk=task.pk).select_related("result").first()
    if found is None:
        raise UnknownTaskError.of(task.uuid)
    return found


def listing(
    sender: Agent, recipient: Agent, wanted: TaskFilter = TaskFilter(), *, limit: int, cursor: str | None = None
) -> OfficialTaskPage:
    """Return a page of the tasks of this sender for this recipient, the newest status first.

    Tasks that were answered directly are left out. A page ends at the budget of bytes of all that its tasks have, with
    their messages and artifacts. Raises `InvalidRequestError` for a cursor of another list.
    """
    name = f"{_LIST} {sender.pk} {recipient.pk}"
    position = after(cursor, name, (datetime, int))
    found = _narrowed(_of(sender, recipient).filter(is_direct=False), wanted)
    rows = in_turn(
        found.select_related("result"),
        ("status_at", "pk"),
        position,
        newest_first=True,
        most=limit + 1,
        at_once=limit + 1,
    )
    read = page(rows, limit, name, budget=BUDGET, weigh=lambda task: task.size)
    total = found.order_by()[:MOST_COUNTED].count()
    return OfficialTaskPage(tasks=read.items, next_cursor=read.next_cursor, total=total)


def _of(sender: Agent, recipient: Agent) -> TaskQuerySet:
    return Task.objects.filter(sender=sender, recipient=recipient).of_official_dialect()


def _narrowed(found: TaskQuerySet, wanted: TaskFilter) -> TaskQuerySet:
    if wanted.context_id is not None:
        found = found.filter(context_id=wanted.context_id)
    if wanted.state is not None:
        found = found.filter(**columns_of(wanted.state))
    if wanted.since is not None:
        found = found.filter(status_at__gte=wanted.since)
    return found
