"""The answers of ``tasks/send``, for the renderer and for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, RootModel
from typing_extensions import TypedDict

TaskState = Literal["submitted", "working", "completed", "failed"]
Role = Literal["user", "agent"]


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


class TaskAnswer(RootModel[CorvidTask]):
    """A task with its conversation."""


class CorvidError(BaseModel):
    """An error."""

    error: str
    code: str = ""


class TaskSendBody(RootModel[dict[str, Any]]):
    """The task: ``{"params": {"message", "skill"?, "timeoutMs"?, "depth"?}}``, or these keys at the top level."""
