"""Tasks, leases and results as a hub shows them, and those that a client sends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID, uuid4

from msgspec import field

from a2a_hub_client.models.wire import (
    Content,
    ContentInput,
    JsonBlock,
    Moment,
    Span,
    Wire,
    blocks_of,
    epoch_ms,
    filled,
    milliseconds,
    text_of,
)

if TYPE_CHECKING:
    State = Literal["queued", "in_flight", "interrupted", "resolved"]
    Awaits = Literal["input", "authorization"]
    Outcome = Literal["ok", "partial", "error", "cancelled", "rejected", "expired"]
    Status = Literal["ok", "error", "partial"]
    Role = Literal["user", "agent"]
    DuplicateSafety = Literal["unsafe", "idempotent"]
else:  # a later hub may have more words
    State = Awaits = Outcome = Status = Role = DuplicateSafety = str

AnswerStatus = Literal["ok", "error", "partial", "rejected"]


class AgentId(Wire, frozen=True, kw_only=True):
    """An agent: its name, and its Ed25519 public key in base58."""

    display: str
    pubkey: str

    def __str__(self) -> str:
        return self.display

    def is_called(self, name: str) -> bool:
        """Whether ``name`` is the agent's display, local part or public key."""
        return name in (self.display, self.display.partition("@")[0], self.pubkey)


class Idempotency(Wire, frozen=True, kw_only=True):
    """Whether the work may be done twice. Two tasks with the same ``key`` ask for the same work."""

    duplicate_safety: DuplicateSafety
    key: str


class Task(Wire, frozen=True, kw_only=True):
    """A task. ``context_id`` and ``metadata`` are there for tasks of other protocols.

    Tasks of one ``context_id`` belong to one conversation of one sender. Sender and recipient see different ids of it.
    """

    id: UUID
    sender: AgentId
    recipient: AgentId
    text: str = field(name="intent_text")
    kind: str | None = field(name="task_kind", default=None)
    parent: UUID | None = None
    deadline: Moment | None = field(name="deadline_ms", default=None)
    idempotency: Idempotency | None = None
    context_id: str | None = None
    metadata: dict[str, Any] | None = None


class Lease(Wire, frozen=True, kw_only=True):
    """A lease. ``attempt`` counts the leases of the task, from 1. ``work_timeout`` None: it has no limit."""

    id: UUID = field(name="lease_id")
    attempt: int
    leased_at: Moment = field(name="leased_at_ms")
    last_seen_at: Moment = field(name="last_seen_at_ms")
    work_timeout: Span | None = field(name="work_timeout_ms", default=None)


class BaseMessage(Wire, frozen=True, kw_only=True):
    """A message as its author sent it. The role is ``user`` for the task's sender, ``agent`` for its holder."""

    message_id: str
    role: Role
    content: Content
    metadata: dict[str, Any] | None = None
    extensions: list[str] = []
    reference_task_ids: list[str] = []

    @property
    def text(self) -> str:
        """The text blocks, joined by newlines."""
        return text_of(self.content)


class LeasedTask(Wire, frozen=True, kw_only=True):
    """A task with its lease. ``turn`` counts the messages of its sender, from 1: the task's text.

    ``message`` is the newest of them, None while the task's text is the only one.
    """

    task: Task
    lease: Lease
    turn: int = 1
    message: BaseMessage | None = None


class HeldLease(Lease, frozen=True, kw_only=True):
    """A lease with its task and its holder."""

    task: Task
    leased_to: AgentId


class LeaseState(Wire, frozen=True, kw_only=True):
    """A lease after a heartbeat, and the number of messages of the task's sender."""

    lease: Lease
    turn: int = 1


class QueueEntry(Wire, frozen=True, kw_only=True):
    """A task with its state. The fields of a lease are None without a live lease.

    Only an interrupted task has ``awaits``, the kind of its agent's question.
    """

    state: State
    task: Task
    attempt: int
    awaits: Awaits | None = None
    lease_id: UUID | None = None
    leased_to: AgentId | None = None
    leased_at: Moment | None = field(name="leased_at_ms", default=None)
    waits_on: UUID | None = None


class TaskEntry(QueueEntry, frozen=True, kw_only=True):
    """A task with its state and its times. ``outcome`` is None until the task is resolved."""

    sent_at: Moment = field(name="sent_at_ms")
    queued_at: Moment = field(name="queued_at_ms")
    outcome: Outcome | None = None
    resolved_at: Moment | None = field(name="resolved_at_ms", default=None)


class ResultArtifact(Wire, frozen=True, kw_only=True):
    """An artifact of a task, without its content. ``characters`` is the length of the content as JSON."""

    artifact_id: str
    last_chunk: bool
    characters: int
    name: str | None = None


class Result(Wire, frozen=True, kw_only=True):
    """The result of a task. ``message`` has the closing words.

    ``artifacts`` names the first artifacts of the task, and ``artifacts_left`` counts the others.
    """

    task_id: UUID
    status: Status
    content: Content
    error_message: str | None = None
    message: Content = field(default_factory=Content)
    artifacts: list[ResultArtifact] = []
    artifacts_left: int = 0

    @property
    def is_ok(self) -> bool:
        """Whether the work was done."""
        return self.status == "ok"

    @property
    def text(self) -> str:
        """The text blocks of the content, joined by newlines."""
        return text_of(self.content)

    @property
    def values(self) -> list[Any]:
        """The values of the JSON blocks of the content."""
        return [block.value for block in self.content if isinstance(block, JsonBlock)]


class DeliveredResult(Result, frozen=True, kw_only=True):
    """A result that its sender received last at ``delivered_at``, by ``attempt_id``, and did not acknowledge."""

    delivered_at: Moment = field(name="delivered_at_ms")
    attempt_id: UUID | None = None


class TreeNode(Wire, frozen=True, kw_only=True):
    """A task of a tree. ``depth`` is 0 for the root."""

    depth: int
    state: State
    attempt: int
    task: Task
    awaits: Awaits | None = None
    outcome: Outcome | None = None
    waits_on: UUID | None = None
    result: Result | None = None


class NewTask(Wire, frozen=True, kw_only=True):
    """A task to send. The client chooses its ``id``, so that sending it twice stores it once.

    ``to`` is the recipient's display, or its local part where that is unambiguous. A task that is still queued at its
    ``deadline`` expires; a timedelta counts from the moment of sending. A task that stays leased for longer than
    ``work_timeout`` expires, too. Two tasks of one ``idempotency_key`` ask for the same work, which may be done twice.
    The hub posts the end of the task to ``callback_url``, signed by ``callback_secret``.
    """

    to: str
    text: str
    id: UUID = field(default_factory=uuid4)
    kind: str | None = None
    parent: UUID | str | None = None
    deadline: datetime | timedelta | None = None
    work_timeout: timedelta | None = None
    idempotency_key: str | None = None
    callback_url: str | None = None
    callback_secret: str | None = None

    def body(self) -> dict[str, Any]:
        """Return the task as the hub's JSON. Raises `ValueError` for a deadline without a time zone."""
        deadline = self.deadline
        if isinstance(deadline, timedelta):
            deadline = datetime.now(timezone.utc) + deadline
        fields = {
            "id": self.id,
            "recipient": self.to,
            "intent_text": self.text,
            "task_kind": self.kind,
            "parent": self.parent,
            "deadline_ms": None if deadline is None else epoch_ms(deadline),
            "work_timeout_ms": None if self.work_timeout is None else milliseconds(self.work_timeout),
            "idempotency": None
            if self.idempotency_key is None
            else {"duplicate_safety": "idempotent", "key": self.idempotency_key},
            "callback_url": self.callback_url,
            "callback_secret": self.callback_secret,
        }
        return filled(fields)


class Answer(Wire, frozen=True, kw_only=True):
    """The result of a task, to be posted. With a ``lease_id`` it counts only while that lease is live.

    ``error_message`` explains the statuses ``error`` and ``partial``, and must explain ``rejected``. ``message`` is
    closing words. With ``direct`` the content itself is the answer, one message instead of a task.
    """

    task_id: UUID | str
    content: ContentInput = ()
    status: AnswerStatus = "ok"
    error_message: str | None = None
    lease_id: UUID | str | None = None
    message: ContentInput = ()
    direct: bool = False

    def body(self) -> dict[str, Any]:
        """Return the result as the hub's JSON."""
        fields = {
            "task_id": self.task_id,
            "status": self.status,
            "content": blocks_of(self.content),
            "error_message": self.error_message,
            "lease_id": self.lease_id,
            "message": blocks_of(self.message) or None,
            "direct": self.direct or None,
        }
        return filled(fields)


class TaskQueued(Wire, frozen=True, kw_only=True):
    """The task is stored. Only a repeat of a task that was deleted since has ``outcome`` and ``compacted``."""

    task_id: UUID
    outcome: Outcome | None = None
    compacted: bool = False


class RefusedItem(Wire, frozen=True, kw_only=True):
    """An item of a batch that was refused. ``index`` is its place in the batch, from 0."""

    index: int
    code: str
    message: str
    task_id: UUID | None = None
    fields: dict[str, str] | None = None

    def as_mapping(self) -> Mapping[str, Any]:
        """Return the error as the hub's JSON has it."""
        return {"code": self.code, "message": self.message, "fields": self.fields, "task_id": self.task_id}


class Posted(Wire, frozen=True, kw_only=True):
    """The outcome of a batch: the task ids of the items that succeeded, and the refused items."""

    posted: list[UUID]
    refused: list[RefusedItem]


class Received(Posted, frozen=True, kw_only=True):
    """The leased tasks, oldest first, and the outcome of the results that were posted.

    ``attempt_spent``: the leases of the attempt id have ended. It takes nothing else.
    """

    leases: list[LeasedTask]
    attempt_spent: bool = False


class Drained(Wire, frozen=True, kw_only=True):
    """The drained results, oldest first, and the outcome of the acknowledgements.

    ``attempt_spent``: the results of the attempt id are acknowledged. It takes nothing else.
    """

    results: list[Result]
    acked: list[UUID]
    unknown: list[UUID]
    refused: list[RefusedItem] = []
    attempt_spent: bool = False


class Acked(Wire, frozen=True, kw_only=True):
    """The acknowledged ids, and the ids without a result of the caller."""

    task_ids: list[UUID]
    unknown: list[UUID] = []
