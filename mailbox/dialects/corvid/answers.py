"""What ``tasks/send`` answers, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, RootModel
from typing_extensions import TypedDict


class TextPart(TypedDict):
    type: Literal["text"]
    text: str


class TaskMessage(TypedDict):
    role: Literal["user", "agent"]
    parts: list[TextPart]


class CorvidTask(BaseModel):
    """A task with its conversation. Times are ISO 8601 with milliseconds.

    ``sessionId`` is the lease, null while no agent works on the task. ``messages`` holds at most 2000 messages and 900 kB.
    The sent text comes first, cut beyond 100 kB. A note in brackets stands for messages that are left out. The text of
    the result comes last.
    """

    id: UUID
    state: Literal["submitted", "working", "completed", "failed"]
    messages: list[TaskMessage]
    sessionId: UUID | None  # noqa: N815 the wire's spelling
    createdAt: str  # noqa: N815
    updatedAt: str  # noqa: N815


class CorvidError(BaseModel):
    """An error."""

    error: str
    code: str = ""


class TaskSendBody(RootModel[dict[str, Any]]):
    """The task: ``{"params": {"message", "skill"?, "timeoutMs"?, "depth"?}}``, or these keys at the top level."""
