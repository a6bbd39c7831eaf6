"""The answers of the routes for tasks and results, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel
from typing_extensions import TypedDict

from mailbox.dialects.base.wire import AgentId, BlockList

ResultStatus = Literal["ok", "error", "partial"]
Outcome = Literal["ok", "partial", "error", "cancelled", "rejected", "expired"]


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


class WireWork(WireTask):
    """A task with its ``metadata``: what the sender wrote beside the text in another protocol.

    Tasks of one ``context_id`` belong to one conversation.
    """

    context_id: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]


class ResultArtifact(TypedDict):
    """An artifact of the task. ``characters`` is the length of its content as JSON."""

    artifact_id: str
    name: NotRequired[str]
    last_chunk: bool
    characters: int


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


class DeliveredResult(WireResult):
    """A result that its sender received last at ``delivered_at_ms`` and did not acknowledge.

    ``attempt_id`` is the sender's id of that receive, null without one.
    """

    delivered_at_ms: int
    attempt_id: UUID | None


class WireLease(TypedDict):
    """A lease. ``work_timeout_ms`` is how long the task may stay leased, null for no limit.

    ``attempt`` counts the leases of the task, from 1.
    """

    lease_id: UUID
    attempt: int
    leased_at_ms: int
    last_seen_at_ms: int
    work_timeout_ms: int | None


class HeldLease(WireLease):
    """A lease with its task and its holder."""

    task: WireWork
    leased_to: AgentId


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


class JournalEvent(TypedDict):
    """A row of the journal. ``seq`` numbers the changes of one task, from 1; it is null in other rows.

    Only people see ``id``, and ``address``, the network address of the client. It is "" without one. To agents, people
    and the command line are the actor ``operator``, and ``request_id`` is null for the requests of others.
    """

    id: NotRequired[int]
    kind: str
    actor: str
    task_id: UUID | None
    seq: int | None
    at_ms: int
    source: Literal["api", "dashboard", "cli", "scheduler", "local"]
    request_id: str | None
    address: NotRequired[str]
    data: dict[str, Any]


class TaskQueued(BaseModel):
    """The task is stored. ``compacted`` and ``outcome`` are there only for a repeat of a task that was deleted since.

    Its result was deleted too.
    """

    kind: Literal["a2a_task_queued"]
    task_id: UUID
    outcome: Outcome | None = None
    compacted: bool = False


class ListedTasks(BaseModel):
    kind: Literal["a2a_tasks"]
    tasks: list[WireTask]
    next_cursor: str | None


class ResultPosted(BaseModel):
    kind: Literal["a2a_result_posted"]
    task_id: UUID


class ResultOpt(BaseModel):
    """The drained result, null when nothing was there to drain.

    ``attempt_spent`` is there only when the attempt id is spent: its results are acknowledged. Use a new id.
    """

    kind: Literal["a2a_result_opt"]
    result: WireResult | None
    attempt_spent: bool = False


class ListedResults(BaseModel):
    kind: Literal["a2a_results"]
    results: list[WireResult]
    next_cursor: str | None


class DeliveredResults(BaseModel):
    kind: Literal["a2a_results_delivered"]
    results: list[DeliveredResult]
    next_cursor: str | None


class ResultsAcked(BaseModel):
    """The results of ``task_ids`` are acknowledged now. ``unknown`` are the other ids of the request.

    No result of theirs is known to the caller. If all ids are unknown, the answer is 404 instead.
    """

    kind: Literal["a2a_results_acked"]
    task_ids: list[UUID]
    unknown: list[UUID]


class Queue(BaseModel):
    kind: Literal["a2a_queue"]
    tasks: list[WireQueueEntry]
    results: list[WireResult]
    next_cursor: str | None


class Status(BaseModel):
    kind: Literal["a2a_status"]
    limit: int
    min_lease_age_ms: int | None
    deadline_within_ms: int | None
    state_filter: Literal["queued", "in_flight", "interrupted"] | None
    tasks: list[WireQueueEntry]
    results: list[WireResult]


class ListedLeases(BaseModel):
    kind: Literal["a2a_leases"]
    leases: list[HeldLease]
    next_cursor: str | None


class TaskEntryAnswer(BaseModel):
    kind: Literal["a2a_task_entry"]
    entry: TaskEntry


class TaskEntries(BaseModel):
    """Tasks in any state. An agent sees the tasks that it sent or receives, a person sees all tasks."""

    kind: Literal["a2a_task_entries"]
    entries: list[TaskEntry]
    next_cursor: str | None


class Tree(BaseModel):
    kind: Literal["a2a_tree"]
    root: UUID
    nodes: list[TreeNode]
    next_cursor: str | None


class Timeline(BaseModel):
    kind: Literal["a2a_timeline"]
    task_id: UUID
    events: list[JournalEvent]
    next_cursor: str | None


class TaskReleased(BaseModel):
    kind: Literal["a2a_task_released"]
    task_id: UUID
    attempt: int


class LeaseAnswer(BaseModel):
    """``turn`` counts the messages of the task's sender, from 1: the task's text."""

    kind: Literal["a2a_lease"]
    task_id: UUID
    lease: WireLease
    turn: int


class TaskCancelled(BaseModel):
    kind: Literal["a2a_task_cancelled"]
    task_id: UUID
