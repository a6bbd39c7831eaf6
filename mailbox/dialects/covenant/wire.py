"""Covenant's JSON on its way out: pure, no queries, no clock.

Source: Covenant A2A, "Wire types" and "Daemon-mediated flow". ``kind`` follows the seed's spelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from mailbox.inspection.tasks import QueueEntry
from mailbox.inspection.trees import Node
from mailbox.models import Agent, AuditEvent, Lease, Result, Task
from mailbox.words.times import epoch_ms


def agent_id(agent: Agent) -> dict[str, str]:
    return {"display": agent.display, "pubkey": agent.pubkey}


def task(row: Task) -> dict[str, Any]:
    """Render an A2ATask: four keys always, the optional ones only when set."""
    idempotency = row.idempotency_key and {"duplicate_safety": row.duplicate_safety, "key": row.idempotency_key}
    optional = {
        "task_kind": row.task_kind,
        "parent": row.parent,
        "deadline_ms": row.deadline_ms,
        "idempotency": idempotency,
    }
    return {
        "id": row.uuid,
        "sender": agent_id(row.sender),
        "recipient": agent_id(row.recipient),
        "intent_text": row.intent_text,
        **{name: value for name, value in optional.items() if value is not None},
    }


def work(row: Task) -> dict[str, Any]:
    """Render an A2ATask for whoever does it: with what its sender said beside it in a dialect that has more words.

    ``metadata`` is absent where there is none, as for every task that came in by this dialect.
    """
    return task(row) if row.metadata == "{}" else {**task(row), "metadata": orjson.Fragment(row.metadata)}


def result(row: Result) -> dict[str, Any]:
    """Render an A2ATaskResult; the content goes out as the text it came in."""
    rendered = {"task_id": row.task.uuid, "status": row.status, "content": orjson.Fragment(row.content)}
    if row.error_message is not None:
        rendered["error_message"] = row.error_message
    return rendered


def lease(row: Lease) -> dict[str, Any]:
    """Render what a holder needs to know of its lease; ``work_timeout_ms`` counts from ``leased_at_ms``, null: no end."""
    limit = row.times_out_at and row.times_out_at - row.leased_at
    return {
        "lease_id": row.lease_id,
        "attempt": row.attempt,
        "leased_at_ms": epoch_ms(row.leased_at),
        "last_seen_at_ms": epoch_ms(row.last_seen_at),
        "work_timeout_ms": limit and limit // timedelta(milliseconds=1),
    }


def held(row: Lease) -> dict[str, Any]:
    """Render a live lease with its task."""
    return {"task": work(row.task), "leased_to": agent_id(row.holder), **lease(row)}


def queue_entry(entry: QueueEntry) -> dict[str, Any]:
    """Render an A2ATaskQueueEntry; a queued one has no lease keys."""
    rendered: dict[str, Any] = {
        "state": entry.task.state,
        "task": task(entry.task),
        "attempt": entry.task.attempt,
    }
    if entry.task.waits_on is not None:
        rendered["waits_on"] = entry.task.waits_on.uuid
    if entry.lease is not None:
        rendered["lease_id"] = entry.lease.lease_id
        rendered["leased_to"] = agent_id(entry.lease.holder)
        rendered["leased_at_ms"] = epoch_ms(entry.lease.leased_at)
    return rendered


def task_entry(entry: QueueEntry) -> dict[str, Any]:
    """Render a queue entry with what a finished task adds."""
    row = entry.task
    return {
        **queue_entry(entry),
        "task": work(row),
        "outcome": row.outcome,
        "sent_at_ms": epoch_ms(row.sent_at),
        "queued_at_ms": epoch_ms(row.queued_at),
        "resolved_at_ms": ms(row.resolved_at),
    }


def status(
    entries: Sequence[QueueEntry],
    pending: Sequence[Result],
    *,
    limit: int,
    state_filter: str | None,
    min_lease_age_ms: int | None,
    deadline_within_ms: int | None,
) -> dict[str, Any]:
    """Render the command line's one object: exactly seven keys, null for a filter that is not active."""
    return {
        "kind": "a2a_status",
        "limit": limit,
        "min_lease_age_ms": min_lease_age_ms,
        "deadline_within_ms": deadline_within_ms,
        "state_filter": state_filter,
        "tasks": [queue_entry(entry) for entry in entries],
        "results": [result(row) for row in pending],
    }


def node(row: Node) -> dict[str, Any]:
    """Render one task of a tree; the order and ``depth`` give its shape."""
    return {
        "depth": row.depth,
        "state": row.task.state,
        "outcome": row.task.outcome,
        "attempt": row.task.attempt,
        "waits_on": row.task.waits_on.uuid if row.task.waits_on else None,
        "task": task(row.task),
        "result": result(row.result) if row.result else None,
    }


def event(row: AuditEvent) -> dict[str, Any]:
    """Render a journal row; ``seq`` counts within a task's life."""
    return {
        "id": row.pk,
        "kind": row.kind,
        "actor": row.actor,
        "task_id": row.task_id,
        "seq": row.seq,
        "at_ms": epoch_ms(row.at),
        "source": row.source,
        "request_id": row.request_id,
        "data": orjson.Fragment(row.data),
    }


def ms(moment: datetime | None) -> int | None:
    return None if moment is None else epoch_ms(moment)
