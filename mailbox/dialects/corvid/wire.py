"""Tasks and agents as corvid-agent's clients read them: pure, no queries, no clock.

The clients stop at ``completed`` and ``failed`` only, and no task may go back to an earlier state. They read the first
part of the last agent message as the answer or the error.
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NotRequired
from uuid import UUID

import orjson
from typing_extensions import TypedDict

from agentcards.models import AgentProfile
from mailbox.access.agents.registration import Registration
from mailbox.dialects.base.wire import AgentId
from mailbox.inspection.answers import Answer
from mailbox.models import Lease, Message, Result, Task
from mailbox.words import content, json_text
from mailbox.words.conversation import PROGRESS

TaskState = Literal["submitted", "working", "completed", "failed"]
Role = Literal["user", "agent"]
# Clients poll the whole task every few seconds, and some read no more than 1 MiB.
MESSAGES_BYTES = 900_000
SENT_BYTES = 100_000  # of these for the sent text, which its sender knows
MOST_MESSAGES = 2000
CUT = "[cut: the rest is too long for this answer]"
EARLIER = "[earlier messages are left out]"


class TextPart(TypedDict):
    type: Literal["text"]
    text: str


class TaskMessage(TypedDict):
    role: Role
    parts: list[TextPart]


class CorvidTask(TypedDict):
    """A task with its conversation. Times are ISO 8601 with milliseconds.

    ``sessionId`` is the lease, null while no agent works on the task. ``messages`` holds at most 2000 messages and
    900 kB. The sent text comes first, cut beyond 100 kB. Further messages of the sender have the role ``user`` too. A
    note in brackets stands for messages that are left out. The text of the result comes last.
    """

    id: UUID
    state: TaskState
    messages: list[TaskMessage]
    sessionId: UUID | None
    createdAt: str
    updatedAt: str


class CorvidError(TypedDict):
    """An error."""

    error: str
    code: NotRequired[str]


OUTCOME_STATE: Mapping[Task.Outcome, TaskState] = {
    Task.Outcome.OK: "completed",
    Task.Outcome.PARTIAL: "completed",
    Task.Outcome.ERROR: "failed",
    Task.Outcome.CANCELLED: "failed",
    Task.Outcome.REJECTED: "failed",
    Task.Outcome.EXPIRED: "failed",
}


def state(task: Task) -> TaskState:
    """Return the task's state in this dialect.

    A task that was leased once never reads ``submitted`` again. A task that asks its sender reads ``working``.
    """
    if task.outcome is not None:
        return OUTCOME_STATE[Task.Outcome(task.outcome)]
    return "submitted" if task.state == Task.State.QUEUED and task.attempt == 0 else "working"


def task(
    row: Task,
    *,
    lease: Lease | None,
    messages: Sequence[Message],
    is_all: bool,
    result: Result | None,
    answer: Answer | None = None,
) -> CorvidTask:
    """Render an A2ATask. ``lease`` is the task's newest lease, and its id is the session's.

    ``messages`` are the newest messages of its agent and its sender, oldest first. ``is_all``: no message is earlier.
    ``answer`` is the whole answer of ``result``.
    """
    newest = messages[-1].said_at if messages else None
    moments = [row.sent_at, row.resolved_at, lease.leased_at if lease else None, newest]
    return {
        "id": row.uuid,
        "state": state(row),
        "messages": _messages(row.intent_text, list(_texts(messages, result, answer)), is_all=is_all),
        "sessionId": lease.lease_id if lease else None,
        "createdAt": iso(row.sent_at),
        "updatedAt": iso(max(moment for moment in moments if moment is not None)),
    }


def _messages(sent: str, texts: Sequence[tuple[Role, str]], *, is_all: bool) -> list[TaskMessage]:
    """Return the sent text and as many of the newest ``texts`` as `MESSAGES_BYTES` leave room for."""
    first = _message("user", _cut(sent, SENT_BYTES))
    room = MESSAGES_BYTES - _size(first)
    newest = [_message(role, _cut(text, room)) for role, text in texts[-1:]]
    kept = deque(newest)
    room -= sum(map(_size, newest))
    for role, text in reversed(texts[:-1]):
        message = _message(role, text)
        room -= _size(message)
        if room < 0:
            break
        kept.appendleft(message)
    if not is_all or len(kept) < len(texts):
        kept.appendleft(_message("agent", EARLIER))
    return [first, *kept]


def _cut(text: str, room: int) -> str:
    """Return the text, or its beginning and a note of the cut, as a message of at most ``room`` bytes."""
    kept, shown = len(text), text
    while (size := _size(_message("agent", shown))) > room:
        kept = kept * room // size
        shown = f"{text[:kept]}\n{CUT}"
    return shown


def _size(message: TaskMessage) -> int:
    """Return the message's bytes of JSON in an array."""
    return len(orjson.dumps(message)) + len(",")


def _texts(messages: Sequence[Message], result: Result | None, answer: Answer | None) -> Iterator[tuple[Role, str]]:
    """Yield both sides' messages, oldest first, then the text of the result. The reason of a failure is always last.

    Closing words behind an answer are the end of that text, because clients read the last message alone.
    """
    last = _last_word(result, answer)
    if last and answer is not None:
        messages = [message for message in messages if message.seq != answer.closing_seq]
    if result is not None and not last:
        messages = list(_up_to_the_answer(messages))
    texts = [(_role(message), text) for message in messages if (text := _text(message.blocks))]
    yield from texts
    if last and (not texts or texts[-1] != ("agent", last)):
        yield "agent", last


def _up_to_the_answer(messages: Sequence[Message]) -> Iterator[Message]:
    """Leave out the agent's progress after its last words: clients would read that progress as the answer."""
    answer = -1
    for place, message in enumerate(messages):
        if _role(message) == "agent" and not message.is_progress_alone:
            answer = place
    yield from (message for place, message in enumerate(messages) if place <= answer or _role(message) == "user")


def _role(message: Message) -> Role:
    return "user" if message.role == Message.Role.USER else "agent"


def _last_word(result: Result | None, answer: Answer | None) -> str:
    """Return the text of the result; "" if its closing words are all that it says."""
    if result is None or answer is None:
        return ""
    text, message = _produced(answer.content) if answer.is_produced else _text(answer.content), result.error_message
    closing = _text(answer.closing)
    if result.status == Result.Status.ERROR:
        return "\n".join(filter(None, [message or text, closing])) or "Task failed"
    return "\n".join(filter(None, [text, closing, message])) if text or message else ""


def _produced(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Return the content of artifacts as one text. A note stands for a block without a form as text."""
    return "\n".join(map(_spelled, blocks))


def _spelled(block: Mapping[str, Any]) -> str:
    match block:
        case {"type": "text", "text": str(text)} | {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "json", "value": value}:
            return json_text.dumps(value)
        case {"type": "resource_link", "uri": str(uri)}:
            return uri
    return f"[{block['type']} {block.get('mimeType', '')}".rstrip() + " is left out: answers have text alone]"


def _text(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Return the text and the progress of content blocks. Blocks without any text are shown as JSON."""
    values = [json_text.dumps(block["value"]) for block in blocks if block.get("type") == "json"]
    lines = [content.text_of(blocks) or "\n".join(values)]
    lines += [_progress(block["value"], block["note"]) for block in blocks if block.get("type") == PROGRESS]
    return "\n".join(filter(None, lines))


def _progress(value: float, note: str) -> str:
    percent = math.floor(round(value * 100, 6))  # 0.29 is 29 %, and 0.999 is 99 %
    return f"{percent} %: {note}" if note else f"{percent} %"


def _message(role: Role, text: str) -> TaskMessage:
    return {"role": role, "parts": [{"type": "text", "text": text}]}


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class CorvidAgent(TypedDict):
    """An agent. ``id`` is its address. ``remoteUrl`` is null for callers who may not change it.

    The fields from ``inputModes`` to ``extendedTools`` are of its card in the official A2A protocol.
    """

    id: str
    name: str
    agentId: AgentId
    description: str
    personaArchetype: str | None
    skillBundles: list[str]
    defaultProjectId: str | None
    mcpToolPermissions: list[str] | None
    walletAddress: str | None
    algochatEnabled: bool
    remote: bool
    remoteUrl: str | None
    inputModes: list[str]
    outputModes: list[str]
    cardVersion: str | None
    documentationUrl: str | None
    iconUrl: str | None
    streaming: bool
    pushNotifications: bool
    extendedCard: bool
    cardFor03: bool
    messageIdIsKey: bool
    extensions: list[dict[str, Any]]
    extendedTools: list[str]
    paused: bool
    pausedReason: str | None
    createdAt: str


def agent(profile: AgentProfile, *, with_remote_url: bool) -> CorvidAgent:
    """Render an agent. A remote URL may hold a secret, so only callers who may change it see it."""
    row = profile.agent
    return {
        "id": row.display,
        "name": profile.shown_name,
        "agentId": {"display": row.display, "pubkey": row.pubkey},
        "description": profile.description,
        "personaArchetype": profile.persona_archetype or None,
        "skillBundles": profile.skill_bundles,
        "defaultProjectId": profile.default_project or None,
        "mcpToolPermissions": profile.tool_permissions,
        "walletAddress": profile.wallet_address or None,
        "algochatEnabled": bool(profile.wallet_address),
        "remote": profile.is_remote,
        "remoteUrl": (profile.called_url or None) if with_remote_url else None,
        "inputModes": profile.input_modes,
        "outputModes": profile.output_modes,
        "cardVersion": profile.card_version or None,
        "documentationUrl": profile.documentation_url or None,
        "iconUrl": profile.icon_url or None,
        "streaming": profile.streaming,
        "pushNotifications": profile.push_notifications,
        "extendedCard": profile.extended_card,
        "cardFor03": profile.card_for_0_3,
        "messageIdIsKey": profile.message_id_is_key,
        "extensions": profile.extensions,
        "extendedTools": profile.extended_tools,
        "paused": row.paused_at is not None,
        "pausedReason": row.paused_reason or None,
        "createdAt": iso(row.created_at),
    }


class NewAgent(CorvidAgent):
    """The new agent with its secrets, which are shown only here.

    ``privateKey`` is null if the request had a ``publicKey``.
    """

    apiKey: str
    privateKey: str | None


def registered(profile: AgentProfile, made: Registration) -> NewAgent:
    """Render a new agent with its secrets. No later answer shows them."""
    return {**agent(profile, with_remote_url=True), "apiKey": made.api_key, "privateKey": made.private_key}


class Invoked(TypedDict):
    """``messageId`` is the id of the task. Poll it at ``/a2a/tasks/<id>``."""

    messageId: UUID
    txid: None
    sessionId: None
