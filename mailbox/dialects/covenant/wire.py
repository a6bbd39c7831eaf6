"""Tasks and results as Covenant's JSON. Pure: no queries, no clock.

Source: Covenant A2A, "Wire types" and "Daemon-mediated flow". ``kind`` is spelled as in Covenant's documents.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, cast
from uuid import UUID

import orjson
from typing_extensions import TypedDict

from mailbox.database.paging import Page
from mailbox.dialects.base.wire import AgentId, BlockList, agent_id
from mailbox.inspection.answers import Beside, Named
from mailbox.inspection.tasks import QueueEntry
from mailbox.inspection.trees import Node
from mailbox.models import Agent, Result, Task
from mailbox.words import times
from mailbox.words.times import epoch_ms

ResultStatus = Literal["ok", "error", "partial"]
Outcome = Literal["ok", "partial", "error", "cancelled", "rejected", "expired"]

NOTHING: Mapping[int, Beside] = {}  # for results whose closing words and artifacts are shown elsewhere


class WireIdempotency(TypedDict):
    """Whether the work may be done twice. Two tasks with the same ``key`` ask for the same work."""

    duplicate_safety: Literal["unsafe", "idempotent"]
    key: str


class WireTask(TypedDict):
    """A task. Keys without a value are left out."""

    id: UUID
    sender: AgentId
    recipient: AgentId
    intent_text: str
    task_kind: NotRequired[str]
    parent: NotRequired[UUID]
    deadline_ms: NotRequired[int]
    idempotency: NotRequired[WireIdempotency]


def task(row: Task) -> WireTask:
    """Render an A2ATask. Its four required keys are always there, an optional key only if it has a value."""
    rendered: WireTask = {
        "id": row.uuid,
        "sender": agent_id(row.sender),
        "recipient": agent_id(row.recipient),
        "intent_text": row.intent_text,
    }
    if row.task_kind is not None:
        rendered["task_kind"] = row.task_kind
    if row.parent is not None:
        rendered["parent"] = row.parent
    if row.deadline_ms is not None:
        rendered["deadline_ms"] = row.deadline_ms
    if row.idempotency_key is not None:
        rendered["idempotency"] = {"duplicate_safety": choice(row.duplicate_safety), "key": row.idempotency_key}
    return rendered


class WireWork(WireTask):
    """A task with its ``metadata``: what the sender wrote beside the text in another protocol.

    Tasks of one ``context_id`` belong to one conversation of one sender. Sender and recipient see different ids of it.
    """

    context_id: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]


def work(row: Task, reader: Agent | None) -> WireWork:
    """Render an A2ATask for ``reader``, with the fields that its sender wrote beside the text in another protocol.

    A task without these, as every task of this dialect is, has neither ``context_id`` nor ``metadata``.
    """
    rendered = cast(WireWork, task(row))
    if (context_id := row.context_for(reader)) is not None:
        rendered["context_id"] = context_id
    if row.metadata != "{}":
        rendered["metadata"] = json(row.metadata)
    return rendered


class ResultArtifact(TypedDict):
    """An artifact of the task. ``characters`` is the length of its content as JSON."""

    artifact_id: str
    name: NotRequired[str]
    last_chunk: bool
    characters: int


def _named(artifact: Named) -> ResultArtifact:
    named: ResultArtifact = {
        "artifact_id": artifact.artifact_id,
        "last_chunk": artifact.is_complete,
        "characters": artifact.characters,
    }
    if artifact.name:
        named["name"] = artifact.name
    return named


class WireResult(TypedDict):
    """The result of a task. Keys without a value are left out.

    ``message`` has the closing words. ``artifacts`` names the first 100 artifacts of the task, and ``artifacts_left``
    counts the others. ``artifacts_route`` is where their contents are read.
    """

    task_id: UUID
    status: ResultStatus
    content: BlockList
    error_message: NotRequired[str]
    message: NotRequired[BlockList]
    artifacts: NotRequired[list[ResultArtifact]]
    artifacts_left: NotRequired[int]
    artifacts_route: NotRequired[str]


def result(row: Result, beside: Mapping[int, Beside] = NOTHING) -> WireResult:
    """Render an A2ATaskResult. Its content is the stored text, byte for byte.

    ``beside`` has the closing words and the artifacts of results by their keys, nothing for a plain result.
    """
    rendered: WireResult = {
        "task_id": row.task.uuid,
        "status": choice(row.status),
        "content": json(row.content),
    }
    if row.error_message is not None:
        rendered["error_message"] = row.error_message
    if row.pk in beside:
        _add(rendered, beside[row.pk], row.task)
    return rendered


class DeliveredResult(WireResult):
    """A result that its sender received last at ``delivered_at_ms`` and did not acknowledge.

    ``attempt_id`` is the sender's id of that receive, null without one.
    """

    delivered_at_ms: int
    attempt_id: UUID | None


class WireQueueEntry(TypedDict):
    """A task with its state. The lease's keys are left out when the task has no live lease.

    Only an interrupted task has ``awaits``: the kind of its agent's question.
    """

    state: Literal["queued", "in_flight", "interrupted", "resolved"]
    awaits: NotRequired[Literal["input", "authorization"]]
    task: WireTask
    attempt: int
    lease_id: NotRequired[UUID]
    leased_to: NotRequired[AgentId]
    leased_at_ms: NotRequired[int]
    waits_on: NotRequired[UUID]


def queue_entry(entry: QueueEntry) -> WireQueueEntry:
    """Render an A2ATaskQueueEntry. A queued task has no lease keys."""
    rendered: WireQueueEntry = {
        "state": choice(entry.task.state),
        "task": task(entry.task),
        "attempt": entry.task.attempt,
    }
    if entry.task.awaits is not None:
        rendered["awaits"] = choice(entry.task.awaits)
    if entry.task.waits_on is not None:
        rendered["waits_on"] = entry.task.waits_on.uuid
    if entry.lease is not None:
        rendered["lease_id"] = entry.lease.lease_id
        rendered["leased_to"] = agent_id(entry.lease.holder)
        rendered["leased_at_ms"] = epoch_ms(entry.lease.leased_at)
    return rendered


class TaskEntry(WireQueueEntry):
    """A task with its state and its times. ``outcome`` is null until the task is resolved.

    ``work_timeout_ms`` is how long the task may stay leased, null for no limit.
    """

    task: WireWork  # type: ignore[misc]
    outcome: Outcome | None
    work_timeout_ms: int | None
    sent_at_ms: int
    queued_at_ms: int
    resolved_at_ms: int | None


def task_entry(entry: QueueEntry, reader: Agent | None) -> TaskEntry:
    """Render a queue entry for ``reader``, with the task's times and its outcome."""
    row = entry.task
    return {
        **queue_entry(entry),
        "task": work(row, reader),
        "outcome": choice(row.outcome),
        "work_timeout_ms": times.to_ms(row.work_timeout),
        "sent_at_ms": epoch_ms(row.sent_at),
        "queued_at_ms": epoch_ms(row.queued_at),
        "resolved_at_ms": ms(row.resolved_at),
    }


class TreeNode(TypedDict):
    """A task of the tree. ``depth`` is 0 for the root."""

    depth: int
    state: Literal["queued", "in_flight", "interrupted", "resolved"]
    awaits: Literal["input", "authorization"] | None
    outcome: str | None
    attempt: int
    waits_on: UUID | None
    task: WireTask
    result: WireResult | None


def node(row: Node, beside: Mapping[int, Beside]) -> TreeNode:
    """Render one task of a tree. Order and ``depth`` of the tasks give the tree its shape."""
    return {
        "depth": row.depth,
        "state": choice(row.task.state),
        "awaits": choice(row.task.awaits),
        "outcome": row.task.outcome,
        "attempt": row.task.attempt,
        "waits_on": row.task.waits_on.uuid if row.task.waits_on else None,
        "task": task(row.task),
        "result": result(row.result, beside) if row.result else None,
    }


class TaskQueued(TypedDict):
    """The task is stored. ``compacted`` and ``outcome`` are there only for a repeat of a task that was deleted since.

    Its result was deleted too.
    """

    kind: Literal["a2a_task_queued"]
    task_id: UUID
    outcome: NotRequired[Outcome | None]
    compacted: NotRequired[bool]


def queued(row: Task) -> TaskQueued:
    """Render the answer to a send. A repeat of a compacted task also gets the task's outcome: no drain will."""
    rendered: TaskQueued = {"kind": "a2a_task_queued", "task_id": row.uuid}
    if row.is_compacted:
        rendered["outcome"] = choice(row.outcome)
        rendered["compacted"] = True
    return rendered


class ListedTasks(TypedDict):
    kind: Literal["a2a_tasks"]
    tasks: list[WireTask]
    next_cursor: str | None


class ResultPosted(TypedDict):
    kind: Literal["a2a_result_posted"]
    task_id: UUID


def posted(row: Result) -> ResultPosted:
    """Render the answer to a posted result."""
    return {"kind": "a2a_result_posted", "task_id": row.task.uuid}


class ResultOpt(TypedDict):
    """The drained result, null when nothing was there to drain.

    ``attempt_spent`` is there only when the attempt id is spent: its results are acknowledged. Use a new id.
    """

    kind: Literal["a2a_result_opt"]
    result: WireResult | None
    attempt_spent: NotRequired[bool]


def next_result(row: Result | None, beside: Mapping[int, Beside], *, spent: bool = False) -> ResultOpt:
    """Render the answer to a drain. ``spent``: its attempt id takes no result any more."""
    rendered: ResultOpt = {"kind": "a2a_result_opt", "result": None if row is None else result(row, beside)}
    if spent:
        rendered["attempt_spent"] = True
    return rendered


class ListedResults(TypedDict):
    kind: Literal["a2a_results"]
    results: list[WireResult]
    next_cursor: str | None


class DeliveredResults(TypedDict):
    kind: Literal["a2a_results_delivered"]
    results: list[DeliveredResult]
    next_cursor: str | None


def delivered_page(page: Page[Result], beside: Mapping[int, Beside]) -> DeliveredResults:
    """Render a page of results that were delivered and not acknowledged."""
    rendered: list[DeliveredResult] = [
        {**result(row, beside), "delivered_at_ms": ms(row.delivered_at) or 0, "attempt_id": row.receive_attempt_id}
        for row in page.items
    ]
    return {"kind": "a2a_results_delivered", "results": rendered, "next_cursor": page.next_cursor}


class ResultsAcked(TypedDict):
    """The results of ``task_ids`` are acknowledged now. ``unknown`` are the other ids of the request.

    No result of theirs is known to the caller. If all ids are unknown, the answer is 404 instead.
    """

    kind: Literal["a2a_results_acked"]
    task_ids: list[UUID]
    unknown: list[UUID]


class Queue(TypedDict):
    kind: Literal["a2a_queue"]
    tasks: list[WireQueueEntry]
    results: list[WireResult]
    next_cursor: str | None


class Status(TypedDict):
    kind: Literal["a2a_status"]
    limit: int
    min_lease_age_ms: int | None
    deadline_within_ms: int | None
    state_filter: Literal["queued", "in_flight", "interrupted"] | None
    tasks: list[WireQueueEntry]
    results: list[WireResult]


def status(
    entries: Sequence[QueueEntry],
    pending: Sequence[Result],
    beside: Mapping[int, Beside],
    *,
    limit: int,
    state_filter: str | None,
    min_lease_age_ms: int | None,
    deadline_within_ms: int | None,
) -> Status:
    """Render the object that the command line prints. It has seven keys, null for a filter that is not set."""
    return {
        "kind": "a2a_status",
        "limit": limit,
        "min_lease_age_ms": min_lease_age_ms,
        "deadline_within_ms": deadline_within_ms,
        "state_filter": choice(state_filter),
        "tasks": [queue_entry(entry) for entry in entries],
        "results": [result(row, beside) for row in pending],
    }


class TaskEntryAnswer(TypedDict):
    kind: Literal["a2a_task_entry"]
    entry: TaskEntry


class TaskEntries(TypedDict):
    """Tasks in any state. An agent sees the tasks that it sent or receives, a person sees all tasks."""

    kind: Literal["a2a_task_entries"]
    entries: list[TaskEntry]
    next_cursor: str | None


class Tree(TypedDict):
    kind: Literal["a2a_tree"]
    root: UUID
    nodes: list[TreeNode]
    next_cursor: str | None


class TaskCancelled(TypedDict):
    kind: Literal["a2a_task_cancelled"]
    task_id: UUID


def _add(rendered: WireResult, more: Beside, task: Task) -> None:
    if more.closing:
        rendered["message"] = [dict(block) for block in more.closing]
    if more.artifacts:
        rendered["artifacts"] = [_named(one) for one in more.artifacts]
        rendered["artifacts_left"] = more.left
        rendered["artifacts_route"] = f"/a2a/tasks/{task.uuid}/artifacts"


def ms(moment: datetime | None) -> int | None:
    return None if moment is None else epoch_ms(moment)


def choice(value: object) -> Any:
    """Return the value of a field. The values that its row admits are those of the answer."""
    return value


def json(text: str) -> Any:
    """Return stored JSON, which the renderer writes into the answer unchanged."""
    return orjson.Fragment(text)
