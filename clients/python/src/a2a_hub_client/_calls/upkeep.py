"""Requests of operators: the queue, the journal, repairs, cached results and callbacks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from a2a_hub_client._calls.call import Call, Id, Page, get, inner, nothing, page, path, post, whole
from a2a_hub_client.models.tasks import QueueEntry, Task, TaskEntry
from a2a_hub_client.models.upkeep import (
    Delivery,
    HubStatus,
    JournalEvent,
    RepairOutcome,
    ReplayEntry,
    RetryReport,
    Verification,
)
from a2a_hub_client.models.wire import epoch_ms, milliseconds
from a2a_hub_client.retry import Duration

MANY = 100  # items of a page
_queue, _tasks, _events = page("tasks", QueueEntry), page("tasks", Task), page("events", JournalEvent)
_entries, _deliveries = page("entries", ReplayEntry), page("deliveries", Delivery)
_outcome, _report, _dropped = inner("outcome", RepairOutcome), inner("report", RetryReport), inner("dropped", int)
_task_entries = page("entries", TaskEntry)
_status, _verification = whole(HubStatus), whole(Verification)


def queue(
    cursor: str | None = None,
    *,
    state: str | None = None,
    min_lease_age: Duration | None = None,
    deadline_within: Duration | None = None,
) -> Call[Page[QueueEntry]]:
    return get(
        "/a2a/queue",
        _queue,
        cursor=cursor,
        limit=MANY,
        state_filter=state,
        min_lease_age_ms=None if min_lease_age is None else milliseconds(min_lease_age),
        deadline_within_ms=None if deadline_within is None else milliseconds(deadline_within),
    )


def status(limit: int = 10) -> Call[HubStatus]:
    return get("/a2a/status", _status, limit=limit)


def tasks(cursor: str | None = None) -> Call[Page[TaskEntry]]:
    return get("/a2a/tasks", _task_entries, cursor=cursor, limit=MANY)


def queued_tasks(cursor: str | None = None) -> Call[Page[Task]]:
    return get("/a2a/tasks/recent", _tasks, cursor=cursor, limit=MANY)


def journal(cursor: str | None = None, *, since: datetime | None = None) -> Call[Page[JournalEvent]]:
    since_ms = None if since is None else epoch_ms(since)
    return get("/audit/recent", _events, cursor=cursor, limit=MANY, since_ms=since_ms)


def verify_journal(
    *, from_row: int = 1, to_row: int | None = None, after: int | None = None, blocks: int = 10, head: str | None = None
) -> Call[Verification]:
    return get("/audit/verify", _verification, from_row=from_row, to_row=to_row, after=after, blocks=blocks, head=head)


def requeue(
    task_id: Id, reason: str, *, duplicate_risk: Literal["idempotent", "operator_accepted"], lease_id: Id | None = None
) -> Call[RepairOutcome]:
    command = {"action": "requeue", "duplicate_risk": duplicate_risk, "lease_id": lease_id}
    return _repair(task_id, command, reason)


def force_error(task_id: Id, message: str, reason: str, lease_id: Id | None = None) -> Call[RepairOutcome]:
    return _repair(task_id, {"action": "force_error", "message": message, "lease_id": lease_id}, reason)


def _repair(task_id: Id, command: Mapping[str, object], reason: str) -> Call[RepairOutcome]:
    given = {name: value for name, value in command.items() if value is not None}
    fields = {"task_id": task_id, "command": given, "reason": reason}
    return post("/a2a/repair", fields, _outcome, is_repeatable="lease_id" in given)


def retry_stale(
    *,
    enabled: bool = False,
    min_lease_age: Duration | None = None,
    max_attempts: int | None = None,
    max_requeues: int | None = None,
    scan_limit: int | None = None,
) -> Call[RetryReport]:
    fields = {
        "enabled": enabled,
        "min_lease_age_ms": None if min_lease_age is None else milliseconds(min_lease_age),
        "max_attempts": max_attempts,
        "max_requeues": max_requeues,
        "scan_limit": scan_limit,
    }
    return post("/a2a/retry-stale", fields, _report, is_repeatable=not enabled)


def compact() -> Call[int]:
    """Delete finished tasks. The answer is their number."""
    return post("/a2a/compact", {}, _dropped, is_repeatable=False)


def replay_entries(cursor: str | None = None) -> Call[Page[ReplayEntry]]:
    return get("/a2a/replay-entries", _entries, cursor=cursor, limit=MANY)


def drop_replay_entry(entry_id: int, reason: str, source_task_id: Id | None = None) -> Call[None]:
    fields = {"id": entry_id, "reason": reason, "source_task_id": source_task_id}
    return post("/a2a/replay-entries/drop", fields, nothing, is_repeatable=False)


def deliveries(cursor: str | None = None) -> Call[Page[Delivery]]:
    return get("/a2a/deliveries", _deliveries, cursor=cursor, limit=MANY)


def resend_delivery(delivery_id: Id, reason: str) -> Call[None]:
    return post(path("a2a", "deliveries", delivery_id, "resend"), {"reason": reason}, nothing, is_repeatable=False)
