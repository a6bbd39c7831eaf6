"""Tasks and results of the mailbox as Marianne's inbox shows them: pure, no queries, no clock."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from pydantic_core import to_jsonable_python

from mailbox.dialects.marianne.values import A2ATask, A2ATaskStatus
from mailbox.inspection.answers import Answer
from mailbox.models import Result, Task
from mailbox.words import content, json_text, names, shapes
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import InvalidRequestError

DIALECT = "marianne"

OUTCOME_STATUS: Mapping[Task.Outcome, A2ATaskStatus] = {
    Task.Outcome.OK: A2ATaskStatus.COMPLETED,
    Task.Outcome.PARTIAL: A2ATaskStatus.COMPLETED,
    Task.Outcome.ERROR: A2ATaskStatus.FAILED,
    Task.Outcome.CANCELLED: A2ATaskStatus.FAILED,
    Task.Outcome.REJECTED: A2ATaskStatus.FAILED,
    Task.Outcome.EXPIRED: A2ATaskStatus.FAILED,
}

STATE_STATUS: Mapping[Task.State, A2ATaskStatus] = {
    Task.State.QUEUED: A2ATaskStatus.PENDING,
    Task.State.IN_FLIGHT: A2ATaskStatus.ACCEPTED,
    Task.State.INTERRUPTED: A2ATaskStatus.ACCEPTED,  # its agent goes on once the sender has answered
}

# The beginnings of a heading, list, quote, rule, fence or table at the start of a Markdown line.
_OPENER = re.compile(r"\s*(?=[#>*+\-=_|~`<\[]|:-|\d+[.)])")
# The same for a line with further words behind: it is no rule and no row of a table.
_OPENER_OF_MORE = re.compile(r"\s*(?=[#>*<\[]|[+-]\s|```|~~~|\d+[.)]\s)")


def status(task: Task) -> A2ATaskStatus:
    if task.outcome is not None:
        return OUTCOME_STATUS[Task.Outcome(task.outcome)]
    return STATE_STATUS[Task.State(task.state)]


def meant_by(wanted: A2ATaskStatus) -> tuple[Sequence[Task.State], Sequence[Task.Outcome]]:
    """Return the states and the outcomes that read as this status; no outcomes if the state alone decides."""
    states = [state for state, status_ in STATE_STATUS.items() if status_ is wanted]
    outcomes = [outcome for outcome, status_ in OUTCOME_STATUS.items() if status_ is wanted]
    return states or [Task.State.RESOLVED], outcomes


def task(row: Task, result: Result | None, answer: Answer | None) -> A2ATask:
    """Render a task of any dialect. The context of another dialect's task is all its metadata.

    ``answer`` is the whole answer of ``result``.
    """
    metadata = json_text.loads(row.metadata)
    own = metadata if row.dialect == DIALECT else {"context": metadata}
    failed = status(row) is A2ATaskStatus.FAILED
    return A2ATask(
        task_id=str(row.uuid),
        source_job_id=str(own.get("source_job_id", "")),
        source_agent=names.name_of(row.sender.display),
        target_agent=names.name_of(row.recipient.display),
        description=row.intent_text,
        context=own.get("context", {}),
        status=status(row),
        artifacts=artifacts(answer) if answer and not failed else {},
        failure_reason=_reason(result, answer) if result and answer and failed else None,
    )


def envelope(
    recipient: str,
    description: str,
    *,
    source_job_id: str,
    context: Mapping[str, Any] | None,
    task_id: UUID | None = None,
    work_timeout: timedelta | None = None,
) -> TaskEnvelope:
    """Return a task for the agent of that display. Its job and context are metadata.

    Raises `InvalidRequestError` for a blank description, and for a description or job id that is not text.
    """
    shapes.require(str, description=description, source_job_id=source_job_id)
    if not description.strip():
        raise InvalidRequestError({"description": "description must not be empty"})
    return TaskEnvelope(
        id=task_id,
        recipient=AgentRef(recipient),
        intent_text=description,
        metadata={"source_job_id": source_job_id, "context": dict(context or {})},
        work_timeout=work_timeout,
        dialect=DIALECT,
        converses=False,
    )


def _reason(result: Result, answer: Answer) -> str | None:
    """Return the reason of a failure with the closing words behind it; None without both."""
    words = content.text_of(answer.closing)
    return "\n".join(filter(None, [result.error_message, words])) if words else result.error_message


def artifacts(answer: Answer) -> dict[str, Any]:
    """Return the JSON objects of an answer, merged. Its text is added as ``text``, unless an object has that key.

    If that would lose a block of a task's artifacts, or closing words, all blocks are added as ``content``.
    """
    merged: dict[str, Any] = {}
    objects = [
        block["value"] for block in answer.blocks if block.get("type") == "json" and isinstance(block["value"], dict)
    ]
    for one in objects:
        merged |= one
    text = content.text_of(answer.blocks)
    texts = [block for block in answer.blocks if block.get("type") == "text"]
    is_clear = len(merged) == sum(map(len, objects)) and not (text and "text" in merged)
    is_whole = is_clear and len(objects) + len(texts) == len(answer.blocks)
    if text:
        merged.setdefault("text", text)
    if (answer.is_produced or answer.closing) and not is_whole:
        merged.setdefault("content", answer.blocks)
    return merged


def blocks(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return artifacts as the content of a result."""
    return [{"type": "json", "value": dict(given)}] if given else []


def plain(field: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return Python values in their JSON form, as the original dumps them: tuples and sets as lists, times as text.

    Raises `InvalidRequestError`, which names ``field``, for a value without a JSON form.
    """
    try:
        values: dict[str, Any] = to_jsonable_python(dict(given or {}))
    except (TypeError, ValueError) as error:  # a ValueError may be pydantic's PydanticSerializationError
        raise InvalidRequestError({field: str(error)}) from error
    return values


def pending_context(tasks: Sequence[A2ATask], total: int) -> str:
    """Render the first of ``total`` pending tasks as the section that a musician reads; empty without tasks.

    The layout is the original's. Text of other agents opens no Markdown block, so it cannot forge a heading or a task.
    """
    if not tasks:
        return ""
    shown = "" if len(tasks) == total else f" The first {len(tasks)} are:"
    lines = ["## A2A Inbox — Pending Tasks", "", f"You have {total} task(s) from other agents:{shown}", ""]
    for number, one in enumerate(tasks, start=1):
        lines.append(f"### Task {number}: from {_inert(one.source_agent)}")
        lines.append(f"**Task ID:** `{one.task_id}`")
        lines.append(f"**Description:** {_inert(one.description)}")
        if one.context:
            lines.append("**Context:**")
            lines += [f"  - {_inert(_key(key))}: {_inert(str(value))}" for key, value in one.context.items()]
        lines.append("")
    lines.append("To complete a task, include its task_id in your output with the results. To decline, explain why.")
    return "\n".join(lines)


def _inert(text: str) -> str:
    """Return a text for the end of a line. Its further lines are indented and begin no block."""
    first, *rest = text.splitlines() or [""]
    return "\n".join([first, *(f"  {_escape(line)}".rstrip() for line in rest)])


def _key(text: str) -> str:
    """Return a key whose list item begins with words. An empty item would make the line above a heading."""
    several = len(text.splitlines()) > 1
    return _escape(text.strip()) if several else _escape(text, _OPENER_OF_MORE)


def _escape(line: str, opener: re.Pattern[str] = _OPENER) -> str:
    """Return a line that begins no block. Its indentation stays, because the words may be code."""
    beginning = opener.match(line)
    return f"{beginning[0]}\\{line[beginning.end() :]}" if beginning else line
