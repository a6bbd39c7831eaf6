"""corvid-agent's task, rendered from ours: pure, no queries, no clock.

Its clients know only ``completed`` and ``failed`` as ends, never see a task go backwards, and read the
first part of the last agent message as the answer or the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mailbox import content, json_text
from mailbox.models import Lease, Message, Result, Task

OUTCOME_STATE: Mapping[Task.Outcome, str] = {
    Task.Outcome.OK: "completed",
    Task.Outcome.PARTIAL: "completed",
    Task.Outcome.ERROR: "failed",
    Task.Outcome.CANCELLED: "failed",
    Task.Outcome.REJECTED: "failed",
    Task.Outcome.EXPIRED: "failed",
}


def state(task: Task) -> str:
    """Return the word for this dialect; a task that was ever leased never reads ``submitted`` again."""
    if task.outcome is not None:
        return OUTCOME_STATE[Task.Outcome(task.outcome)]
    return "submitted" if task.state == Task.State.QUEUED and task.attempt == 0 else "working"


def task(row: Task, *, lease: Lease | None, said: Sequence[Message], result: Result | None) -> dict[str, Any]:
    """Render an A2ATask; ``lease`` is the newest one, whose id is the session's."""
    messages = [_message("user", row.intent_text)]
    messages += [_message("agent", text) for text in _agent_texts(said, result)]
    moments = [row.sent_at, row.resolved_at, lease.leased_at if lease else None, said[-1].said_at if said else None]
    return {
        "id": row.uuid,
        "state": state(row),
        "messages": messages,
        "sessionId": lease.lease_id if lease else None,
        "createdAt": iso(row.sent_at),
        "updatedAt": iso(max(moment for moment in moments if moment is not None)),
    }


def _agent_texts(said: Sequence[Message], result: Result | None) -> Iterator[str]:
    """Yield what the agent said, oldest first, the result's text last; a failure's reason is always the last."""
    texts = [text for message in said if (text := _text(message.blocks))]
    yield from texts
    if result is None:
        return
    last = _text(result.blocks)
    if result.status == Result.Status.ERROR:
        last = result.error_message or last or "Task failed"
    if last and (not texts or texts[-1] != last):
        yield last


def _text(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of content blocks; JSON where there is no text at all."""
    values = [block["value"] for block in blocks if block.get("type") == "json"]
    return content.text_of(blocks) or "\n".join(json_text.dumps(value) for value in values)


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "text": text}]}


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
