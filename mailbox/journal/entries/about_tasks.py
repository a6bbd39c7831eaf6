"""Rows about tasks and passes over them that are not part of a task's life."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NotRequired, TypedDict
from uuid import UUID

from mailbox.words.kinds import Entry, Kind


class SenderMismatchData(TypedDict):
    peer_display: Annotated[str, "display of the caller"]
    claimed_sender_display: Annotated[str, "the sender that the request named"]


def sender_mismatch(task_id: UUID | None, caller: str, claimed_sender: str) -> Entry[SenderMismatchData]:
    """Record that a send was refused because it named another agent as its sender."""
    data = SenderMismatchData(peer_display=caller, claimed_sender_display=claimed_sender)
    return Entry(Kind.SENDER_MISMATCH, data, task_id)


class ResultRejectedData(TypedDict):
    reason: Annotated[str, "code of the error"]


def result_rejected(task_id: UUID, reason: str) -> Entry[ResultRejectedData]:
    """Record that a result was refused for the state of its task, or because its task is unknown to the caller."""
    return Entry(Kind.RESULT_REJECTED, ResultRejectedData(reason=reason), task_id)


class TasksCompactedData(TypedDict):
    reason: Annotated[str, "retention, cap, or cleared for a request to delete all finished tasks of a dialect"]
    sender: Annotated[str, "public key of the sender"]
    recipient: Annotated[str, "public key of the recipient"]
    outcome: Annotated[str, "how the task ended"]
    attempt: Annotated[int, "number of its leases"]
    context_id: Annotated[str | None, "its conversation; null without one"]
    sent_at: Annotated[str, "time of the send, in ISO 8601"]
    resolved_at: Annotated[str, "time of its end, in ISO 8601"]
    request_digest: Annotated[str | None, "keyed digest of its content; null if a callback's secret was unreadable"]
    result_digest: Annotated[str, "keyed digest of its result"]


def tasks_compacted(
    task_id: UUID,
    reason: str,
    *,
    sender: str,
    recipient: str,
    outcome: str,
    attempt: int,
    context_id: str | None,
    sent_at: datetime,
    resolved_at: datetime,
    request_digest: str | None,
    result_digest: str,
) -> Entry[TasksCompactedData]:
    """Record that a finished task was deleted with its leases, messages and result.

    With the digests the hub recognises a repeated send or result. Rows of the first versions have the reason alone.
    """
    data = TasksCompactedData(
        reason=reason,
        sender=sender,
        recipient=recipient,
        outcome=outcome,
        attempt=attempt,
        context_id=context_id,
        sent_at=sent_at.isoformat(),
        resolved_at=resolved_at.isoformat(),
        request_digest=request_digest,
        result_digest=result_digest,
    )
    return Entry(Kind.TASKS_COMPACTED, data, task_id)


class ReplayDroppedData(TypedDict):
    id: Annotated[int, "number of the cache entry"]
    key: Annotated[str, "idempotency key of the cached work"]
    source_task_id: Annotated[str, "id of the task that earned the result"]
    reason: Annotated[str, "why an operator deleted it; expired at the end of its time to live"]


def replay_dropped(entry_id: int, key: str, source_task_id: UUID, reason: str) -> Entry[ReplayDroppedData]:
    """Record that a cached result was deleted."""
    data = ReplayDroppedData(id=entry_id, key=key, source_task_id=str(source_task_id), reason=reason)
    return Entry(Kind.REPLAY_DROPPED, data, source_task_id)


class PushConfigSetData(TypedDict):
    config_id: Annotated[str, "id of the webhook within its task"]
    receiver: Annotated[str, "scheme, host and port of its URL"]


def push_config_set(task_id: UUID, config_id: str, receiver: str) -> Entry[PushConfigSetData]:
    """Record that the sender of a task set a webhook for it, or replaced one."""
    return Entry(Kind.PUSH_CONFIG_SET, PushConfigSetData(config_id=config_id, receiver=receiver), task_id)


class PushConfigDeletedData(TypedDict):
    config_id: Annotated[str, "id of the webhook within its task"]
    receiver: Annotated[str, "scheme, host and port of its URL"]


def push_config_deleted(task_id: UUID, config_id: str, receiver: str) -> Entry[PushConfigDeletedData]:
    """Record that the sender of a task deleted a webhook of it."""
    return Entry(Kind.PUSH_CONFIG_DELETED, PushConfigDeletedData(config_id=config_id, receiver=receiver), task_id)


class PushResentData(TypedDict):
    delivery_id: Annotated[str, "id of the delivery"]
    reason: Annotated[str, "why an operator sent it again"]


def push_resent(task_id: UUID, delivery_id: UUID, reason: str) -> Entry[PushResentData]:
    """Record that a callback, or an event of a webhook, was made due again."""
    return Entry(Kind.PUSH_RESENT, PushResentData(delivery_id=str(delivery_id), reason=reason), task_id)


class RepairRefusedData(TypedDict):
    action: Annotated[str, "requeue or force_error"]
    reason: Annotated[str, "code of the error"]
    given_reason: NotRequired[Annotated[str, "why the caller wanted the repair; absent in rows of version 1.0"]]
    lease_id: NotRequired[Annotated[str, "lease that the caller saw; absent without one, and in rows of version 1.0"]]


def repair_refused(
    task_id: UUID, action: str, reason: str, *, given_reason: str, lease_id: UUID | None
) -> Entry[RepairRefusedData]:
    """Record that a repair was refused for another reason than a missing capability."""
    data = RepairRefusedData(action=action, reason=reason, given_reason=given_reason)
    if lease_id is not None:
        data["lease_id"] = str(lease_id)
    return Entry(Kind.REPAIR_REFUSED, data, task_id)


class RepairPlanMadeData(TypedDict):
    plan: Annotated[int, "number of the plan"]
    action: Annotated[str, "requeue, force_error or send_again"]
    leases: Annotated[int, "number of leases or failed tasks in the plan"]
    query: Annotated[str, "search that chose the leases"]
    among: Annotated[str, "search of the list from which a person picked the leases by hand"]


def repair_plan_made(plan: int, action: str, *, leases: int, query: str, among: str) -> Entry[RepairPlanMadeData]:
    """Record that a person planned a repair of many leases."""
    data = RepairPlanMadeData(plan=plan, action=action, leases=leases, query=query, among=among)
    return Entry(Kind.REPAIR_PLAN_MADE, data)


class RepairPlanAppliedData(TypedDict):
    plan: Annotated[int, "number of the plan"]
    action: Annotated[str, "requeue, force_error or send_again"]
    leases: Annotated[int, "number of leases to repair, or of tasks to send again"]
    reason: Annotated[str, "why the leases are repaired"]
    with_unsafe: Annotated[bool, "whether leases of work that is not safe to repeat are repaired too"]


def repair_plan_applied(
    plan: int, action: str, *, leases: int, reason: str, with_unsafe: bool
) -> Entry[RepairPlanAppliedData]:
    """Record that a person decided to carry out a plan; each lease then has a row of its own."""
    data = RepairPlanAppliedData(plan=plan, action=action, leases=leases, reason=reason, with_unsafe=with_unsafe)
    return Entry(Kind.REPAIR_PLAN_APPLIED, data)


class RepairPlanDiscardedData(TypedDict):
    plan: Annotated[int, "number of the plan"]
    action: Annotated[str, "requeue, force_error or send_again"]


def repair_plan_discarded(plan: int, action: str) -> Entry[RepairPlanDiscardedData]:
    """Record that a person discarded a plan."""
    return Entry(Kind.REPAIR_PLAN_DISCARDED, RepairPlanDiscardedData(plan=plan, action=action))


class AutoRetryScanData(TypedDict):
    enabled: Annotated[bool, "false for a dry run, which changes nothing"]
    considered: Annotated[int, "number of leases that the pass examined"]
    requeued: Annotated[int, "number of tasks that it requeued"]
    skipped: Annotated[int, "number of leases that it left alone"]
    skipped_by_reason: Annotated[dict[str, int], "number of leases left alone, by reason"]
    min_lease_age_ms: Annotated[int, "bound: least age of a lease, in milliseconds"]
    max_attempts: Annotated[
        int, "bound: a task with this many leases is left alone; leases that ended with a question do not count"
    ]
    max_requeues: Annotated[int, "bound: requeues in one pass"]
    scan_limit: Annotated[int, "bound: leases examined in one pass"]
    error: Annotated[str | None, "why the pass failed; null for a pass that succeeded"]
    reason: NotRequired[Annotated[str, "why a person ran the pass; absent for a pass of the scheduler"]]


def auto_retry_scan(
    *,
    is_enabled: bool,
    considered: int,
    requeued: int,
    skipped_by_reason: Mapping[str, int],
    bounds: Mapping[str, int],
    error: str | None,
    reason: str | None,
) -> Entry[AutoRetryScanData]:
    """Record that the retry gate ran once, on its timer or by hand. Each requeue has a row of its own.

    ``bounds`` are the four bounds by name.
    """
    data = AutoRetryScanData(
        enabled=is_enabled,
        considered=considered,
        requeued=requeued,
        skipped=sum(skipped_by_reason.values()),
        skipped_by_reason=dict(skipped_by_reason),
        min_lease_age_ms=bounds["min_lease_age_ms"],
        max_attempts=bounds["max_attempts"],
        max_requeues=bounds["max_requeues"],
        scan_limit=bounds["scan_limit"],
        error=error,
    )
    if reason is not None:
        data["reason"] = reason
    return Entry(Kind.AUTO_RETRY_SCAN, data)


class SweepFailedData(TypedDict):
    step: Annotated[str, "name of the step"]
    error: Annotated[str, "message of the error"]


def sweep_failed(step: str, error: str) -> Entry[SweepFailedData]:
    """Record that a step of the sweep failed; the next sweep tries it again."""
    return Entry(Kind.SWEEP_FAILED, SweepFailedData(step=step, error=error))
