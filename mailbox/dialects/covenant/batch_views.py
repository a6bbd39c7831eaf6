"""Batches over HTTP: many tasks or results in one request.

The batch is checked as a whole, and each item by itself, with its own outcome.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeVar
from uuid import UUID

from pydantic import Field, RootModel, SkipValidation
from typing_extensions import TypedDict

from mailbox.access.limits import rates, waits
from mailbox.dialects.base.bodies import Exact, Integer
from mailbox.dialects.base.openapi import operation
from mailbox.dialects.base.view import parse
from mailbox.dialects.base.wire import ShownAs
from mailbox.dialects.covenant import conversation_wire, wire
from mailbox.dialects.covenant.conversation_wire import WireLeased
from mailbox.dialects.covenant.requests import NextTask, ResultBody, TaskBody
from mailbox.dialects.covenant.views import MailboxView, ReceivingView, receive, twice_named
from mailbox.dialects.covenant.wire import WireResult
from mailbox.inspection import answers as whole
from mailbox.inspection import conversation
from mailbox.inspection.answers import Beside
from mailbox.life import batches
from mailbox.life.batches import MOST_ACKED, MOST_DRAINED, MOST_LEASED, MOST_POSTED, MOST_SENT, Drained, Leased
from mailbox.models import Message, Result, Task
from mailbox.words import errors
from mailbox.words.envelopes import ResultEnvelope, TaskEnvelope
from mailbox.words.errors import InvalidJsonError, InvalidRequestError, MailboxError
from mailbox.words.json_text import Unstorable
from mailbox.words.times import LONGEST_WAIT_MS

Read = TypeVar("Read", TaskEnvelope, ResultEnvelope, UUID)
Row = TypeVar("Row", Task, Result)
Unreadable = InvalidRequestError | InvalidJsonError


Receive = TypeVar("Receive", bound=NextTask)


class RefusedItem(TypedDict):
    """An item of the batch that was refused. Nothing of it was done. ``index`` is its place in the batch, from 0.

    ``task_id`` is the id that the item names, null without a valid one. ``code`` and ``message`` are those of the
    single request. ``fields`` maps the path of each invalid field to its problem, if ``code`` is ``invalid_request``.
    """

    index: int
    task_id: UUID | None
    code: str
    message: str
    fields: NotRequired[dict[str, str]]


def _refused(
    path: str, id_field: str, items: Sequence[Any], outcomes: Sequence[Task | Result | MailboxError]
) -> list[RefusedItem]:
    return [
        _refusal(index, f"{path}.{index}", _id_of(items[index], id_field), outcome)
        for index, outcome in enumerate(outcomes)
        if isinstance(outcome, MailboxError)
    ]


def _refusal(index: int, path: str, task_id: UUID | None, error: MailboxError) -> RefusedItem:
    if isinstance(error, InvalidRequestError):
        # The whole item is at fault where the single request names its body.
        fields = {path if name == "body" else f"{path}.{name}": problem for name, problem in error.fields.items()}
        message = errors.text_for_program(InvalidRequestError(fields))
        return {"index": index, "task_id": task_id, "code": error.code, "message": message, "fields": fields}
    return {"index": index, "task_id": task_id, "code": error.code, "message": errors.text_for_program(error)}


class TasksQueued(TypedDict):
    """``posted`` are the ids of the stored tasks, in the order of the batch without the refused items."""

    kind: Literal["a2a_tasks_queued"]
    posted: list[UUID]
    refused: list[RefusedItem]


def tasks_queued(items: Sequence[Any], outcomes: Sequence[Task | MailboxError]) -> TasksQueued:
    """Render the answer to a batch of sends. ``items`` are the items of the request, as they came."""
    posted = [one.uuid for one in outcomes if isinstance(one, Task)]
    return {"kind": "a2a_tasks_queued", "posted": posted, "refused": _refused("tasks", "id", items, outcomes)}


class ResultsPosted(TypedDict):
    """``posted`` are the tasks that have the posted result, in the order of the batch without the refused items."""

    kind: Literal["a2a_results_posted"]
    posted: list[UUID]
    refused: list[RefusedItem]


def results_posted(items: Sequence[Any], outcomes: Sequence[Result | MailboxError]) -> ResultsPosted:
    """Render the answer to a batch of results. ``items`` are the items of the request, as they came."""
    refused = _refused("results", "task_id", items, outcomes)
    return {"kind": "a2a_results_posted", "posted": _posted(outcomes), "refused": refused}


class TasksLeased(TypedDict):
    """The leased tasks, oldest first, and the outcomes of the results of the request.

    A ``message`` is left out, too, if the answer would exceed 4 MiB with it. Its task's messages can be read.

    ``attempt_spent`` is there only when the attempt id is spent: its leases have ended. Use a new id.
    """

    kind: Literal["a2a_tasks_leased"]
    leases: list[WireLeased]
    posted: list[UUID]
    refused: list[RefusedItem]
    attempt_spent: NotRequired[bool]


def tasks_leased(
    answered: Leased,
    newest: Mapping[int, Message],
    items: Sequence[Any],
    outcomes: Sequence[Result | MailboxError],
) -> TasksLeased:
    """Render the answer to a batch of leases, with the outcomes of its results ``items``.

    ``newest`` has the newest messages of the tasks' senders, by the key of their task.
    """
    rendered: TasksLeased = {
        "kind": "a2a_tasks_leased",
        "leases": [conversation_wire.leased(row, newest) for row in answered.leases],
        "posted": _posted(outcomes),
        "refused": _refused("results", "task_id", items, outcomes),
    }
    if answered.is_spent:
        rendered["attempt_spent"] = True
    return rendered


class ResultsDrained(TypedDict):
    """The drained results, oldest first. ``acked`` and ``unknown`` are the valid ids of ``ack``.

    No result of the unknown ids is known to the caller. ``refused`` are the items of ``ack`` that are no UUID.
    ``attempt_spent`` is there only when the attempt id is spent: its results are acknowledged. Use a new id.
    """

    kind: Literal["a2a_results_drained"]
    results: list[WireResult]
    acked: list[UUID]
    unknown: list[UUID]
    refused: list[RefusedItem]
    attempt_spent: NotRequired[bool]


def results_drained(
    answered: Drained, beside: Mapping[int, Beside], acks: Sequence[UUID | MailboxError]
) -> ResultsDrained:
    """Render the answer to a batch of drains. ``acks`` are the ids to acknowledge, with the errors of bad items."""
    rendered: ResultsDrained = {
        "kind": "a2a_results_drained",
        "results": [wire.result(row, beside) for row in answered.results],
        "acked": list(answered.acks.acked),
        "unknown": list(answered.acks.unknown),
        "refused": [
            _refusal(index, f"ack.{index}", None, ack)
            for index, ack in enumerate(acks)
            if isinstance(ack, MailboxError)
        ],
    }
    if answered.is_spent:
        rendered["attempt_spent"] = True
    return rendered


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


class TasksBatchView(MailboxView):
    items = "tasks"

    @operation("send_tasks", errors=(403,))
    def post(self, body: TasksBody) -> TasksQueued:
        items = body.tasks
        rates.take_for_items(self.caller, len(items))
        read = read_tasks(items)
        valid = valid_of(read)
        decided = batches.send_tasks(self.caller, valid).of_each if valid else ()
        return tasks_queued(items, outcomes_of(read, decided))


class ResultsBatchView(MailboxView):
    items = "results"

    @operation("post_results", errors=(403,))
    def post(self, body: ResultsBody) -> ResultsPosted:
        items = body.results
        rates.take_for_items(self.caller, len(items))
        read = read_results(items)
        valid = valid_of(read)
        decided = batches.post_results(self.caller, valid).of_each if valid else ()
        return results_posted(items, outcomes_of(read, decided))


class ReceivingBatchView(ReceivingView):
    http_method_names = ("post",)

    def received_in_body(self, shape: type[Receive]) -> Receive:
        """Return the request's body with the attempt id of its header. Raises as `received` does."""
        self.must_be_agent()
        how, attempt = self.body(shape), self.attempt_of_header()
        if attempt is None:
            return how
        if "attempt_id" in how.model_fields_set and how.attempt_id != attempt:
            raise twice_named("attempt_id")
        return how.model_copy(update={"attempt_id": attempt})


class LeaseBatchView(ReceivingBatchView):
    items = "results"

    @receive("lease_tasks", body=LeaseBody, errors=(403,))
    def post(self) -> TasksLeased:
        how = self.received_in_body(LeaseBody)
        read = read_results(how.results)
        answered = batches.next_tasks(
            self.caller,
            most=how.max,
            attempt_id=how.attempt_id,
            answers=valid_of(read),
            wait=waits.span(how.wait_ms),
        )
        rates.take_for_items(self.caller, len(how.results) + len(answered.leases))
        outcomes = outcomes_of(read, answered.results.of_each)
        newest = conversation.newest_of_senders(lease.task for lease in answered.leases)
        return tasks_leased(answered, newest, how.results, outcomes)


class DrainBatchView(ReceivingBatchView):
    items = "ack"

    @receive("drain_results", body=DrainBody, errors=(403,))
    def post(self) -> ResultsDrained:
        how = self.received_in_body(DrainBody)
        read = read_acks(how.ack)
        answered = batches.next_results(
            self.caller,
            most=how.max,
            attempt_id=how.attempt_id,
            ack=valid_of(read),
            wait=waits.span(how.wait_ms),
        )
        rates.take_for_items(self.caller, len(how.ack) + len(answered.results))
        return results_drained(answered, whole.beside(answered.results), read)


def read_tasks(items: Sequence[object]) -> list[TaskEnvelope | Unreadable]:
    """Return the envelope of each item that is a `TaskBody`, and the error of each other item."""
    return [_read(item, lambda value: parse(TaskBody, value).envelope()) for item in items]


def read_results(items: Sequence[object]) -> list[ResultEnvelope | Unreadable]:
    """Return the envelope of each item that is a `ResultBody`, and the error of each other item."""
    return [_read(item, lambda value: parse(ResultBody, value).envelope()) for item in items]


def read_acks(items: Sequence[object]) -> list[UUID | Unreadable]:
    """Return each item that is a UUID, and the error of each other item."""
    return [_read(item, lambda value: parse(RootModel[UUID], value).root) for item in items]


def valid_of(items: Sequence[Read | Unreadable]) -> list[Read]:
    return [item for item in items if not isinstance(item, MailboxError)]


def outcomes_of(items: Sequence[Read | Unreadable], decided: Sequence[Row | MailboxError]) -> list[Row | MailboxError]:
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


def _posted(outcomes: Sequence[Result | MailboxError]) -> list[UUID]:
    return [outcome.task.uuid for outcome in outcomes if isinstance(outcome, Result)]


def _id_of(item: Any, field: str) -> UUID | None:
    """Return the id that an item of the request names, None without a valid one."""
    try:
        return UUID((item.item if isinstance(item, Unstorable) else item)[field])
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
