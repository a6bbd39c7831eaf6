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
    """corvid-agent's A2ATask; ``sessionId`` is the lease that works on it, times are ISO 8601 in milliseconds.

    ``messages`` are at most 2000 and 900 kB: what was sent, cut beyond 100 kB, and the newest of what the agent said, an
    agent message in brackets telling where earlier ones are left out. The text of the result is the last, cut only beyond
    what there is room for.
    """

    id: UUID
    state: Literal["submitted", "working", "completed", "failed"]
    messages: list[TaskMessage]
    sessionId: UUID | None  # noqa: N815 the wire's spelling
    createdAt: str  # noqa: N815
    updatedAt: str  # noqa: N815


class CorvidError(BaseModel):
    error: str
    code: str = ""


class TaskSendBody(RootModel[dict[str, Any]]):
    """``{"params": {"message", "skill"?, "timeoutMs"?, "depth"?}}``, or the same keys at the top level."""
