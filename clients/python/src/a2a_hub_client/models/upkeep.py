"""The queue, the journal, repairs, cached results and callbacks, which operators read and mend."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from msgspec import field

from a2a_hub_client.models.tasks import AgentId, QueueEntry, Result, Status
from a2a_hub_client.models.wire import Moment, Span, Wire


class JournalEvent(Wire, frozen=True, kw_only=True):
    """A row of the journal. ``seq`` numbers the changes of one task, from 1; it is None in other rows.

    Only people get ``id`` and ``address``, the network address of the client.
    """

    kind: str
    actor: str
    at: Moment = field(name="at_ms")
    source: str
    data: dict[str, Any]
    task_id: UUID | None = None
    seq: int | None = None
    request_id: str | None = None
    id: int | None = None
    address: str | None = None


class HubStatus(Wire, frozen=True, kw_only=True):
    """The newest tasks that are not resolved, and the newest pending results."""

    tasks: list[QueueEntry]
    results: list[Result]


class RepairOutcome(Wire, frozen=True, kw_only=True):
    """The outcome of a repair. ``result`` is None after a requeue."""

    task_id: UUID
    action: str
    state: str
    attempt: int
    result: Result | None = None


class RetryPolicy(Wire, frozen=True, kw_only=True):
    """The limits of a pass of the retry gate. Without ``enabled`` it is a dry run."""

    enabled: bool
    min_lease_age: Span = field(name="min_lease_age_ms")
    max_attempts: int
    max_requeues: int
    scan_limit: int


class RetriedTask(Wire, frozen=True, kw_only=True):
    """A task that the pass requeued, or would requeue if it were enabled."""

    task_id: UUID
    lease_id: UUID
    attempt: int
    idempotency_key: str


class SkippedTask(Wire, frozen=True, kw_only=True):
    """A leased task that the pass left alone, with the reason."""

    task_id: UUID
    reason: str
    attempt: int
    lease_age: Span = field(name="lease_age_ms")


class RetryReport(Wire, frozen=True, kw_only=True):
    """The outcome of one pass of the retry gate."""

    policy: RetryPolicy
    considered: int
    requeued: list[RetriedTask]
    would_requeue: list[RetriedTask]
    skipped: list[SkippedTask]


class ReplayEntry(Wire, frozen=True, kw_only=True):
    """A cached result. ``hits`` counts the duplicates that it answered."""

    id: int
    sender_pubkey: str = field(name="sender_pubkey_b58")
    recipient_pubkey: str = field(name="recipient_pubkey_b58")
    task_kind: str
    key: str
    source_task_id: UUID
    status: Status
    hits: int
    stored_at: Moment = field(name="stored_at_ms")
    last_hit_at: Moment | None = field(name="last_hit_at_ms", default=None)
    expires_at: Moment | None = field(name="expires_at_ms", default=None)


class DeliveryAttempt(Wire, frozen=True, kw_only=True):
    """One attempt to deliver a callback. ``status`` is None when the receiver did not answer."""

    number: int
    at: Moment = field(name="at_ms")
    problem: str
    status: int | None = None


class Delivery(Wire, frozen=True, kw_only=True):
    """A callback or an event of a webhook, and its attempts. ``event`` None: it is a callback."""

    id: UUID = field(name="delivery_id")
    task_id: UUID
    sender: AgentId
    url: str
    signed: bool
    state: str
    attempts: int
    created_at: Moment = field(name="created_at_ms")
    event: str | None = None
    next_attempt_at: Moment | None = field(name="next_attempt_at_ms", default=None)
    delivered_at: Moment | None = field(name="delivered_at_ms", default=None)
    log: list[DeliveryAttempt] = []


class Finding(Wire, frozen=True, kw_only=True):
    """The first problem of a verification: the block by its ids, and the row, each None without one."""

    problem: str
    first_id: int | None = None
    last_id: int | None = None
    row: int | None = None


class SealHead(Wire, frozen=True, kw_only=True):
    """The last block that was checked, by its last row and its hash."""

    last_id: int
    hash: str


class Verification(Wire, frozen=True, kw_only=True):
    """A verification of some blocks of the journal. ``next_after`` None: no block is left."""

    whole: bool
    blocks: int
    rows: int
    unsealed: int
    finding: Finding | None = None
    erased: list[int] = []
    head: SealHead | None = None
    next_after: int | None = None
