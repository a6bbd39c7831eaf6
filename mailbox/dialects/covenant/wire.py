"""Covenant's JSON, both ways: pure, no queries, no clock.

Source: Covenant A2A, "Wire types" and "Daemon-mediated flow". ``kind`` follows the seed's spelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import orjson
from pydantic import Field

from mailbox.dialects.fields import AgentField, EpochMs, Exact, Lax, Text
from mailbox.envelopes import DuplicateSafety, Idempotency, ResultEnvelope, ResultStatus, TaskEnvelope
from mailbox.inspection import Node, QueueEntry, QueueFilter
from mailbox.models import Agent, AuditEvent, CapabilityGrant, Lease, Result, Task
from mailbox.models.task import epoch_ms
from mailbox.registration import Registration

MAX_MS = 2**53  # far beyond any age or distance that can be told in datetimes
MAX_SPAN = timedelta(days=365_000)


class IdempotencyBody(Lax):
    duplicate_safety: Literal["unsafe", "idempotent"]
    key: Text


class TaskBody(Lax):
    """An A2ATask. Ours beyond the seed: ``id`` and ``sender`` may be left out."""

    id: UUID | None = None
    sender: AgentField | None = None
    recipient: AgentField
    intent_text: Text
    task_kind: Text | None = None
    parent: UUID | None = None
    deadline_ms: EpochMs | None = None
    idempotency: IdempotencyBody | None = None

    def envelope(self) -> TaskEnvelope:
        idempotency = None
        if (given := self.idempotency) is not None:
            idempotency = Idempotency(duplicate_safety=DuplicateSafety(given.duplicate_safety), key=given.key)
        return TaskEnvelope(
            id=self.id,
            sender=self.sender,
            recipient=self.recipient,
            intent_text=self.intent_text,
            task_kind=self.task_kind,
            parent=self.parent,
            deadline_ms=self.deadline_ms,
            idempotency=idempotency,
        )


class ResultBody(Lax):
    """An A2ATaskResult, and ours: ``lease_id`` as the fence."""

    task_id: UUID
    status: Literal["ok", "error", "partial"]
    content: list[dict[str, Any]] = []
    error_message: Text | None = None
    lease_id: UUID | None = None

    def envelope(self) -> ResultEnvelope:
        return ResultEnvelope(
            task_id=self.task_id,
            status=ResultStatus(self.status),
            content=self.content,
            error_message=self.error_message,
            lease_id=self.lease_id,
        )


class NextTask(Exact):
    """How to receive a task, in the query or the body."""

    wait_ms: int = Field(0, ge=0, le=60_000)
    attempt_id: UUID | None = None


class NextResult(NextTask):
    ack: UUID | None = None  # the task whose result this call acknowledges


class AckBody(Exact):
    task_ids: list[UUID] = Field(min_length=1, max_length=1000)


class ReleaseBody(Exact):
    reason: Text
    lease_id: UUID | None = None


class HeartbeatBody(Exact):
    lease_id: UUID | None = None


class CancelBody(Exact):
    reason: Text = ""


class ListQuery(Exact):
    limit: int = Field(10, ge=1, le=1000)
    cursor: str | None = None


class TimelineQuery(ListQuery):
    limit: int = Field(100, ge=1, le=1000)


class QueueQuery(ListQuery):
    state_filter: Literal["queued", "in_flight"] | None = None
    min_lease_age_ms: int | None = Field(None, ge=0, le=MAX_MS)
    deadline_within_ms: int | None = Field(None, ge=0, le=MAX_MS)

    def filter(self) -> QueueFilter:
        return QueueFilter(
            state=Task.State(self.state_filter) if self.state_filter else None,
            min_lease_age=_span(self.min_lease_age_ms),
            deadline_within=_span(self.deadline_within_ms),
        )


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


def result(row: Result) -> dict[str, Any]:
    """Render an A2ATaskResult; the content goes out as the text it came in."""
    rendered = {"task_id": row.task.uuid, "status": row.status, "content": orjson.Fragment(row.content)}
    if row.error_message is not None:
        rendered["error_message"] = row.error_message
    return rendered


def lease(row: Lease) -> dict[str, Any]:
    """Render what a holder needs to know of its lease."""
    return {
        "lease_id": row.lease_id,
        "attempt": row.attempt,
        "leased_at_ms": epoch_ms(row.leased_at),
        "last_seen_at_ms": epoch_ms(row.last_seen_at),
    }


def held(row: Lease) -> dict[str, Any]:
    """Render a live lease with its task."""
    return {"task": task(row.task), "leased_to": agent_id(row.holder), **lease(row)}


def queue_entry(entry: QueueEntry) -> dict[str, Any]:
    """Render an A2ATaskQueueEntry; a queued one has no lease keys."""
    rendered: dict[str, Any] = {
        "state": entry.task.state,
        "task": task(entry.task),
        "attempt": entry.task.attempt,
    }
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
        "outcome": row.outcome,
        "sent_at_ms": epoch_ms(row.sent_at),
        "queued_at_ms": epoch_ms(row.queued_at),
        "resolved_at_ms": _ms(row.resolved_at),
    }


def status(asked: QueueQuery, entries: Sequence[QueueEntry], pending: Sequence[Result]) -> dict[str, Any]:
    """Render the command line's one object: exactly seven keys, null for a filter that is not active."""
    return {
        "kind": "a2a_status",
        "limit": asked.limit,
        "min_lease_age_ms": asked.min_lease_age_ms,
        "deadline_within_ms": asked.deadline_within_ms,
        "state_filter": asked.state_filter,
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


def registration(made: Registration) -> dict[str, Any]:
    """Render a new agent with the secrets that are shown this once."""
    return {
        "kind": "a2a_agent",
        "agent": agent_id(made.agent),
        "private_key": made.private_key,
        "api_key": made.api_key,
    }


def capability(row: CapabilityGrant) -> dict[str, Any]:
    """Render a grant, dead or alive."""
    return {
        "grant_id": row.grant_id,
        "subject": agent_id(row.subject),
        "action": row.action,
        "scope": orjson.Fragment(row.scope),
        "granted_by": row.granted_by,
        "expires_at": _ms(row.expires_at),
        "max_uses": row.max_uses,
        "uses": row.uses,
        "created_at_ms": epoch_ms(row.created_at),
        "revoked_at_ms": _ms(row.revoked_at),
    }


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else epoch_ms(moment)


def _span(milliseconds: int | None) -> timedelta | None:
    return None if milliseconds is None else min(timedelta(milliseconds=milliseconds), MAX_SPAN)
