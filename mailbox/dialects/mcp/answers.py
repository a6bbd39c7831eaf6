"""The answers of the tools, for their output schemas, and the bodies of the route for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel, RootModel
from typing_extensions import TypedDict

State = Literal["queued", "in_flight", "interrupted", "resolved"]
Ending = Literal["ok", "partial", "error", "cancelled", "rejected", "expired"]
Block = dict[str, Any]


class McpTask(TypedDict):
    """A task. Times are ISO 8601 in UTC. ``resource`` is the URI of the whole task.

    ``is_cut``: the text is the beginning alone. ``awaits`` is what an interrupted task needs from its sender.
    """

    id: UUID
    state: State
    outcome: NotRequired[Ending]
    awaits: NotRequired[Literal["input", "authorization"]]
    sender: str
    recipient: str
    text: str
    is_cut: NotRequired[bool]
    kind: NotRequired[str]
    parent: NotRequired[UUID]
    deadline: NotRequired[str]
    work_timeout_ms: NotRequired[int]
    metadata: NotRequired[dict[str, Any]]
    attempt: int
    sent_at: str
    resolved_at: NotRequired[str]
    resource: str


class McpArtifact(TypedDict):
    artifact_id: str
    name: NotRequired[str]
    characters: int
    is_complete: bool
    resource: str


class McpResult(TypedDict):
    """How a task ended. ``content_left_out`` counts the bytes of a content that only the resource has."""

    status: Literal["ok", "error", "partial"]
    content: list[Block]
    content_left_out: NotRequired[int]
    error_message: NotRequired[str]
    message: NotRequired[list[Block]]
    artifacts: NotRequired[list[McpArtifact]]
    artifacts_left: NotRequired[int]


class SpokenMessage(TypedDict):
    """A message. The role ``user`` is the task's sender, ``agent`` its holder."""

    seq: int
    role: Literal["user", "agent"]
    content: list[Block]
    fraction: NotRequired[float]
    note: NotRequired[str]
    said_at: str


class TimelineEntry(TypedDict):
    seq: int | None
    kind: str
    actor: str
    at: str
    data: dict[str, Any]


class TaskSent(BaseModel):
    """The stored task. ``compacted``: a repeat of a task that the hub has deleted since, with its result."""

    task_id: UUID
    state: State
    outcome: Ending | None = None
    compacted: bool = False
    resource: str


class TaskAwaited(BaseModel):
    """The task as it is now. ``result`` is there once it is resolved; ``question`` while it asks its sender."""

    task: McpTask
    result: McpResult | None = None
    question: SpokenMessage | None = None


class TaskShownWhole(TaskAwaited):
    """A task with its newest messages, oldest first, and a page of its timeline."""

    messages: list[SpokenMessage]
    earlier_messages: bool
    timeline: list[TimelineEntry]
    timeline_next_cursor: str | None = None


class McpTaskPage(BaseModel):
    """A page of tasks, the newest first. Their texts are beginnings."""

    tasks: list[McpTask]
    next_cursor: str | None = None


class HeldLeaseShown(TypedDict):
    """A lease. The holder passes ``lease_id`` with each call about the task. ``times_out_at``: then it ends."""

    lease_id: UUID
    attempt: int
    leased_at: str
    times_out_at: NotRequired[str]


class TaskReceived(BaseModel):
    """The leased task. Both are null when nothing was there to lease.

    ``message`` is the sender's newest message, if there is one beside the text. ``attempt_spent``: use a new
    attempt_id.
    """

    task: McpTask | None
    lease: HeldLeaseShown | None
    turn: int | None = None
    message: SpokenMessage | None = None
    attempt_spent: bool = False


class HeldTask(TypedDict):
    task: McpTask
    lease: HeldLeaseShown


class HeldPage(BaseModel):
    held: list[HeldTask]
    next_cursor: str | None = None


class TaskAnswered(BaseModel):
    task_id: UUID
    status: Literal["ok", "error", "partial"]


class ProgressReported(BaseModel):
    """``turn`` counts the sender's messages. If it has grown, read_task shows the sender's message."""

    task_id: UUID
    turn: int


class QuestionAsked(BaseModel):
    """The task is interrupted and you hold it no more. Its answer brings it back by receive_task."""

    task_id: UUID
    turn: int


class TaskReleasedShown(BaseModel):
    task_id: UUID
    attempt: int


class TaskCancelledShown(BaseModel):
    task_id: UUID


class SaidToTask(BaseModel):
    task_id: UUID
    message_id: str
    turn: int


class AgentSkill(TypedDict):
    name: str
    description: str
    tags: list[str]


class AgentShown(TypedDict):
    """An agent that takes tasks. A paused agent works on its tasks later."""

    name: str
    description: str
    skills: list[AgentSkill]
    is_paused: bool


class McpAgentPage(BaseModel):
    agents: list[AgentShown]
    next_cursor: str | None = None


class WhoAmI(BaseModel):
    """The caller: an agent, or a person with a role."""

    agent: str | None
    person: str | None
    role: str | None
    hub: str


class McpMessageSent(BaseModel):
    """A request of MCP. A notification has no ``id``."""

    jsonrpc: Literal["2.0"]
    id: str | int | None = None
    method: str
    params: dict[str, Any] = {}


class McpBody(RootModel[McpMessageSent | list[McpMessageSent]]):
    """A request or notification of MCP. A batch of them is taken in version 2025-03-26 alone."""


class McpFault(TypedDict):
    code: int
    message: str
    data: NotRequired[dict[str, Any]]


class McpMembers(TypedDict):
    """A result or an error of JSON-RPC. ``id`` is that of the request."""

    jsonrpc: Literal["2.0"]
    id: str | int | None
    result: NotRequired[dict[str, Any]]
    error: NotRequired[McpFault]


class McpRefusalMembers(TypedDict):
    jsonrpc: Literal["2.0"]
    id: str | int | None
    error: McpFault


class McpAnswer(RootModel[McpMembers | list[McpMembers]]):
    """The answer to a request; to a batch, the answers to its requests."""


class McpRefusal(RootModel[McpRefusalMembers]):
    """An error."""
