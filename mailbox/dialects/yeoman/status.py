"""A task for its pollers and for the receiver of its callback. Pure: no queries, no clock.

Source: Agnostic, TaskStatusResponse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from mailbox.inspection.answers import Answer
from mailbox.models import Result, Task

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.yeoman.answers import TaskStatus, TaskWord

UNRESOLVED: Mapping[str, TaskWord] = {
    Task.State.QUEUED: "pending",
    Task.State.IN_FLIGHT: "running",
    Task.State.INTERRUPTED: "running",  # its agent goes on once the sender has answered
}
# Pollers stop at completed, failed and cancelled only, so a partial result reads as completed.
OUTCOMES: Mapping[str, TaskWord] = {
    Task.Outcome.OK: "completed",
    Task.Outcome.PARTIAL: "completed",
    Task.Outcome.ERROR: "failed",
    Task.Outcome.CANCELLED: "cancelled",
    Task.Outcome.REJECTED: "failed",
    Task.Outcome.EXPIRED: "failed",
}


def word(row: Task) -> TaskWord:
    """Return the task's status in Agnostic's words. A requeued task is pending again."""
    return OUTCOMES[row.outcome] if row.outcome is not None else UNRESOLVED[row.state]


def session_id(task_id: UUID, sent_at: datetime) -> str:
    return f"session_{sent_at.astimezone(UTC):%Y%m%d_%H%M%S}_{task_id.hex[:8]}"


def render(row: Task, result: Result | None, answer: Answer | None) -> TaskStatus:
    """Render a TaskStatusResponse. Its result is None until the task ends. ``answer`` is the whole answer of it.

    The start of the work moves ``updated_at`` on rows that `TaskQuerySet.whole` read.
    Messages of both parties move it, too.
    """
    moments = [row.sent_at, row.queued_at, getattr(row, "newest_leased_at", None), row.status_at, row.resolved_at]
    return {
        "task_id": str(row.uuid),
        "session_id": row.context_id or session_id(row.uuid, row.sent_at),
        "status": word(row),
        "created_at": _iso(row.sent_at),
        "updated_at": _iso(max(moment for moment in moments if moment is not None)),
        "result": _result(result, answer.blocks) if result is not None and answer is not None else None,
    }


def _result(row: Result, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Render what came of it; a failure keeps its content, any other result its message."""
    if row.status != Result.Status.ERROR:
        message = {} if row.error_message is None else {"message": row.error_message}
        return {"content": blocks, **message}
    content = {"content": blocks} if blocks else {}
    return {"error": row.error_message or "failed", **content}


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
