"""Leases, received tasks and conversations as JSON. Pure: no queries, no clock. Source: A2A, messages and artifacts."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, cast
from uuid import UUID

from typing_extensions import TypedDict

from mailbox.database.paging import Page
from mailbox.dialects.base.wire import AgentId, BlockList, agent_id
from mailbox.dialects.covenant.wire import WireWork, choice, work
from mailbox.inspection.conversation import Reading
from mailbox.life.conversation import Sent
from mailbox.models import Artifact, Lease, Message
from mailbox.models.artifact import WholeArtifact, whole
from mailbox.words import times
from mailbox.words.times import epoch_ms

State = Literal["queued", "in_flight", "interrupted", "resolved"]
Awaits = Literal["input", "authorization"]


class WireLease(TypedDict):
    """A lease. ``work_timeout_ms`` is how long the task may stay leased, null for no limit.

    ``attempt`` counts the leases of the task, from 1.
    """

    lease_id: UUID
    attempt: int
    leased_at_ms: int
    last_seen_at_ms: int
    work_timeout_ms: int | None


def lease(row: Lease) -> WireLease:
    """Render a lease for its holder. ``work_timeout_ms`` counts from ``leased_at_ms``; null is no limit."""
    limit = None if row.times_out_at is None else row.times_out_at - row.leased_at
    return {
        "lease_id": row.lease_id,
        "attempt": row.attempt,
        "leased_at_ms": epoch_ms(row.leased_at),
        "last_seen_at_ms": epoch_ms(row.last_seen_at),
        "work_timeout_ms": times.to_ms(limit),
    }


class HeldLease(WireLease):
    """A lease with its task and its holder."""

    task: WireWork
    leased_to: AgentId


def held(row: Lease) -> HeldLease:
    """Render a live lease with its task."""
    return {"task": work(row.task, row.task.recipient), "leased_to": agent_id(row.holder), **lease(row)}


class ListedLeases(TypedDict):
    kind: Literal["a2a_leases"]
    leases: list[HeldLease]
    next_cursor: str | None


class TaskReleased(TypedDict):
    kind: Literal["a2a_task_released"]
    task_id: UUID
    attempt: int


class LeaseAnswer(TypedDict):
    """``turn`` counts the messages of the task's sender, from 1: the task's text."""

    kind: Literal["a2a_lease"]
    task_id: UUID
    lease: WireLease
    turn: int


class SaidMessage(TypedDict):
    """A message as its author sent it. ``role`` is ``user`` for the task's sender, ``agent`` for its holder."""

    message_id: str
    role: Literal["user", "agent"]
    content: BlockList
    metadata: NotRequired[dict[str, Any]]
    extensions: NotRequired[list[str]]
    reference_task_ids: NotRequired[list[str]]


def spoken(row: Message) -> SaidMessage:
    """Render a message as its author sent it, with the keys that the author gave. The role is that of its author."""
    rendered = {
        "message_id": row.shown_id,
        "content": row.words,
        **row.details,
        "role": choice(row.role),
    }
    return cast(SaidMessage, rendered)


class WireLeased(TypedDict):
    """A task with its lease. ``turn`` counts the messages of its sender, from 1: the task's text.

    ``message`` is the newest of them. It is left out while the task's text is the only message. A task of the official
    protocol always has it, with all parts of the message.
    """

    task: WireWork
    lease: WireLease
    turn: int
    message: NotRequired[SaidMessage]


def leased(row: Lease, newest: Mapping[int, Message]) -> WireLeased:
    """Render a lease for its new holder. ``newest`` has the newest messages of senders, by the key of their task."""
    rendered: WireLeased = {"task": work(row.task, row.task.recipient), "lease": lease(row), "turn": row.task.turn}
    if row.task_id in newest:
        rendered["message"] = spoken(newest[row.task_id])
    return rendered


class TaskOpt(TypedDict):
    """The leased task with its lease. Both are null when nothing was there to lease.

    ``turn`` counts the messages of the task's sender, from 1: the task's text. ``message`` is the newest of them; it is
    left out while the text is the only message. ``attempt_spent`` is there only when the attempt id is spent: its
    leases have ended. Use a new id.
    """

    kind: Literal["a2a_task_opt"]
    task: WireWork | None
    lease: WireLease | None
    turn: NotRequired[int | None]
    message: NotRequired[SaidMessage | None]
    attempt_spent: NotRequired[bool]


def next_task(leased: WireLeased | None, *, spent: bool) -> TaskOpt:
    """Render the answer to a receive. ``spent``: its attempt id takes no task any more."""
    rendered = cast(TaskOpt, {"kind": "a2a_task_opt", **(leased or {"task": None, "lease": None})})
    if spent:
        rendered["attempt_spent"] = True
    return rendered


class TaskLeased(TypedDict):
    """The task with its lease. ``turn`` and ``message`` are as in the answer of the next task."""

    kind: Literal["a2a_task_leased"]
    task: WireWork
    lease: WireLease
    turn: int
    message: NotRequired[SaidMessage | None]


class WireProgress(TypedDict):
    """How much of the work is done, from 0 to 1, and a note on what is happening."""

    fraction: float
    note: str


class WireMessage(SaidMessage):
    """A message with its number in the task's journal and its time. ``progress`` is there only if it reports some."""

    seq: int
    said_at_ms: int
    progress: NotRequired[WireProgress]


def message(row: Message) -> WireMessage:
    """Render a message with its number and time, and with the progress that it reports."""
    rendered = cast(WireMessage, {**spoken(row), "seq": row.seq, "said_at_ms": epoch_ms(row.said_at)})
    if (progress := row.progress) is not None:
        rendered["progress"] = {"fraction": progress["value"], "note": progress["note"]}
    return rendered


class WireArtifact(TypedDict):
    """An artifact, or a part of it. With ``append`` it continues the artifact of that id from the page before.

    ``last_chunk`` says whether its agent declared it complete. ``seq`` is the number of the last of its chunks. The
    name, description, metadata and extensions are each as the newest chunk gave it.
    """

    artifact_id: str
    append: bool
    last_chunk: bool
    seq: int
    said_at_ms: int
    content: BlockList
    name: NotRequired[str]
    description: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]
    extensions: NotRequired[list[str]]


def _artifact(artifact: WholeArtifact) -> WireArtifact:
    rendered = {
        "artifact_id": artifact.artifact_id,
        "append": artifact.append,
        "last_chunk": artifact.is_complete,
        "seq": artifact.seq,
        "said_at_ms": epoch_ms(artifact.said_at),
        "content": artifact.blocks,
        **artifact.details,
    }
    return cast(WireArtifact, rendered)


class ListedMessages(TypedDict):
    """Messages of both parties, oldest first. The first is the task's text.

    If more are left, ``next_after`` is the ``after`` of the next request, else null. A wait ends when the task is
    resolved, since no message follows. It also ends when the agent asks without words. ``next_after`` is then the
    number of the question, so that the next request waits for what follows it.
    """

    kind: Literal["a2a_messages"]
    task_id: UUID
    state: State
    awaits: NotRequired[Awaits | None]
    turn: int
    messages: list[WireMessage]
    next_after: int | None


def messages(read: Reading) -> ListedMessages:
    """Render a page of messages with the state of their task."""
    task = read.task
    awaits = {} if task.awaits is None else {"awaits": task.awaits}
    rendered = {
        "kind": "a2a_messages",
        "task_id": task.uuid,
        "state": task.state,
        **awaits,
        "turn": task.turn,
        "messages": [message(row) for row in read.page.items],
        "next_after": read.next_after,
    }
    return cast(ListedMessages, rendered)


class TaskUpdated(TypedDict):
    """``seq`` is the number of the last update in the task's journal.

    ``turn`` counts the messages of the task's sender. It grows when the sender sends a further message.
    """

    kind: Literal["a2a_task_updated"]
    task_id: UUID
    seq: int
    turn: int


class MessageSent(TypedDict):
    """``seq`` is the number of the message in the task's journal, ``turn`` its number among those of the sender."""

    kind: Literal["a2a_message_sent"]
    task_id: UUID
    message_id: str
    seq: int
    turn: int


def sent(answer: Sent) -> MessageSent:
    """Render the answer to a message of the task's sender."""
    row = answer.message
    return {
        "kind": "a2a_message_sent",
        "task_id": row.task.uuid,
        "message_id": row.shown_id,
        "seq": row.seq,
        "turn": answer.turn,
    }


class ListedArtifacts(TypedDict):
    kind: Literal["a2a_artifacts"]
    task_id: UUID
    artifacts: list[WireArtifact]
    next_cursor: str | None


def artifacts(task_id: UUID, page: Page[Artifact]) -> ListedArtifacts:
    """Render a page of artifacts. The chunks of an artifact on the page are one entry."""
    return {
        "kind": "a2a_artifacts",
        "task_id": task_id,
        "artifacts": [_artifact(one) for one in whole(page.items)],
        "next_cursor": page.next_cursor,
    }
