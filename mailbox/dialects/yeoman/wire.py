"""Tasks, results and peers as YEOMAN's systems spell them, for pollers and for callbacks.

Source: Agnostic, YeomanA2AClient, TaskStatusResponse; SecureYeoman, PeerAgent.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NotRequired, cast
from uuid import UUID

from typing_extensions import TypedDict

from mailbox.inspection import answers
from mailbox.inspection.answers import Answer
from mailbox.models import Agent, Peer, Result, Task
from mailbox.words import json_text
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.times import epoch_ms

TaskWord = Literal["pending", "running", "completed", "failed", "cancelled"]
PeerWord = Literal["online", "suspect", "offline"]

RESULT_WORDS: Mapping[str, ResultStatus] = {
    "completed": ResultStatus.OK,
    "ok": ResultStatus.OK,
    "success": ResultStatus.OK,
    "failed": ResultStatus.ERROR,
    "error": ResultStatus.ERROR,
    "cancelled": ResultStatus.ERROR,
    "partial": ResultStatus.PARTIAL,
}

UNFINISHED = ("pending", "running")  # Agnostic's words for a task that has no result yet

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


class MessageAccepted(TypedDict):
    """The accepted message, by its id. The other keys depend on the type of the message."""

    accepted: Literal[True]
    message_id: str
    type: NotRequired[str]
    task_id: NotRequired[str | None]
    task_ids: NotRequired[list[str]]
    timestamp: NotRequired[int]
    statuses: NotRequired[dict[str, Any]]
    data: NotRequired[dict[str, Any] | None]
    warning: NotRequired[str]


class PeerCapability(TypedDict):
    """A capability of the hub. ``agent`` is the agent or the running job that has it, left out for the hub's own."""

    name: str
    description: str
    version: str
    agent: NotRequired[str]


class PeerCapabilities(TypedDict):
    capabilities: list[PeerCapability]


class Discovery(TypedDict):
    """The hub as a peer."""

    id: str
    name: str
    publicKey: str
    capabilities: list[PeerCapability]


class PeerAgent(TypedDict):
    """A peer. ``lastSeen`` is in Unix epoch milliseconds."""

    id: str
    name: str
    url: str
    publicKey: str
    trustLevel: Literal["untrusted"]
    capabilities: Any
    lastSeen: int
    status: PeerWord


def peer(row: Peer, now: datetime) -> PeerAgent:
    """Render a peer. It is always ``untrusted``: a message about itself proves nothing."""
    return {
        "id": row.peer_id,
        "name": row.name,
        "url": row.url,
        "publicKey": row.agent.pubkey,
        "trustLevel": "untrusted",
        "capabilities": row.announced,
        "lastSeen": epoch_ms(row.last_seen_at),
        "status": cast(PeerWord, row.status(now)),
    }


class RegisteredPeer(TypedDict):
    peer: PeerAgent


class TaskStatus(TypedDict):
    """The status of a task. ``result`` is null until the task ends.

    Then it is the content of the result, or ``{"error"}``.
    """

    task_id: str
    session_id: str
    status: TaskWord
    created_at: str
    updated_at: str
    result: dict[str, Any] | None


def task_status(row: Task, result: Result | None, answer: Answer | None, reader: Agent | None) -> TaskStatus:
    """Render a TaskStatusResponse for ``reader``. Its result is None until the task ends. ``answer`` is all of it.

    The start of the work moves ``updated_at`` on rows that `TaskQuerySet.whole` read.
    Messages of both parties move it, too.
    """
    moments = [row.sent_at, row.queued_at, getattr(row, "newest_leased_at", None), row.status_at, row.resolved_at]
    return {
        "task_id": str(row.uuid),
        "session_id": row.context_for(reader) or session_id(row.uuid, row.sent_at),
        "status": task_word(row),
        "created_at": _iso(row.sent_at),
        "updated_at": _iso(max(moment for moment in moments if moment is not None)),
        "result": _result(result, answer.blocks) if result is not None and answer is not None else None,
    }


def record(task: Task, result: Result | None, reader: Agent | None = None) -> TaskStatus:
    """Return a task as this dialect shows it to ``reader``, in callbacks to its sender. ``result`` is None at first."""
    return task_status(task, result, None if result is None else answers.whole_of(result), reader)


def records(tasks: Sequence[Task], reader: Agent | None) -> list[TaskStatus]:
    """Return tasks as `record` does, each with the result of its row. Their answers share the room of one page."""
    results = [task.result_or_none for task in tasks]
    whole = answers.whole(result for result in results if result is not None)
    return [
        task_status(task, result, None if result is None else whole[result.pk], reader)
        for task, result in zip(tasks, results, strict=True)
    ]


class TaskStatuses(TypedDict):
    items: list[TaskStatus]
    total: int
    limit: int
    offset: int


class WorkflowTaskStatus(TaskStatus):
    """The status of a task, with its id a second time."""

    taskId: str


class SubmittedTaskCancelled(TypedDict):
    task_id: str
    status: Literal["cancelled"]
    message: str


class Refusal(TypedDict):
    """An error. ``detail`` is a text or, for a body of the wrong shape, a list of problems."""

    detail: str | list[dict[str, Any]]


def result_envelope(task_id: UUID, content: Mapping[str, Any]) -> ResultEnvelope:
    """Read the payload of an ``a2a:result`` after `requests.check_result`.

    Text becomes a text block, any other value a json block.
    The result is an error if its status is, or if it has an ``error`` and no status. The reason of an error, and the
    message of a partial result, is that ``error``, as JSON if it is no text. Without an ``error`` the reason is a
    result that is text.
    """
    result = content.get("result")
    inner = result if isinstance(result, Mapping) else {}
    word = content.get("status") or inner.get("status")
    error = content.get("error") or inner.get("error")
    outcome = RESULT_WORDS.get(word, ResultStatus.OK) if isinstance(word, str) else ResultStatus.OK
    if not word and error:
        outcome = ResultStatus.ERROR
    block = {"type": "text", "text": result} if isinstance(result, str) else {"type": "json", "value": result}
    why = None
    if outcome is not ResultStatus.OK:
        reason = error or (result if isinstance(result, str) and outcome is ResultStatus.ERROR else None)
        why = reason if reason is None or isinstance(reason, str) else json_text.dumps(reason)
    return ResultEnvelope(task_id=task_id, status=outcome, content=[] if result is None else [block], error_message=why)


def task_word(row: Task) -> TaskWord:
    """Return the task's status in Agnostic's words. A requeued task is pending again."""
    return OUTCOMES[row.outcome] if row.outcome is not None else UNRESOLVED[row.state]


def session_id(task_id: UUID, sent_at: datetime) -> str:
    return f"session_{sent_at.astimezone(UTC):%Y%m%d_%H%M%S}_{task_id.hex[:8]}"


def _result(row: Result, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Render what came of it; a failure keeps its content, any other result its message."""
    if row.status != Result.Status.ERROR:
        message = {} if row.error_message is None else {"message": row.error_message}
        return {"content": blocks, **message}
    content = {"content": blocks} if blocks else {}
    return {"error": row.error_message or "failed", **content}


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
