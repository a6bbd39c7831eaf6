"""A task as an agent elsewhere shows it, in checked values, and its changes by the events of a stream.

The agent is a stranger: fields of wrong types count as absent. Source: A2A 1.0, Task, StreamResponse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self
from uuid import NAMESPACE_OID, uuid5

from agentcards.official_client.reading import Json, object_in, objects_in, text_in, texts_in
from mailbox.outbound.errors import ExternalServiceError
from mailbox.words import json_text
from mailbox.words.a2a.parts import blocks_of
from mailbox.words.a2a.states import TaskState
from mailbox.words.a2a.v1_0 import HUB
from mailbox.words.conversation import ID_MAX_LENGTH, RESULT, Details

AGENT_ROLE = "ROLE_AGENT"
Block = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMessage:
    """A message of the agent. ``progress`` is from 0 to 1, None without it. ``blocks`` may be empty.

    The hub derives an id from the parts of a message that has none.
    """

    message_id: str
    blocks: Sequence[Block]
    metadata: Json = field(default_factory=dict)
    progress: float | None = None
    extensions: Sequence[str] = ()
    reference_task_ids: Sequence[str] = ()

    @property
    def details(self) -> Details:
        """The message beside its blocks, with its progress among the metadata."""
        progress = {} if self.progress is None else {"progress": self.progress}
        return Details(
            message_id=self.message_id,
            metadata={**self.metadata, **progress} or None,
            extensions=self.extensions,
            reference_task_ids=self.reference_task_ids,
        )

    @classmethod
    def of(cls, message: Json) -> Self:
        metadata = dict(object_in(message, "metadata"))
        progress: Any = metadata.get("progress")
        if type(progress) not in (int, float) or not 0 <= progress <= 1:
            progress = None
        else:
            del metadata["progress"]
        parts = objects_in(message, "parts")
        derived = str(uuid5(NAMESPACE_OID, json_text.dumps(parts)))
        return cls(
            message_id=text_in(message, "messageId")[:ID_MAX_LENGTH] or derived,
            blocks=blocks_of(parts),
            metadata=metadata,
            progress=None if progress is None else float(progress),
            extensions=tuple(texts_in(message, "extensions")),
            reference_task_ids=tuple(texts_in(message, "referenceTaskIds")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownArtifact:
    """An artifact of the agent, whole or as a chunk. ``details`` may have name, description, metadata, extensions.

    ``is_complete``: these are its last blocks, by the agent's stream.
    """

    artifact_id: str
    blocks: Sequence[Block]
    details: Json = field(default_factory=dict)
    is_complete: bool = False

    @classmethod
    def of(cls, artifact: Json) -> Self:
        fields: Json = {name: text_in(artifact, name) for name in ("name", "description")}
        fields |= {"metadata": object_in(artifact, "metadata"), "extensions": texts_in(artifact, "extensions")}
        details = {name: found for name, found in fields.items() if found}
        artifact_id = text_in(artifact, "artifactId").strip()[:ID_MAX_LENGTH] or RESULT
        return cls(artifact_id=artifact_id, blocks=blocks_of(objects_in(artifact, "parts")), details=details)

    def with_chunk(self, chunk: ShownArtifact) -> ShownArtifact:
        return replace(chunk, blocks=[*self.blocks, *chunk.blocks], details={**self.details, **chunk.details})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTask:
    """A task as its agent shows it. ``words`` are the agent's messages in order, that of the status included.

    ``closing`` is the message of the present status, None without one; it is the last of ``words``. ``status_at`` is
    the time of the status as its agent wrote it, "" without one. ``is_partial``: a hub says that the result is partial.
    """

    task_id: str
    context_id: str
    state: TaskState
    status_at: str = ""
    is_partial: bool = False
    words: Sequence[ShownMessage] = ()
    closing: ShownMessage | None = None
    artifacts: Mapping[str, ShownArtifact] = field(default_factory=dict)

    @classmethod
    def of(cls, task: Json) -> Self:
        """Read a task. Raises `ExternalServiceError` for a task without an id or a known state."""
        status = object_in(task, "status")
        closing = _status_message(status)
        messages = [ShownMessage.of(one) for one in objects_in(task, "history") if text_in(one, "role") == AGENT_ROLE]
        if closing is not None and closing.message_id and any(one.message_id == closing.message_id for one in messages):
            messages = [one for one in messages if one.message_id != closing.message_id]
        artifacts = [ShownArtifact.of(one) for one in objects_in(task, "artifacts")]
        return cls(
            task_id=_id(task, "id"),
            context_id=text_in(task, "contextId")[:ID_MAX_LENGTH],
            state=_state(status),
            status_at=text_in(status, "timestamp")[:100],
            is_partial=_is_partial(task),
            words=messages if closing is None else [*messages, closing],
            closing=closing,
            artifacts={one.artifact_id: one for one in artifacts if one.blocks},
        )

    @property
    def question(self) -> str:
        """A text that differs from question to question, "" without a question.

        Its status has a time, else its message has an id.
        """
        if not self.state.is_interrupted:
            return ""
        return f"{self.state} {self.status_at or (self.closing.message_id if self.closing else '')}"

    def after(self, event: Json) -> ShownTask:
        """Return the task after an event of its stream. An event of no known form changes nothing."""
        if "task" in event:
            return ShownTask.of(object_in(event, "task"))
        if "statusUpdate" in event:
            return self._after_status(object_in(event, "statusUpdate"))
        if "artifactUpdate" in event:
            return self._after_artifact(object_in(event, "artifactUpdate"))
        return self

    def _after_status(self, update: Json) -> ShownTask:
        status = object_in(update, "status")
        closing = _status_message(status)
        return replace(
            self,
            state=_state(status),
            status_at=text_in(status, "timestamp")[:100],
            is_partial=_is_partial(update),
            words=self.words if closing is None else [*self.words, closing],
            closing=closing,
        )

    def _after_artifact(self, update: Json) -> ShownTask:
        chunk = ShownArtifact.of(object_in(update, "artifact"))
        chunk = replace(chunk, is_complete=update.get("lastChunk") is True)
        known = self.artifacts.get(chunk.artifact_id)
        placed = known.with_chunk(chunk) if known is not None and update.get("append") is True else chunk
        return replace(self, artifacts={**self.artifacts, chunk.artifact_id: placed})


def answer_of(result: Json) -> ShownTask | ShownMessage:
    """Return the task or the message that a send was answered with. Raises `ExternalServiceError` for neither."""
    if message := object_in(result, "message"):
        return ShownMessage.of(message)
    if task := object_in(result, "task"):
        return ShownTask.of(task)
    raise ExternalServiceError("the agent's answer has neither a task nor a message")


def _status_message(status: Json) -> ShownMessage | None:
    message = object_in(status, "message")
    return ShownMessage.of(message) if message else None


def _is_partial(shown: Json) -> bool:
    return text_in(object_in(object_in(shown, "metadata"), HUB), "outcome") == "partial"


def _state(status: Json) -> TaskState:
    try:
        return TaskState(text_in(status, "state"))
    except ValueError:
        raise ExternalServiceError("the agent's task has no known state") from None


def _id(task: Json, name: str) -> str:
    text = text_in(task, name)
    if not 0 < len(text) <= ID_MAX_LENGTH:
        raise ExternalServiceError(f"the agent's task has no usable {name}")
    return text
