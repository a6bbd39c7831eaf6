"""Repairs, the retry gate, cached results and callbacks as JSON. Source: Covenant A2A, "Lease repair"."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from mailbox.access.callers import Caller
from mailbox.dialects.covenant.wire import agent_id, choice, ms, result
from mailbox.models import Lease, PushDelivery, ReplayEntry, Result, Task
from mailbox.repairs.retry import RetryPolicy, RetryReport
from mailbox.words import redaction
from mailbox.words.times import epoch_ms

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.covenant import repair_answers as answers


def requeued(row: Task) -> answers.RepairOutcome:
    """Render an A2ARepairOutcome of a requeue. ``attempt`` is the attempt of the ended lease."""
    return {"task_id": row.uuid, "action": "requeued", "state": "queued", "attempt": row.attempt}


def forced_error(row: Result) -> answers.RepairOutcome:
    """Render an A2ARepairOutcome of a forced error, with the result that the sender will drain."""
    return {
        "task_id": row.task.uuid,
        "action": "forced_error",
        "state": "result_pending",
        "attempt": row.task.attempt,
        "result": result(row),
    }


def retry_report(report: RetryReport) -> answers.WireReport:
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


def retry_policy(policy: RetryPolicy) -> answers.WirePolicy:
    """Render an A2AAutoRetryPolicy with its five keys."""
    return {
        "enabled": policy.enabled,
        "min_lease_age_ms": policy.min_lease_age // timedelta(milliseconds=1),
        "max_attempts": policy.max_attempts,
        "max_requeues": policy.max_requeues,
        "scan_limit": policy.scan_limit,
    }


def _retried(row: Lease) -> answers.RetriedRow:
    return {
        "task_id": row.task.uuid,
        "lease_id": row.lease_id,
        "attempt": row.attempt,
        "idempotency_key": row.task.idempotency_key or "",
    }


def replay_entry(row: ReplayEntry) -> answers.WireReplayEntry:
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


def delivery(row: PushDelivery, caller: Caller) -> answers.WireDelivery:
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
            for one in sorted(row.log.all(), key=lambda one: one.number)
        ],
    }
