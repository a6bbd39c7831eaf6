"""Tasks and results that a client sends, and the outcomes of batches."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Literal
from uuid import UUID, uuid4

from msgspec import field

from a2a_hub_client.models.content import GivenContent, blocks_of
from a2a_hub_client.models.tasks import LeasedTask, Outcome, Result
from a2a_hub_client.models.wire import Wire, epoch_ms, milliseconds

AnswerStatus = Literal["ok", "error", "partial", "rejected"]


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
        return {name: value for name, value in fields.items() if value is not None}


class Answer(Wire, frozen=True, kw_only=True):
    """The result of a task, to be posted. With a ``lease_id`` it counts only while that lease is live.

    ``error_message`` explains the statuses ``error`` and ``partial``, and must explain ``rejected``. ``message`` is
    closing words. With ``direct`` the content itself is the answer, one message instead of a task.
    """

    task_id: UUID | str
    content: GivenContent = ()
    status: AnswerStatus = "ok"
    error_message: str | None = None
    lease_id: UUID | str | None = None
    message: GivenContent = ()
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
        return {name: value for name, value in fields.items() if value is not None}


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
