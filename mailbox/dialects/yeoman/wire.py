"""Tasks and peers as YEOMAN's systems spell them: pure, no queries, no clock.

Source: Agnostic, TaskStatusResponse; SecureYeoman, PeerAgent.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailbox.envelopes import ResultEnvelope, ResultStatus
from mailbox.models import Peer, Result, Task
from mailbox.models.task import epoch_ms

UNRESOLVED: Mapping[str, str] = {Task.State.QUEUED: "pending", Task.State.IN_FLIGHT: "running"}
# Their pollers stop at completed, failed and cancelled only, so a partial result is a completed one.
OUTCOMES: Mapping[str, str] = {
    Task.Outcome.OK: "completed",
    Task.Outcome.PARTIAL: "completed",
    Task.Outcome.ERROR: "failed",
    Task.Outcome.CANCELLED: "cancelled",
    Task.Outcome.REJECTED: "failed",
    Task.Outcome.EXPIRED: "failed",
}
RESULT_WORDS: Mapping[str, ResultStatus] = {
    "failed": ResultStatus.ERROR,
    "error": ResultStatus.ERROR,
    "cancelled": ResultStatus.ERROR,
    "partial": ResultStatus.PARTIAL,
}


def status(row: Task) -> str:
    """Return the word of this dialect for where the task is; a requeued one is pending again."""
    return OUTCOMES[row.outcome] if row.outcome is not None else UNRESOLVED[row.state]


def session_id(task_id: UUID, sent_at: datetime) -> str:
    return f"session_{sent_at.astimezone(UTC):%Y%m%d_%H%M%S}_{task_id.hex[:8]}"


def task(row: Task, result: Result | None) -> dict[str, Any]:
    """Render a TaskStatusResponse; the result is null until there is one."""
    moments = [row.sent_at, row.queued_at, row.resolved_at]
    return {
        "task_id": str(row.uuid),
        "session_id": row.context_id or session_id(row.uuid, row.sent_at),
        "status": status(row),
        "created_at": _iso(row.sent_at),
        "updated_at": _iso(max(moment for moment in moments if moment is not None)),
        "result": _result(result) if result is not None else None,
    }


def result_envelope(task_id: UUID, content: Mapping[str, Any]) -> ResultEnvelope:
    """Read the payload of an ``a2a:result``: an object becomes a json block, text a text block.

    It is an error where its status says so, or where an object without a status carries an ``error``.
    """
    given = content.get("result")
    inner = given if isinstance(given, Mapping) else {}
    word = content.get("status") or inner.get("status")
    said = content.get("error") or inner.get("error")
    outcome = RESULT_WORDS.get(word, ResultStatus.OK) if isinstance(word, str) else ResultStatus.OK
    if not word and said:
        outcome = ResultStatus.ERROR
    block = {"type": "text", "text": given} if isinstance(given, str) else {"type": "json", "value": given}
    return ResultEnvelope(
        task_id=task_id,
        status=outcome,
        content=[] if given is None else [block],
        error_message=said if isinstance(said, str) and outcome is ResultStatus.ERROR else None,
    )


def peer(row: Peer, now: datetime) -> dict[str, Any]:
    """Render a PeerAgent. Its trust is never more than ``untrusted``: what it says of itself proves nothing."""
    return {
        "id": row.peer_id,
        "name": row.name,
        "url": row.url,
        "publicKey": row.agent.pubkey,
        "trustLevel": "untrusted",
        "capabilities": row.announced,
        "lastSeen": epoch_ms(row.last_seen_at),
        "status": row.status(now),
    }


def _result(row: Result) -> dict[str, Any]:
    if row.status == Result.Status.ERROR:
        return {"error": row.error_message or "failed"}
    return {"content": row.blocks}


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
