"""Repairs, the retry gate, cached results and callbacks as JSON. Source: Covenant A2A, "Lease repair"."""

from datetime import timedelta
from typing import Literal, NotRequired
from uuid import UUID

from typing_extensions import TypedDict

from mailbox.access.callers import Caller
from mailbox.dialects.base.wire import AgentId, agent_id
from mailbox.dialects.covenant.wire import ResultStatus, WireResult, choice, ms, result
from mailbox.models import Lease, PushDelivery, ReplayEntry, Result, Task
from mailbox.repairs.retry import RetryPolicy, RetryReport
from mailbox.words import redaction
from mailbox.words.times import epoch_ms


class RepairOutcome(TypedDict):
    """The outcome of a repair. ``result`` is left out after a requeue."""

    task_id: UUID
    action: Literal["requeued", "forced_error"]
    state: Literal["queued", "result_pending"]
    attempt: int
    result: NotRequired[WireResult]


def requeued(row: Task) -> RepairOutcome:
    """Render an A2ARepairOutcome of a requeue. ``attempt`` is the attempt of the ended lease."""
    return {"task_id": row.uuid, "action": "requeued", "state": "queued", "attempt": row.attempt}


def forced_error(row: Result) -> RepairOutcome:
    """Render an A2ARepairOutcome of a forced error, with the result that the sender will drain."""
    return {
        "task_id": row.task.uuid,
        "action": "forced_error",
        "state": "result_pending",
        "attempt": row.task.attempt,
        "result": result(row),
    }


class Repaired(TypedDict):
    kind: Literal["a2a_repaired"]
    outcome: RepairOutcome


class WirePolicy(TypedDict):
    """The limits of the pass."""

    enabled: bool
    min_lease_age_ms: int
    max_attempts: int
    max_requeues: int
    scan_limit: int


def retry_policy(policy: RetryPolicy) -> WirePolicy:
    """Render an A2AAutoRetryPolicy with its five keys."""
    return {
        "enabled": policy.enabled,
        "min_lease_age_ms": policy.min_lease_age // timedelta(milliseconds=1),
        "max_attempts": policy.max_attempts,
        "max_requeues": policy.max_requeues,
        "scan_limit": policy.scan_limit,
    }


class RetriedRow(TypedDict):
    """A task that the pass requeued, or would requeue if it were enabled."""

    task_id: UUID
    lease_id: UUID
    attempt: int
    idempotency_key: str


def _retried(row: Lease) -> RetriedRow:
    return {
        "task_id": row.task.uuid,
        "lease_id": row.lease_id,
        "attempt": row.attempt,
        "idempotency_key": row.task.idempotency_key or "",
    }


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


def retry_report(report: RetryReport) -> WireReport:
    """Render an A2AAutoRetryReport. ``would_requeue`` holds the leases that a dry run left alone."""
    return {
        "policy": retry_policy(report.policy),
        "considered": report.considered,
        "requeued": [_retried(row) for row in report.requeued],
        "would_requeue": [_retried(row) for row in report.would_requeue],
        "skipped": [
            {
                "task_id": skip.lease.task.uuid,
                "reason": skip.reason,
                "attempt": skip.lease.attempt,
                "lease_age_ms": skip.age // timedelta(milliseconds=1),
            }
            for skip in report.skipped
        ],
    }


class AutoRetried(TypedDict):
    kind: Literal["a2a_auto_retry"]
    report: WireReport


class Compacted(TypedDict):
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


def replay_entry(row: ReplayEntry) -> WireReplayEntry:
    """Render a cached result with the number of its hits."""
    return {
        "id": row.pk,
        "sender_pubkey_b58": row.sender_pubkey,
        "recipient_pubkey_b58": row.recipient_pubkey,
        "task_kind": row.task_kind,
        "key": row.key,
        "source_task_id": row.source_task_id,
        "status": choice(row.status),
        "hits": row.hits,
        "stored_at_ms": epoch_ms(row.stored_at),
        "last_hit_at_ms": ms(row.last_hit_at),
        "expires_at_ms": ms(row.expires_at),
    }


class ReplayEntries(TypedDict):
    kind: Literal["a2a_replay_entries"]
    entries: list[WireReplayEntry]
    next_cursor: str | None


class ReplayDropped(TypedDict):
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


def delivery(row: PushDelivery, caller: Caller) -> WireDelivery:
    """Render a callback with its attempts and without its secret.

    Its sender sees the whole URL. People see it without its query, where tokens often are.
    """
    return {
        "delivery_id": row.delivery_id,
        "task_id": row.task_uuid,
        "sender": agent_id(row.sender),
        "url": row.url if caller.agent else redaction.url(row.url),
        "signed": row.sealed_secret is not None,
        "state": choice(row.shown_state),
        "event": row.event,
        "attempts": row.attempts,
        "created_at_ms": epoch_ms(row.created_at),
        "next_attempt_at_ms": epoch_ms(row.next_attempt_at) if row.state in PushDelivery.UNDER_WAY else None,
        "delivered_at_ms": ms(row.delivered_at),
        "log": [
            {
                "number": one.number,
                "at_ms": epoch_ms(one.at),
                "status": one.status,
                "problem": one.problem if caller.agent else redaction.text(one.problem),
            }
            for one in sorted(row.log.all(), key=lambda attempt: attempt.number)
        ],
    }


class ListedDeliveries(TypedDict):
    kind: Literal["a2a_deliveries"]
    deliveries: list[WireDelivery]
    next_cursor: str | None


class Resent(TypedDict):
    kind: Literal["a2a_delivery_resent"]
    delivery_id: UUID
