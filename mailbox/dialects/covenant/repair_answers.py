"""The answers of the routes for repair, retry, compaction, cached results and callbacks, for the OpenAPI document."""

from __future__ import annotations

from typing import Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel
from typing_extensions import TypedDict

from mailbox.dialects.base.wire import AgentId
from mailbox.dialects.covenant.answers import ResultStatus, WireResult


class RepairOutcome(TypedDict):
    """The outcome of a repair. ``result`` is left out after a requeue."""

    task_id: UUID
    action: Literal["requeued", "forced_error"]
    state: Literal["queued", "result_pending"]
    attempt: int
    result: NotRequired[WireResult]


class Repaired(BaseModel):
    kind: Literal["a2a_repaired"]
    outcome: RepairOutcome


class WirePolicy(TypedDict):
    """The limits of the pass."""

    enabled: bool
    min_lease_age_ms: int
    max_attempts: int
    max_requeues: int
    scan_limit: int


class RetriedRow(TypedDict):
    """A task that the pass requeued, or would requeue if it were enabled."""

    task_id: UUID
    lease_id: UUID
    attempt: int
    idempotency_key: str


class SkippedRow(TypedDict):
    """A leased task that the pass left alone, with the reason."""

    task_id: UUID
    reason: str
    attempt: int
    lease_age_ms: int


class WireReport(TypedDict):
    """The outcome of one pass of the retry gate."""

    policy: WirePolicy
    considered: int
    requeued: list[RetriedRow]
    would_requeue: list[RetriedRow]
    skipped: list[SkippedRow]


class AutoRetried(BaseModel):
    kind: Literal["a2a_auto_retry"]
    report: WireReport


class Compacted(BaseModel):
    kind: Literal["a2a_compacted"]
    dropped: int


class WireReplayEntry(TypedDict):
    """A cached result. ``hits`` counts the duplicates that it answered."""

    id: int
    sender_pubkey_b58: str
    recipient_pubkey_b58: str
    task_kind: str
    key: str
    source_task_id: UUID
    status: ResultStatus
    hits: int
    stored_at_ms: int
    last_hit_at_ms: int | None
    expires_at_ms: int | None


class ReplayEntries(BaseModel):
    kind: Literal["a2a_replay_entries"]
    entries: list[WireReplayEntry]
    next_cursor: str | None


class ReplayDropped(BaseModel):
    kind: Literal["a2a_replay_dropped"]
    id: int


class WireAttempt(TypedDict):
    """One attempt to deliver a callback. ``status`` is null when the receiver did not answer."""

    number: int
    at_ms: int
    status: int | None
    problem: str


class WireDelivery(TypedDict):
    """A callback or an event of a webhook, and its attempts. The secret is never shown."""

    delivery_id: UUID
    task_id: UUID
    sender: AgentId
    url: str
    signed: bool
    state: Literal["pending", "delivered", "disabled"]
    event: str | None  # id of the event in the official protocol; None: a callback
    attempts: int
    created_at_ms: int
    next_attempt_at_ms: int | None
    delivered_at_ms: int | None
    log: list[WireAttempt]


class ListedDeliveries(BaseModel):
    kind: Literal["a2a_deliveries"]
    deliveries: list[WireDelivery]
    next_cursor: str | None


class Resent(BaseModel):
    kind: Literal["a2a_delivery_resent"]
    delivery_id: UUID
