"""The bodies and queries of the routes for tasks, results, conversations and the journal. Pure: no queries, no clock.

Source: Covenant A2A, "Wire types".
"""

from typing import Any, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from mailbox.dialects.base.bodies import (
    MAX_DATE_MS,
    AgentField,
    Blocks,
    EpochMs,
    Exact,
    Lax,
    Number,
    QueryInteger,
    Text,
    WorkTimeoutMs,
)
from mailbox.dialects.base.wire import BlockList
from mailbox.inspection.lists import QueueFilter
from mailbox.life.updates import MAX_UPDATES
from mailbox.models import Task
from mailbox.words import times
from mailbox.words.conversation import RESULT, ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.envelopes import DuplicateSafety, Idempotency, ResultEnvelope, ResultStatus, TaskEnvelope

MOST_BLOCKS = 50
NEWEST_ROW = 2**63 - 1


class IdempotencyBody(Lax):
    """Whether the work may be done twice. Two tasks with the same ``key`` ask for the same work."""

    duplicate_safety: Literal["unsafe", "idempotent"]
    key: Text


class TaskBody(Lax):
    """A task to send.

    A request that names its ``id`` can be repeated: the task is stored once. Without an ``id`` the hub chooses one.
    ``sender`` must be the caller and may be left out. ``deadline_ms`` is a point in time: a task that is still queued
    then expires. ``work_timeout_ms`` is a duration: a task whose lease lasts longer expires. When the task ends, the
    hub posts its state to ``callback_url``, signed if there is a ``callback_secret``.
    """

    id: UUID | None = None
    sender: AgentField | None = None
    recipient: AgentField
    intent_text: Text
    task_kind: Text | None = None
    parent: UUID | None = None
    deadline_ms: EpochMs | None = None
    work_timeout_ms: WorkTimeoutMs | None = None
    idempotency: IdempotencyBody | None = None
    callback_url: Text | None = None
    callback_secret: Text | None = None

    def envelope(self) -> TaskEnvelope:
        idempotency = None
        if (body := self.idempotency) is not None:
            idempotency = Idempotency(duplicate_safety=DuplicateSafety(body.duplicate_safety), key=body.key)
        return TaskEnvelope(
            id=self.id,
            sender=self.sender,
            recipient=self.recipient,
            intent_text=self.intent_text,
            task_kind=self.task_kind,
            parent=self.parent,
            deadline_ms=self.deadline_ms,
            work_timeout=times.from_ms(self.work_timeout_ms),
            idempotency=idempotency,
            callback_url=self.callback_url,
            callback_secret=self.callback_secret,
        )


class ResultBody(Lax):
    """The result of a task.

    With a ``lease_id`` the result is refused unless that lease is live. ``error_message`` explains the statuses
    ``error`` and ``partial``, and must explain ``rejected``: the agent will not do the task. A content block is an
    object with a ``type``: ``text``, ``json``, ``image``, ``audio``, ``resource`` or ``resource_link``. ``message`` is
    closing words, as text or content blocks.

    With ``direct`` the content itself is the answer, one message instead of a task. The status is then ``ok``, and the
    task has no messages and artifacts.
    """

    task_id: UUID
    status: Literal["ok", "error", "partial", "rejected"]
    content: BlockList = []
    error_message: Text | None = None
    lease_id: UUID | None = None
    message: Blocks = []
    direct: bool = Field(False, strict=True)

    def envelope(self) -> ResultEnvelope:
        return ResultEnvelope(**{**dict(self), "status": ResultStatus(self.status)})


class NextTask(Exact):
    """How to receive, in the query or the body.

    With ``wait_ms`` the hub holds the request until something arrives, by default for at most 50 seconds. Without it
    the hub answers at once. The same ``attempt_id`` gets the same answer again. Keep the id until it has brought
    something, also after an empty answer. Then use a new id. Once its leases have ended or its results were
    acknowledged, an id is spent. The answer then has ``attempt_spent`` and nothing else.
    """

    wait_ms: int = Field(default=0, ge=0, le=times.LONGEST_WAIT_MS)
    attempt_id: UUID | None = None


class NextResult(NextTask):
    """How to drain, in the query or the body. ``ack`` names the task whose result this request acknowledges."""

    ack: UUID | None = None


class AckBody(Exact):
    """The tasks whose results arrived.

    Acknowledging a result twice changes nothing, even if its task was compacted since.
    """

    task_ids: list[UUID] = Field(min_length=1, max_length=1000)


class ReleaseBody(Exact):
    """Why the lease is handed back. With a ``lease_id`` nothing happens unless that lease is live."""

    reason: Text
    lease_id: UUID | None = None


class HeartbeatBody(Exact):
    """With a ``lease_id`` the heartbeat is rejected unless that lease is live."""

    lease_id: UUID | None = None


class CancelBody(Exact):
    """Why the task is cancelled. The recipient can read it."""

    reason: Text = ""


class LeaseTaskBody(Exact):
    """The same ``attempt_id`` gets the same lease again while that lease is live."""

    attempt_id: UUID | None = None


class SayBody(Exact):
    """A further message of the task's sender. ``content`` is text or content blocks.

    The same ``attempt_id`` with the same message stores it once.
    """

    content: Blocks
    message_id: Text | None = None
    metadata: dict[str, Any] | None = None
    extensions: list[Text] = []
    reference_task_ids: list[Text] = []
    attempt_id: UUID | None = None

    def words(self) -> Words:
        return Words(
            content=self.content,
            message_id=self.message_id or "",
            metadata=self.metadata,
            extensions=tuple(self.extensions),
            reference_task_ids=tuple(self.reference_task_ids),
        )


class ProgressBody(Exact):
    """How much of the work is done, from 0 to 1, and a note on what is happening."""

    fraction: Number = Field(ge=0, le=1)
    note: Text = ""


class ArtifactBody(Exact):
    """An artifact of the task, or a chunk of it. ``content`` is text or content blocks."""

    artifact_id: Text = RESULT
    name: Text | None = None
    description: Text | None = None
    content: Blocks
    metadata: dict[str, Any] | None = None
    extensions: list[Text] = []


class UpdateBody(Exact):
    """Exactly one of ``message`` (text or content blocks), ``progress``, ``artifact`` and ``status``.

    The statuses ``input_required`` and ``auth_required`` put a question to the task's sender: they end the lease, and
    the sender's answer brings a new one. Such an update is the last of its request. It may have a ``message``, and
    ``auth_required`` must have one. ``message_id`` and ``metadata`` belong to the message. ``append`` adds the blocks
    to the artifact of that id and replaces the fields that it names. Without ``append`` the artifact is replaced. With
    ``last_chunk`` the artifact is complete.
    """

    message: Blocks | None = None
    message_id: Text | None = None
    metadata: dict[str, Any] | None = None
    progress: ProgressBody | None = None
    artifact: ArtifactBody | None = None
    append: bool = Field(False, strict=True)
    last_chunk: bool = Field(False, strict=True)
    status: Literal["working", "input_required", "auth_required"] | None = None

    @model_validator(mode="after")
    def _names_a_single_kind(self) -> Self:
        kinds = [name for name in ("message", "progress", "artifact", "status") if getattr(self, name) is not None]
        if len(kinds) != 1 and kinds != ["message", "status"]:
            raise ValueError("must have exactly one of message, progress, artifact and status")
        if "message" not in kinds and (self.message_id is not None or self.metadata is not None):
            raise ValueError("message_id and metadata need a message")
        if "artifact" not in kinds and (self.append or self.last_chunk):
            raise ValueError("append and last_chunk need an artifact")
        return self

    def update(self) -> Update | ArtifactUpdate:
        if (made := self.artifact) is not None:
            fields = {**dict(made), "extensions": tuple(made.extensions)}
            return ArtifactUpdate(**fields, append=self.append, last_chunk=self.last_chunk)
        return Update(
            message=self.message or (),
            progress=self.progress.fraction if self.progress else None,
            note=self.progress.note if self.progress else "",
            message_id=self.message_id or "",
            metadata=self.metadata,
            status=UpdateStatus(self.status) if self.status else None,
        )


class UpdatesBody(Exact):
    """Updates of the lease's holder, in order. The same ``attempt_id`` with the same updates gets the same answer."""

    updates: list[UpdateBody] = Field(min_length=1, max_length=MAX_UPDATES)
    lease_id: UUID | None = None
    attempt_id: UUID | None = None


class NoQuery(Exact):
    """The query of a route that has no parameters."""


class WaitQuery(Exact):
    """With ``wait_ms`` the hub holds the request until the task has ended, and answers as without it then.

    By default the hub holds it for at most 50 seconds.
    """

    wait_ms: QueryInteger = Field(0, ge=0, le=times.LONGEST_WAIT_MS)


class TreeQuery(Exact):
    cursor: str | None = None


class ListQuery(Exact):
    limit: QueryInteger = Field(10, ge=1, le=1000)
    cursor: str | None = None


class TasksQuery(ListQuery):
    id_prefix: str | None = Field(None, pattern=r"^(-?[0-9a-fA-F]){4,32}$")


class TimelineQuery(ListQuery):
    limit: QueryInteger = Field(100, ge=1, le=1000)


class QueueQuery(ListQuery):
    state_filter: Literal["queued", "in_flight", "interrupted"] | None = None
    min_lease_age_ms: QueryInteger | None = Field(None, ge=0, le=times.MOST_MS)
    deadline_within_ms: QueryInteger | None = Field(None, ge=0, le=times.MOST_MS)

    def filter(self) -> QueueFilter:
        return QueueFilter(
            state=Task.State(self.state_filter) if self.state_filter else None,
            min_lease_age=times.from_ms(self.min_lease_age_ms),
            deadline_within=times.from_ms(self.deadline_within_ms),
        )


class MessagesQuery(Exact):
    """The messages after the number ``after``. With ``wait_ms`` the hub holds the request until there is one.

    By default the hub holds it for at most 50 seconds.
    """

    after: QueryInteger = Field(0, ge=0, le=2**31 - 1)
    limit: QueryInteger = Field(100, ge=1, le=1000)
    wait_ms: QueryInteger = Field(0, ge=0, le=times.LONGEST_WAIT_MS)


class ArtifactsQuery(ListQuery):
    """``limit`` counts chunks: an artifact of several chunks may continue on the next page."""

    limit: QueryInteger = Field(100, ge=1, le=1000)


class AuditQuery(ListQuery):
    limit: QueryInteger = Field(20, ge=1, le=1000)
    since_ms: QueryInteger | None = Field(None, ge=0, le=MAX_DATE_MS)


class VerifyQuery(Exact):
    """The rows to check. ``after`` is the ``next_after`` of the answer before; ``head`` a hash recorded elsewhere."""

    from_row: QueryInteger = Field(1, ge=1, le=NEWEST_ROW)
    to_row: QueryInteger | None = Field(None, ge=1, le=NEWEST_ROW)
    after: QueryInteger | None = Field(None, ge=1, le=NEWEST_ROW)
    blocks: QueryInteger = Field(10, ge=1, le=MOST_BLOCKS)
    head: str = Field("", max_length=64)
