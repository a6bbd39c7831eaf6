"""The parameters of the eleven operations of A2A 1.0. Pure: no queries, no clock.

An id of a task is any text here: an id of no task is answered as a task that is not there.
Source: A2A 1.0, "Operations".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from mailbox.dialects.a2a.fields import (
    Base64,
    ConfigId,
    ContextId,
    Count,
    Flag,
    HeaderText,
    Id,
    Moment,
    Params,
    Role,
    StateFilter,
    Text,
    WebAddress,
    work_timeout,
)
from mailbox.words.a2a.fold import Opening
from mailbox.words.a2a.parts import blocks_of, text_of_parts
from mailbox.words.conversation import Words
from mailbox.words.envelopes import A2A, AgentRef, TaskEnvelope
from mailbox.words.push import PushTarget

CONTENTS = ("text", "raw", "url", "data")
PAGE_SIZE, MAX_PAGE_SIZE = 50, 100


class MessagePart(Params):
    """A part of a message: exactly one of ``text``, ``raw`` (base64), ``url`` and ``data`` (any JSON, null too)."""

    with_presence: ClassVar[frozenset[str]] = frozenset(CONTENTS)

    text: Text | None = None
    raw: Base64 | None = None
    url: Text | None = None
    data: Any = None
    media_type: Text = ""
    filename: Text = ""
    metadata: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _has_one_content(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        given = {key: value for key, value in given.items() if value is not None or key == "data"}
        if sum(name in given for name in CONTENTS) != 1:
            raise ValueError(f"must have exactly one of {', '.join(CONTENTS)}")
        return given

    def part(self) -> dict[str, Any]:
        """Return the part as JSON without empty members."""
        content = next(name for name in CONTENTS if name in self.model_fields_set)
        beside = {"mediaType": self.media_type, "filename": self.filename, "metadata": self.metadata}
        return {content: getattr(self, content), **{name: value for name, value in beside.items() if value}}


class MessageToAgent(Params):
    """A message for the agent. With a ``taskId`` it continues that task, else it makes a new one."""

    message_id: Id
    role: Role
    parts: list[MessagePart] = Field(min_length=1)
    context_id: ContextId | None = None
    task_id: Text | None = None
    metadata: dict[str, Any] = {}
    extensions: list[Text] = []
    reference_task_ids: list[Text] = []

    @property
    def is_agents(self) -> bool:
        """Whether its sender gave itself the role of an agent."""
        return self.role == "ROLE_AGENT"

    @property
    def media_types(self) -> Sequence[str]:
        """The media types that its parts name, each once."""
        return list(dict.fromkeys(part.media_type for part in self.parts if part.media_type))


class PushAuthentication(Params):
    """The ``Authorization`` header of a notification: ``scheme`` and ``credentials``."""

    scheme: HeaderText
    credentials: HeaderText | None = None


class PushConfigFields(Params):
    """The receiver of a task's events. ``id`` is its client's choice, None without one."""

    url: WebAddress
    id: ConfigId | None = None
    token: HeaderText | None = None
    authentication: PushAuthentication | None = None


class SendConfiguration(Params):
    """How to answer a message. Without ``historyLength`` the answer has all messages.

    ``ifGenerationMatch`` is not checked here, since it counts only with the extension for generations.
    """

    accepted_output_modes: list[Text] = []
    history_length: Count | None = None
    return_immediately: Flag = False
    task_push_notification_config: PushConfigFields | None = None
    if_generation_match: Any = None


class Tenanted(Params):
    """The parameters of an operation. ``tenant`` names the agent where the URL does not."""

    tenant: Text = ""


class SendMessageRequest(Tenanted):
    """A message to send, waiting for the answer or with a stream of events."""

    message: MessageToAgent
    configuration: SendConfiguration = SendConfiguration()
    metadata: dict[str, Any] = {}

    def envelope(
        self,
        recipient: AgentRef,
        *,
        task_id: UUID | None,
        context_id: str,
        extensions: Sequence[str],
        push: PushTarget | None = None,
    ) -> TaskEnvelope:
        """Return the task that the message makes; raise `InvalidRequestError` for an invalid work timeout.

        The request has activated ``extensions``. ``push`` is the receiver of the task's events.
        """
        given = self.message
        parts = [part.part() for part in given.parts]
        intent_text = text_of_parts(parts)
        opening = Opening(
            blocks=blocks_of(parts),
            message_id=given.message_id,
            is_agents=given.is_agents,
            extra={
                "metadata": given.metadata,
                "extensions": given.extensions,
                "reference_task_ids": given.reference_task_ids,
            },
        )
        more = {
            "accepted_output_modes": self.configuration.accepted_output_modes,
            "extensions": list(extensions),
            "metadata": self.metadata,
        }
        return TaskEnvelope(
            recipient=recipient,
            intent_text=intent_text,
            id=task_id,
            context_id=context_id,
            metadata={"message": opening.stored(intent_text)} | {key: value for key, value in more.items() if value},
            work_timeout=work_timeout(self.metadata),
            dialect=A2A,
            converses=True,
            reads_result=True,
            push=push,
        )

    def words(self) -> Words:
        """Return the message as a further one of its task."""
        given = self.message
        return Words(
            content=blocks_of([part.part() for part in given.parts]),
            message_id=given.message_id,
            metadata=given.metadata or None,
            extensions=tuple(given.extensions),
            reference_task_ids=tuple(given.reference_task_ids),
            as_agent=given.is_agents,
        )


class GetTaskRequest(Tenanted):
    """A task to read. ``currentGeneration`` counts only with the extension for generations, see `fields.generation`."""

    id: Text
    history_length: Count | None = None
    current_generation: Any = None


class ListTasksRequest(Tenanted):
    """A page of tasks, perhaps of one context or state. ``status`` None: all states."""

    context_id: Text | None = None
    status: StateFilter | None = None
    page_size: Count = Field(PAGE_SIZE, ge=1, le=MAX_PAGE_SIZE)
    page_token: Text | None = None
    history_length: Count | None = None
    status_timestamp_after: Moment | None = None
    include_artifacts: Flag = False


class CancelTaskRequest(Tenanted):
    """A task to cancel."""

    id: Text
    metadata: dict[str, Any] = {}


class SubscribeToTaskRequest(Tenanted):
    """A task whose events to stream."""

    id: Text


class CreatePushConfigRequest(Tenanted, PushConfigFields):
    """A receiver to add to a task, or to replace."""

    task_id: Text


class GetPushConfigRequest(Tenanted):
    """A receiver to read."""

    task_id: Text
    id: Text


class ListPushConfigsRequest(Tenanted):
    """A page of a task's receivers. A ``pageSize`` of 0 means that it is absent."""

    task_id: Text
    page_size: Count = 0
    page_token: Text | None = None

    @model_validator(mode="after")
    def _of_usual_size(self) -> Self:
        self.page_size = min(self.page_size or PAGE_SIZE, MAX_PAGE_SIZE)
        return self


class DeletePushConfigRequest(Tenanted):
    """A receiver to delete."""

    task_id: Text
    id: Text


class GetExtendedAgentCardRequest(Tenanted):
    """The extended card of the agent."""


class PageQuery(Params):
    """A page of a list, from its beginning without a token."""

    page_size: Count = 0
    page_token: Text | None = None


class NoParams(BaseModel):
    """An empty object, or no body at all."""


class RpcBody(BaseModel):
    """A call of JSON-RPC. ``params`` are those of the method, which is one of A2A 1.0 or 0.3."""

    jsonrpc: Literal["2.0"]
    id: str | int | None = None
    method: str
    params: dict[str, Any] = {}
