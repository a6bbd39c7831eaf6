"""Tasks, results and messages as the tools answer them. Pure: no queries, no clock.

Language models read these answers, so keys without a value are left out, and long texts are cut. The URIs of resources
name tasks, and the artifacts of a task.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NotRequired, cast
from urllib.parse import quote, unquote
from uuid import UUID

import orjson
from pydantic import BaseModel
from typing_extensions import TypedDict

from mailbox.access.callers import Caller
from mailbox.dialects.base.wire import actor
from mailbox.inspection.answers import Beside, Produced
from mailbox.models import AuditEvent, Lease, Message, Result, Task
from mailbox.words import json_text, times

State = Literal["queued", "in_flight", "interrupted", "resolved"]
Ending = Literal["ok", "partial", "error", "cancelled", "rejected", "expired"]
Block = dict[str, Any]

TASK_URI, ARTIFACT_URI = "a2a://tasks/{id}", "a2a://tasks/{id}/artifacts/{name}"
_URI = re.compile(
    r"a2a://tasks/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?:/artifacts/([^/?#]+))?", re.IGNORECASE | re.ASCII
)

ROOM = 200_000  # bytes that a text, a message or the content of a result may have in the answer of a tool
OPENING = 500  # bytes of a text in a list
WHOLE = 2**63  # the room of an answer that cuts nothing

Json = dict[str, Any]
Details = Mapping[int, Mapping[str, Any]]


class McpTask(TypedDict):
    """A task. Times are ISO 8601 in UTC. ``resource`` is the URI of the whole task.

    ``is_cut``: the text is the beginning alone. ``awaits`` is what an interrupted task needs from its sender. Tasks of
    one ``context_id`` belong to one conversation of one sender; `receive_task` gives it to the holder.
    """

    id: UUID
    state: State
    outcome: NotRequired[Ending]
    awaits: NotRequired[Literal["input", "authorization"]]
    sender: str
    recipient: str
    text: str
    is_cut: NotRequired[bool]
    kind: NotRequired[str]
    parent: NotRequired[UUID]
    deadline: NotRequired[str]
    work_timeout_ms: NotRequired[int]
    context_id: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    attempt: int
    sent_at: str
    resolved_at: NotRequired[str]
    resource: str


def task(row: Task, *, room: int = ROOM) -> McpTask:
    """Render a task with at most ``room`` bytes of its text."""
    text = _cut(row.intent_text, room)
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
        "deadline": None if row.deadline_ms is None else _iso_of_ms(row.deadline_ms),
        "work_timeout_ms": times.to_ms(row.work_timeout),
        "attempt": row.attempt,
        "sent_at": iso(row.sent_at),
        "resolved_at": None if row.resolved_at is None else iso(row.resolved_at),
        "resource": task_uri(row.uuid),
    }
    return cast(McpTask, _present(rendered))


def work(row: Task) -> McpTask:
    """Render a task for its holder, with its conversation and the metadata of its sender."""
    metadata = json_text.loads(row.metadata) if len(row.metadata) <= ROOM else {}
    beside = {"context_id": row.context_for(row.recipient), "metadata": metadata or None}
    return cast(McpTask, {**task(row), **_present(beside)})


class McpArtifact(TypedDict):
    artifact_id: str
    name: NotRequired[str]
    characters: int
    is_complete: bool
    resource: str


def artifacts(task_id: UUID, produced: Sequence[Produced], details: Details) -> list[McpArtifact]:
    """Render the artifacts of a task without their contents."""
    return [
        _artifact(task_id, part.artifact_id, details[part.seq].get("name"), part.size, part.is_complete)
        for part in produced
    ]


def _artifact(task_id: UUID, artifact_id: str, name: str | None, characters: int, is_complete: bool) -> McpArtifact:
    rendered = {
        "artifact_id": artifact_id,
        "name": name,
        "characters": characters,
        "is_complete": is_complete,
        "resource": artifact_uri(task_id, artifact_id),
    }
    return cast(McpArtifact, _present(rendered))


class McpResult(TypedDict):
    """How a task ended. ``content_left_out`` counts the bytes of a content that only the resource has."""

    status: Literal["ok", "error", "partial"]
    content: list[Block]
    content_left_out: NotRequired[int]
    error_message: NotRequired[str]
    message: NotRequired[list[Block]]
    artifacts: NotRequired[list[McpArtifact]]
    artifacts_left: NotRequired[int]


def result(row: Result, beside: Beside | None, *, room: int = ROOM) -> McpResult:
    """Render a result with what stands beside it. A content of more than ``room`` bytes is left out."""
    size = len(row.content.encode())
    rendered: Json = {
        "status": row.status,
        "content": row.blocks if size <= room else [],
        "content_left_out": size if size > room else None,
        "error_message": None if row.error_message is None else _cut(row.error_message, room),
    }
    if beside is not None:
        closing = [dict(block) for block in beside.closing]
        rendered["message"] = closing if len(orjson.dumps(closing)) <= room and closing else None
        rendered["artifacts"] = [
            _artifact(row.task.uuid, named.artifact_id, named.name or None, named.characters, named.is_complete)
            for named in beside.artifacts
        ] or None
        rendered["artifacts_left"] = beside.left or None
    return cast(McpResult, _present(rendered))


class SpokenMessage(TypedDict):
    """A message. The role ``user`` is the task's sender, ``agent`` its holder."""

    seq: int
    role: Literal["user", "agent"]
    content: list[Block]
    fraction: NotRequired[float]
    note: NotRequired[str]
    said_at: str


def message(row: Message, *, room: int = ROOM) -> SpokenMessage:
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
    return cast(SpokenMessage, _present(rendered))


class TimelineEntry(TypedDict):
    seq: int | None
    kind: str
    actor: str
    at: str
    data: dict[str, Any]


def event(row: AuditEvent, caller: Caller) -> TimelineEntry:
    """Render a row of a task's timeline."""
    return {
        "seq": row.seq,
        "kind": row.kind,
        "actor": actor(row, caller),
        "at": iso(row.at),
        "data": json_text.loads(row.data),
    }


class TaskSent(BaseModel):
    """The stored task. ``compacted``: a repeat of a task that the hub has deleted since, with its result."""

    task_id: UUID
    state: State
    outcome: Ending | None = None
    compacted: bool = False
    resource: str


class TaskAwaited(BaseModel):
    """The task as it is now. ``result`` is there once it is resolved; ``question`` while it asks its sender."""

    task: McpTask
    result: McpResult | None = None
    question: SpokenMessage | None = None


class TaskShownWhole(TaskAwaited):
    """A task with its newest messages, oldest first, and a page of its timeline."""

    messages: list[SpokenMessage]
    earlier_messages: bool
    timeline: list[TimelineEntry]
    timeline_next_cursor: str | None = None


class McpTaskPage(BaseModel):
    """A page of tasks, the newest first. Their texts are beginnings."""

    tasks: list[McpTask]
    next_cursor: str | None = None


class HeldLeaseShown(TypedDict):
    """A lease. The holder passes ``lease_id`` with each call about the task. ``times_out_at``: then it ends."""

    lease_id: UUID
    attempt: int
    leased_at: str
    times_out_at: NotRequired[str]


def lease(row: Lease) -> HeldLeaseShown:
    rendered = {
        "lease_id": row.lease_id,
        "attempt": row.attempt,
        "leased_at": iso(row.leased_at),
        "times_out_at": None if row.times_out_at is None else iso(row.times_out_at),
    }
    return cast(HeldLeaseShown, _present(rendered))


class TaskReceived(BaseModel):
    """The leased task. Both are null when nothing was there to lease.

    ``message`` is the sender's newest message, if there is one beside the text. ``attempt_spent``: use a new
    attempt_id.
    """

    task: McpTask | None
    lease: HeldLeaseShown | None
    turn: int | None = None
    message: SpokenMessage | None = None
    attempt_spent: bool = False


class HeldTask(TypedDict):
    task: McpTask
    lease: HeldLeaseShown


class HeldPage(BaseModel):
    held: list[HeldTask]
    next_cursor: str | None = None


class TaskAnswered(BaseModel):
    task_id: UUID
    status: Literal["ok", "error", "partial"]


class ProgressReported(BaseModel):
    """``turn`` counts the sender's messages. If it has grown, read_task shows the sender's message."""

    task_id: UUID
    turn: int


class QuestionAsked(BaseModel):
    """The task is interrupted and you hold it no more. Its answer brings it back by receive_task."""

    task_id: UUID
    turn: int


class TaskReleasedShown(BaseModel):
    task_id: UUID
    attempt: int


class TaskCancelledShown(BaseModel):
    task_id: UUID


class SaidToTask(BaseModel):
    task_id: UUID
    message_id: str
    turn: int


class AgentSkill(TypedDict):
    name: str
    description: str
    tags: list[str]


class AgentShown(TypedDict):
    """An agent that takes tasks. A paused agent works on its tasks later."""

    name: str
    description: str
    skills: list[AgentSkill]
    is_paused: bool


class McpAgentPage(BaseModel):
    agents: list[AgentShown]
    next_cursor: str | None = None


class WhoAmI(BaseModel):
    """The caller: an agent, or a person with a role."""

    agent: str | None
    person: str | None
    role: str | None
    hub: str


def task_uri(task_id: UUID) -> str:
    return TASK_URI.format(id=task_id)


def artifact_uri(task_id: UUID, artifact_id: str) -> str:
    return ARTIFACT_URI.format(id=task_id, name=quote(artifact_id, safe=""))


def parsed_uri(uri: str) -> tuple[UUID, str | None] | None:
    """Return the task and the artifact that a URI names, None for no artifact; None for the URI of no resource."""
    match = _URI.fullmatch(uri)
    if match is None:
        return None
    return UUID(match[1]), None if match[2] is None else unquote(match[2])


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sent(row: Task) -> Json:
    """Render a task that was sent. A repeat of a compacted task has its outcome alone: its result was deleted."""
    rendered = {"task_id": row.uuid, "state": row.state, "outcome": row.outcome, "resource": task_uri(row.uuid)}
    return _present({**rendered, "compacted": row.is_compacted or None})


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


def received(row: Lease, newest: Message | None) -> Json:
    """Render a lease for its new holder, with the newest message of the sender if there is one."""
    words = {} if newest is None else {"message": message(newest)}
    return {"task": work(row.task), "lease": lease(row), "turn": row.task.turn, **words}


def _present(fields: Mapping[str, Any]) -> Json:
    return {key: value for key, value in fields.items() if value is not None}
