"""corvid-agent's task, rendered from ours: pure, no queries, no clock.

Its clients know only ``completed`` and ``failed`` as ends, never see a task go backwards, and read the
first part of the last agent message as the answer or the error.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from mailbox.models import Lease, Message, Result, Task
from mailbox.models.message import PROGRESS
from mailbox.words import content, json_text

# Clients poll the whole task every few seconds, and some read no more than 1 MiB.
MESSAGES_BYTES = 900_000
SENT_BYTES = 100_000  # of them for what was sent, which its sender knows
MOST_MESSAGES = 2000
CUT = "[cut: what follows is too long for this answer]"
EARLIER = "[earlier messages are left out]"

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


def task(
    row: Task, *, lease: Lease | None, said: Sequence[Message], said_is_all: bool, result: Result | None
) -> dict[str, Any]:
    """Render an A2ATask; ``lease`` is the newest one, whose id is the session's, ``said`` the newest messages in order."""
    moments = [row.sent_at, row.resolved_at, lease.leased_at if lease else None, said[-1].said_at if said else None]
    return {
        "id": row.uuid,
        "state": state(row),
        "messages": _messages(row.intent_text, list(_agent_texts(said, result)), is_all=said_is_all),
        "sessionId": lease.lease_id if lease else None,
        "createdAt": iso(row.sent_at),
        "updatedAt": iso(max(moment for moment in moments if moment is not None)),
    }


def _messages(sent: str, texts: Sequence[str], *, is_all: bool) -> list[dict[str, Any]]:
    """Return what was sent and as many of the newest ``texts`` as `MESSAGES_BYTES` leave room for."""
    first = _message("user", _cut(sent, SENT_BYTES))
    room = MESSAGES_BYTES - _size(first)
    newest = [_message("agent", _cut(text, room)) for text in texts[-1:]]
    kept = deque(newest)
    room -= sum(map(_size, newest))
    for text in reversed(texts[:-1]):
        message = _message("agent", text)
        room -= _size(message)
        if room < 0:
            break
        kept.appendleft(message)
    if not is_all or len(kept) < len(texts):
        kept.appendleft(_message("agent", EARLIER))
    return [first, *kept]


def _cut(text: str, room: int) -> str:
    """Return the text, or as much of its beginning as makes a message of at most ``room`` bytes with a word of the cut."""
    kept, told = len(text), text
    while (size := _size(_message("agent", told))) > room:
        kept = kept * room // size
        told = f"{text[:kept]}\n{CUT}"
    return told


def _size(message: Mapping[str, Any]) -> int:
    """Return its bytes of JSON in an array."""
    return len(orjson.dumps(message)) + len(",")


def _agent_texts(said: Sequence[Message], result: Result | None) -> Iterator[str]:
    """Yield what the agent said, oldest first, the result's text last; a failure's reason is always the last."""
    last = _last_word(result)
    if result is not None and not last:  # clients would take how far the work was for its answer
        said = said[: next((number for number in range(len(said), 0, -1) if not said[number - 1].is_progress_alone), 0)]
    texts = [text for message in said if (text := _text(message.blocks))]
    yield from texts
    if last and (not texts or texts[-1] != last):
        yield last


def _last_word(result: Result | None) -> str:
    if result is None:
        return ""
    text = _text(result.blocks)
    return result.error_message or text or "Task failed" if result.status == Result.Status.ERROR else text


def _text(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of content blocks and how far the work is; JSON where there is no text at all."""
    values = [json_text.dumps(block["value"]) for block in blocks if block.get("type") == "json"]
    lines = [content.text_of(blocks) or "\n".join(values)]
    lines += [_progress(block["value"], block["note"]) for block in blocks if block.get("type") == PROGRESS]
    return "\n".join(filter(None, lines))


def _progress(value: float, note: str) -> str:
    percent = math.floor(round(value * 100, 6))  # 0.29 is 29 %, 0.999 is not all of it
    return f"{percent} %: {note}" if note else f"{percent} %"


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "text": text}]}


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
