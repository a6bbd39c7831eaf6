"""What the routes for repair, retry, compaction and the replay cache answer, for the OpenAPI document."""

from __future__ import annotations

from typing import Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel
from typing_extensions import TypedDict

from mailbox.dialects.base.fields import AgentId
from mailbox.dialects.covenant.answers import ResultStatus, WireResult


class RepairOutcome(TypedDict):
    """``result`` is there for a forced error only."""

    task_id: UUID
    action: Literal["requeued", "forced_error"]
    state: Literal["queued", "result_pending"]
    attempt: int
    result: NotRequired[WireResult]


class Repaired(BaseModel):
    kind: Literal["a2a_repaired"]
    outcome: RepairOutcome


class WirePolicy(TypedDict):
    enabled: bool
    min_lease_age_ms: int
    max_attempts: int
    max_requeues: int
    scan_limit: int


class RetriedRow(TypedDict):
    task_id: UUID
    lease_id: UUID
    attempt: int
    idempotency_key: str


class SkippedRow(TypedDict):
    task_id: UUID
    reason: str
    attempt: int
    lease_age_ms: int


class WireReport(TypedDict):
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
    number: int
    at_ms: int
    status: int | None
    problem: str


class WireDelivery(TypedDict):
    """A callback; its secret is shown by no read."""

    delivery_id: UUID
    task_id: UUID
    sender: AgentId
    url: str
    signed: bool
    state: Literal["pending", "delivered", "disabled"]
    attempts: int
    created_at_ms: int
    next_attempt_at_ms: int | None
    delivered_at_ms: int | None
    log: list[WireAttempt]


class Deliveries(BaseModel):
    kind: Literal["a2a_deliveries"]
    deliveries: list[WireDelivery]
    next_cursor: str | None


class Resent(BaseModel):
    kind: Literal["a2a_delivery_resent"]
    delivery_id: UUID
