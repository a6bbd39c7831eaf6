"""The bodies and queries of the routes for tasks and results. Pure: no queries, no clock.

Source: Covenant A2A, "Wire types".
"""

from typing import Literal
from uuid import UUID

from pydantic import Field

from mailbox.dialects.base.bodies import AgentField, Blocks, EpochMs, Exact, Lax, QueryInteger, Text, WorkTimeoutMs
from mailbox.dialects.base.wire import BlockList
from mailbox.inspection.lists import QueueFilter
from mailbox.models import Task
from mailbox.words import times
from mailbox.words.envelopes import DuplicateSafety, Idempotency, ResultEnvelope, ResultStatus, TaskEnvelope


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
        return ResultEnvelope(
            task_id=self.task_id,
            status=ResultStatus(self.status),
            content=self.content,
            error_message=self.error_message,
            lease_id=self.lease_id,
            message=self.message,
            direct=self.direct,
        )


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
