"""Tasks, results and messages as the tools answer them. Pure: no queries, no clock.

Language models read these answers, so keys without a value are left out, and long texts are cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import orjson

from mailbox.access.callers import Caller
from mailbox.dialects.base import actors
from mailbox.dialects.mcp import uris
from mailbox.inspection.answers import Beside, Produced
from mailbox.journal import compacted_tasks
from mailbox.models import AuditEvent, Lease, Message, Result, Task
from mailbox.words import json_text, times

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.mcp import answers

ROOM = 200_000  # bytes that a text, a message or the content of a result may have in the answer of a tool
OPENING = 500  # bytes of a text in a list
WHOLE = 2**63  # the room of an answer that cuts nothing

Json = dict[str, Any]
Details = Mapping[int, Mapping[str, Any]]


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sent(row: Task) -> Json:
    """Render a task that was sent. A repeat of a compacted task has its outcome alone: its result was deleted."""
    gone = {"compacted": True} if compacted_tasks.is_compacted(row) else {}
    outcome = {"outcome": row.outcome} if row.outcome else {}
    return {"task_id": row.uuid, "state": row.state, **outcome, **gone, "resource": uris.of_task(row.uuid)}


def task(row: Task, *, room: int = ROOM) -> answers.McpTask:
    """Render a task with at most ``room`` bytes of its text."""
    text = _cut(row.intent_text, room)
    deadline = None if row.deadline_ms is None else _iso_of_ms(row.deadline_ms)
    rendered = {
        "id": row.uuid,
        "state": row.state,
        "outcome": row.outcome,
        "awaits": row.awaits,
        "sender": row.sender.display,
        "recipient": row.recipient.display,
        "text": text,
        "is_cut": len(text) < len(row.intent_text) or None,
        "kind": row.task_kind,
        "parent": row.parent,
        "deadline": deadline,
        "work_timeout_ms": times.to_ms(row.work_timeout),
        "attempt": row.attempt,
        "sent_at": iso(row.sent_at),
        "resolved_at": None if row.resolved_at is None else iso(row.resolved_at),
        "resource": uris.of_task(row.uuid),
    }
    return cast("answers.McpTask", _present(rendered))


def work(row: Task) -> answers.McpTask:
    """Render a task for its holder, with what its sender wrote beside the text in another protocol."""
    rendered = task(row)
    if row.metadata != "{}" and len(row.metadata) <= ROOM:
        rendered["metadata"] = json_text.loads(row.metadata)
    return rendered


def _iso_of_ms(milliseconds: int) -> str | None:
    """Return the time of epoch milliseconds; None for a time that no calendar has."""
    try:
        return iso(datetime.fromtimestamp(milliseconds / 1000, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def _cut(text: str, room: int) -> str:
    if len(text) <= room // 4:  # no character has more than four bytes
        return text
    return text.encode()[:room].decode(errors="ignore")


def result(row: Result, beside: Beside | None, *, room: int = ROOM) -> answers.McpResult:
    """Render a result with what stands beside it. A content of more than ``room`` bytes is left out."""
    size = len(row.content.encode())
    rendered = {
        "status": row.status,
        "content": row.blocks if size <= room else [],
        "content_left_out": size if size > room else None,
        "error_message": None if row.error_message is None else _cut(row.error_message, room),
    }
    if beside is not None:
        closing = [dict(block) for block in beside.closing]
        rendered["message"] = closing if len(orjson.dumps(closing)) <= room and closing else None
        rendered["artifacts"] = [
            _present(
                {
                    "artifact_id": one.artifact_id,
                    "name": one.name or None,
                    "characters": one.characters,
                    "is_complete": one.is_complete,
                    "resource": uris.of_artifact(row.task.uuid, one.artifact_id),
                }
            )
            for one in beside.artifacts
        ] or None
        rendered["artifacts_left"] = beside.left or None
    return cast("answers.McpResult", _present(rendered))


def message(row: Message, *, room: int = ROOM) -> answers.SpokenMessage:
    """Render a message. Of content beyond ``room`` bytes a note says that it is left out."""
    size = len(row.content.encode())
    left_out = {"type": "text", "text": f"[left out: {size} bytes; read the resource of the task]"}
    progress = row.progress
    rendered = {
        "seq": row.seq,
        "role": row.role,
        "content": row.words if size <= room else [left_out],
        "fraction": progress["value"] if progress else None,
        "note": progress["note"] if progress else None,
        "said_at": iso(row.said_at),
    }
    return cast("answers.SpokenMessage", _present(rendered))


def event(row: AuditEvent, caller: Caller) -> answers.TimelineEntry:
    """Render a row of a task's timeline."""
    return {
        "seq": row.seq,
        "kind": row.kind,
        "actor": actors.shown(row, caller),
        "at": iso(row.at),
        "data": json_text.loads(row.data),
    }


def lease(row: Lease) -> answers.HeldLeaseShown:
    ends_at = None if row.times_out_at is None else iso(row.times_out_at)
    rendered = {
        "lease_id": row.lease_id,
        "attempt": row.attempt,
        "leased_at": iso(row.leased_at),
        "times_out_at": ends_at,
    }
    return cast("answers.HeldLeaseShown", _present(rendered))


def received(row: Lease, newest: Message | None) -> Json:
    """Render a lease for its new holder, with the newest message of the sender if there is one."""
    said = {} if newest is None else {"message": message(newest)}
    return {"task": work(row.task), "lease": lease(row), "turn": row.task.turn, **said}


def artifacts(task_id: UUID, produced: Sequence[Produced], details: Details) -> list[Json]:
    """Render the artifacts of a task without their contents."""
    return [
        _present(
            {
                "artifact_id": one.artifact_id,
                "name": details[one.seq].get("name"),
                "characters": one.size,
                "is_complete": one.is_complete,
                "resource": uris.of_artifact(task_id, one.artifact_id),
            }
        )
        for one in produced
    ]


def _present(fields: Mapping[str, Any]) -> Json:
    return {key: value for key, value in fields.items() if value is not None}
