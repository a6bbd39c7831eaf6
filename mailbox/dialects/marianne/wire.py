"""Tasks and results of the mailbox as Marianne's inbox shows them, and the ``@delegate`` lines of an agent's output.

Pure: no queries, no clock. Source: Marianne, technique router.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
MOST_DELEGATED = 100  # in one request; each line is a decision of its own
MOST_CONTAINERS = 32  # quotes and list items around a line; a deeper quote or item is text
_LINE_END = re.compile(r"\r\n|\n|\r")
_DELEGATE = re.compile(r"@delegate[ \t]+([A-Za-z0-9_.@-]+)[ \t]*:(.*)")
_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?: {1,4}(?! )| (?= )|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


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


def blocks(artifacts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return artifacts as the content of a result."""
    return [{"type": "json", "value": dict(artifacts)}] if artifacts else []


def plain(field: str, values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return Python values in their JSON form, as the original dumps them: tuples and sets as lists, times as text.

    Raises `InvalidRequestError`, which names ``field``, for a value without a JSON form.
    """
    try:
        made: dict[str, Any] = to_jsonable_python(dict(values or {}))
    except (TypeError, ValueError) as error:  # a ValueError may be pydantic's PydanticSerializationError
        raise InvalidRequestError({field: str(error)}) from error
    return made


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


@dataclass(frozen=True, slots=True)
class Fence:
    """An open code fence: ``marker`` closes it, ``line`` is where it opened, from 1."""

    marker: str
    line: int

    def is_closed_by(self, text: str) -> bool:
        fence = _FENCE.fullmatch(text)
        return fence is not None and fence[1].startswith(self.marker) and not fence[2].strip()


@dataclass(slots=True)
class ParsedDelegations:
    """``lines`` are the agent and the description of each ``@delegate`` line outside code fences, in order.

    ``unclosed_fence`` is the line, from 1, of a fence that never closes; all text after it is code. None without one.
    """

    lines: list[tuple[str, str]] = field(default_factory=list)
    unclosed_fence: int | None = None


def delegations(text: str) -> ParsedDelegations:
    """Read each ``@delegate NAME: TEXT`` line outside code fences. The fences are CommonMark's."""
    read = ParsedDelegations()
    containers: list[int | None] = []
    fence: Fence | None = None
    for number, line in enumerate(_LINE_END.split(text), start=1):
        rest, still = _within(line.expandtabs(4), containers)
        if still < len(containers):
            del containers[still:]
            fence = None
        if fence is not None:
            fence = None if fence.is_closed_by(rest) else fence
            continue
        rest = _enter(rest, containers)
        opened = _FENCE.fullmatch(rest)
        if opened is not None and not (opened[1].startswith("`") and "`" in opened[2]):
            fence = Fence(opened[1], number)
        elif (delegate := _DELEGATE.search(line)) and (description := delegate[2].strip()):
            read.lines.append((delegate[1], description))
    read.unclosed_fence = fence.line if fence else None
    return read


def _within(line: str, containers: list[int | None]) -> tuple[str, int]:
    """Return the line without the marks of the containers that it continues, and the number of these containers."""
    for depth, width in enumerate(containers):
        if not line.strip():  # a blank line continues list items, but no quotes
            left = containers[depth:]
            return "", depth + (left.index(None) if None in left else len(left))
        if width is None:
            quote = _QUOTE.match(line)
            if quote is None:
                return line, depth
            line = line[quote.end() :]
        elif line.startswith(" " * width):
            line = line[width:]
        else:
            return line, depth
    return line, len(containers)


def _enter(line: str, containers: list[int | None]) -> str:
    """Return the line without the marks of the containers that it opens, and add these to ``containers``.

    A quote is added as None, a list item as its width.
    """
    while len(containers) < MOST_CONTAINERS:
        if quote := _QUOTE.match(line):
            containers.append(None)
            line = line[quote.end() :]
        elif item := _ITEM.match(line):
            containers.append(item.end())
            line = line[item.end() :]
        else:
            break
    return line
