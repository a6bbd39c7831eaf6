"""What the YEOMAN routes answer, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel


class Accepted(BaseModel):
    """``accepted`` and the message's id, and what its type is answered with beside them."""

    accepted: Literal[True]
    message_id: str
    type: str = ""
    task_id: str | None = None
    task_ids: list[str] = []
    timestamp: int = 0
    statuses: dict[str, Any] = {}
    data: dict[str, Any] | None = None
    warning: str = ""


class PeerCapability(BaseModel):
    name: str
    description: str
    version: str


class PeerCapabilities(BaseModel):
    capabilities: list[PeerCapability]


class Discovery(PeerCapabilities):
    id: str
    name: str
    publicKey: str  # noqa: N815 the wire's spelling


class PeerAgent(BaseModel):
    id: str
    name: str
    url: str
    publicKey: str  # noqa: N815
    trustLevel: Literal["untrusted"]  # noqa: N815
    capabilities: Any
    lastSeen: int  # noqa: N815
    status: Literal["online", "suspect", "offline"]


class RegisteredPeer(BaseModel):
    peer: PeerAgent


class TaskStatus(BaseModel):
    """A TaskStatusResponse; ``result`` is the content, or ``{"error"}``, once there is one."""

    task_id: str
    session_id: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    created_at: str
    updated_at: str
    result: dict[str, Any] | None


class TaskStatuses(BaseModel):
    items: list[TaskStatus]
    total: int
    limit: int
    offset: int


class WorkflowAccepted(TaskStatus):
    taskId: str  # noqa: N815


class SubmittedTaskCancelled(BaseModel):
    task_id: str
    status: Literal["cancelled"]
    message: str


class Refusal(BaseModel):
    """FastAPI's: a text, or for a body of the wrong shape a list of type, loc, msg and input."""

    detail: str | list[dict[str, Any]]
