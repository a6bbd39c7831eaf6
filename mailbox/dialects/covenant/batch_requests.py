"""The bodies of batches. The batch is checked as a whole, and each item by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar
from uuid import UUID

from pydantic import Field, RootModel, SkipValidation

from mailbox.dialects.base.fields import Exact, Integer
from mailbox.dialects.base.view import parse
from mailbox.dialects.base.wire import ShownAs
from mailbox.dialects.covenant.requests import NextTask, ResultBody, TaskBody
from mailbox.life.batches import MOST_ACKED, MOST_DRAINED, MOST_LEASED, MOST_POSTED, MOST_SENT
from mailbox.models import Result, Task
from mailbox.words.envelopes import ResultEnvelope, TaskEnvelope
from mailbox.words.errors import InvalidJsonError, InvalidRequestError, MailboxError
from mailbox.words.json_text import Unstorable
from mailbox.words.times import LONGEST_WAIT_MS

Read = TypeVar("Read", TaskEnvelope, ResultEnvelope, UUID)
Row = TypeVar("Row", Task, Result)
Unreadable = InvalidRequestError | InvalidJsonError


class TasksBody(Exact):
    """Tasks to send, in order. Each is decided by itself: a refused task keeps no other task from being sent."""

    tasks: list[Annotated[Any, ShownAs(TaskBody.__name__)]] = Field(min_length=1, max_length=MOST_SENT)


class ResultsBody(Exact):
    """Results to post, in order. Each is decided by itself: a refused result keeps no other from being posted."""

    results: list[Annotated[Any, ShownAs(ResultBody.__name__)]] = Field(min_length=1, max_length=MOST_POSTED)


class LeaseBody(NextTask):
    """How to lease up to ``max`` tasks. The ``results`` are posted first, before the wait for tasks.

    The answer comes with the first task. It has fewer than ``max`` tasks if no more are queued, or if one more would
    exceed 4 MiB. A repeat with the same ``attempt_id`` and the same ``results`` gets the same answer.
    """

    max: Integer = Field(ge=1, le=MOST_LEASED)
    wait_ms: Integer = Field(0, ge=0, le=LONGEST_WAIT_MS)
    results: list[Annotated[Any, ShownAs(ResultBody.__name__)]] = Field(default=[], max_length=MOST_POSTED)


class DrainBody(NextTask):
    """How to drain up to ``max`` results. The results of the tasks in ``ack`` are acknowledged first.

    An item of ``ack`` that is no UUID is refused alone, and keeps no other item from being acknowledged.

    The answer comes with the first result. It has fewer than ``max`` results if no more are pending, or if one more
    would exceed 4 MiB.
    """

    max: Integer = Field(ge=1, le=MOST_DRAINED)
    wait_ms: Integer = Field(0, ge=0, le=LONGEST_WAIT_MS)
    ack: list[SkipValidation[UUID]] = Field(default=[], max_length=MOST_ACKED)


def tasks(items: Sequence[object]) -> list[TaskEnvelope | Unreadable]:
    """Return the envelope of each item that is a `TaskBody`, and the error of each other item."""
    return [_read(item, lambda value: parse(TaskBody, value).envelope()) for item in items]


def results(items: Sequence[object]) -> list[ResultEnvelope | Unreadable]:
    """Return the envelope of each item that is a `ResultBody`, and the error of each other item."""
    return [_read(item, lambda value: parse(ResultBody, value).envelope()) for item in items]


def acks(items: Sequence[object]) -> list[UUID | Unreadable]:
    """Return each item that is a UUID, and the error of each other item."""
    return [_read(item, lambda value: parse(RootModel[UUID], value).root) for item in items]


def valid(items: Sequence[Read | Unreadable]) -> list[Read]:
    return [item for item in items if not isinstance(item, MailboxError)]


def outcomes(items: Sequence[Read | Unreadable], decided: Sequence[Row | MailboxError]) -> list[Row | MailboxError]:
    """Return the outcome of each item. ``decided`` are the outcomes of the valid items, in their order."""
    rest = iter(decided)
    return [item if isinstance(item, MailboxError) else next(rest) for item in items]


def _read(item: object, read: Callable[[object], Read]) -> Read | Unreadable:
    if isinstance(item, Unstorable):
        return InvalidJsonError(item.problem)
    try:
        return read(item)
    except InvalidRequestError as error:
        return error
