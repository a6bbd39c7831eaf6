"""The conversation of a task: messages, artifacts, and the updates that a holder posts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from msgspec import field

from a2a_hub_client.models.tasks import Awaits, BaseMessage, State
from a2a_hub_client.models.wire import Content, ContentInput, Moment, Wire, blocks_of, filled


class Progress(Wire, frozen=True, kw_only=True):
    """How much of the work is done, from 0 to 1, and a note on what is happening."""

    fraction: float
    note: str = ""


class Message(BaseMessage, frozen=True, kw_only=True):
    """A message of a task. ``seq`` is its number in the task's journal. ``progress`` is None if it reports none."""

    seq: int
    said_at: Moment = field(name="said_at_ms")
    progress: Progress | None = None


class Messages(Wire, frozen=True, kw_only=True):
    """A page of messages, oldest first, and the state of the task. ``next_after`` None: no message is left."""

    task_id: UUID
    state: State
    messages: list[Message]
    awaits: Awaits | None = None
    turn: int = 1
    next_after: int | None = None


class TaskUpdate(Wire, frozen=True, kw_only=True):
    """An event of a task: a message, a question of its agent, or its end.

    ``message`` is None for a question without words and for an end without closing words. ``awaits`` is the kind of the
    question that is open after this update.
    """

    state: State
    message: Message | None = None
    awaits: Awaits | None = None


class Artifact(Wire, frozen=True, kw_only=True):
    """An artifact, or a part of it. With ``append`` it continues the artifact of that id from before.

    ``last_chunk`` says whether its agent declared it complete.
    """

    artifact_id: str
    append: bool
    last_chunk: bool
    seq: int
    said_at: Moment = field(name="said_at_ms")
    content: Content
    name: str | None = None
    description: str | None = None
    metadata: dict[str, Any] | None = None
    extensions: list[str] = []


class MessageSent(Wire, frozen=True, kw_only=True):
    """``seq`` is the number of the message in the task's journal, ``turn`` its number among those of the sender."""

    task_id: UUID
    message_id: str
    seq: int
    turn: int


class TaskUpdated(Wire, frozen=True, kw_only=True):
    """``seq`` is the number of the last update. ``turn`` counts the messages of the task's sender."""

    task_id: UUID
    seq: int
    turn: int = 1


class Update(Wire, frozen=True, kw_only=True):
    """An update that the holder of a lease posts. The class methods make each kind."""

    fields: Mapping[str, Any]

    @classmethod
    def saying(
        cls, content: ContentInput, *, message_id: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> Update:
        """Return a message to the task's sender."""
        return cls._of({"message": blocks_of(content), "message_id": message_id, "metadata": metadata})

    @classmethod
    def of_progress(cls, fraction: float, note: str = "") -> Update:
        """Return a report that a ``fraction`` of the work is done, from 0 to 1."""
        return cls._of({"progress": {"fraction": fraction, "note": note}})

    @classmethod
    def with_artifact(
        cls,
        content: ContentInput,
        *,
        artifact_id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        extensions: Sequence[str] = (),
        append: bool = False,
        last_chunk: bool = False,
    ) -> Update:
        """Return an artifact that replaces the one of that id. With ``append`` it adds a chunk to it."""
        artifact = {
            "artifact_id": artifact_id,
            "name": name,
            "description": description,
            "content": blocks_of(content),
            "metadata": metadata,
            "extensions": list(extensions) or None,
        }
        return cls._of({"artifact": filled(artifact), "append": append or None, "last_chunk": last_chunk or None})

    @classmethod
    def asking(
        cls, content: ContentInput | None = None, *, awaits: Literal["input", "authorization"] = "input"
    ) -> Update:
        """Return a question to the task's sender, which ends the lease. A question for authorization needs words."""
        status = "auth_required" if awaits == "authorization" else "input_required"
        return cls._of({"status": status, "message": None if content is None else blocks_of(content)})

    @classmethod
    def _of(cls, fields: Mapping[str, Any]) -> Update:
        return cls(fields=filled(fields))
