"""The answers of the routes for a conversation, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel
from typing_extensions import TypedDict

from mailbox.dialects.base.wire import BlockList
from mailbox.dialects.covenant.lease_answers import SaidMessage

State = Literal["queued", "in_flight", "interrupted", "resolved"]
Awaits = Literal["input", "authorization"]


class WireProgress(TypedDict):
    """How much of the work is done, from 0 to 1, and a note on what is happening."""

    fraction: float
    note: str


class WireMessage(SaidMessage):
    """A message with its number in the task's journal and its time. ``progress`` is there only if it reports some."""

    seq: int
    said_at_ms: int
    progress: NotRequired[WireProgress]


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


class ListedMessages(BaseModel):
    """Messages of both parties, oldest first. The first is the task's text.

    If more are left, ``next_after`` is the ``after`` of the next request, else null. A wait ends when the task is
    resolved, since no message follows. It also ends when the agent asks without words. ``next_after`` is then the
    number of the question, so that the next request waits for what follows it.
    """

    kind: Literal["a2a_messages"]
    task_id: UUID
    state: State
    awaits: Awaits | None = None
    turn: int
    messages: list[WireMessage]
    next_after: int | None


class TaskUpdated(BaseModel):
    """``seq`` is the number of the last update in the task's journal.

    ``turn`` counts the messages of the task's sender. It grows when the sender sends a further message.
    """

    kind: Literal["a2a_task_updated"]
    task_id: UUID
    seq: int
    turn: int


class MessageSent(BaseModel):
    """``seq`` is the number of the message in the task's journal, ``turn`` its number among those of the sender."""

    kind: Literal["a2a_message_sent"]
    task_id: UUID
    message_id: str
    seq: int
    turn: int


class ListedArtifacts(BaseModel):
    kind: Literal["a2a_artifacts"]
    task_id: UUID
    artifacts: list[WireArtifact]
    next_cursor: str | None
