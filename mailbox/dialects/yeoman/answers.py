"""The answers of the YEOMAN routes, for the renderers and for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import BaseModel, RootModel
from typing_extensions import TypedDict


class MessageAccepted(BaseModel):
    """The accepted message, by its id. The other keys depend on the type of the message."""

    accepted: Literal[True]
    message_id: str
    type: str = ""
    task_id: str | None = None
    task_ids: list[str] = []
    timestamp: int = 0
    statuses: dict[str, Any] = {}
    data: dict[str, Any] | None = None
    warning: str = ""


class PeerCapability(TypedDict):
    """A capability of the hub. ``agent`` is the agent or the running job that has it, left out for the hub's own."""

    name: str
    description: str
    version: str
    agent: NotRequired[str]


class PeerCapabilities(BaseModel):
    capabilities: list[PeerCapability]


class Discovery(TypedDict):
    """The hub as a peer."""

    id: str
    name: str
    publicKey: str
    capabilities: list[PeerCapability]


class DiscoveryAnswer(RootModel[Discovery]):
    """The hub as a peer."""


class PeerAgent(TypedDict):
    """A peer. ``lastSeen`` is in Unix epoch milliseconds."""

    id: str
    name: str
    url: str
    publicKey: str
    trustLevel: Literal["untrusted"]
    capabilities: Any
    lastSeen: int
    status: Literal["online", "suspect", "offline"]


class RegisteredPeer(BaseModel):
    peer: PeerAgent


TaskWord = Literal["pending", "running", "completed", "failed", "cancelled"]


class TaskStatus(TypedDict):
    """The status of a task. ``result`` is null until the task ends.

    Then it is the content of the result, or ``{"error"}``.
    """

    task_id: str
    session_id: str
    status: TaskWord
    created_at: str
    updated_at: str
    result: dict[str, Any] | None


class TaskStatusAnswer(RootModel[TaskStatus]):
    """The status of a task."""


class TaskStatuses(BaseModel):
    items: list[TaskStatus]
    total: int
    limit: int
    offset: int


class WorkflowTaskStatus(TaskStatus):
    """The status of a task, with its id a second time."""

    taskId: str


class WorkflowAccepted(RootModel[WorkflowTaskStatus]):
    """The status of the accepted task."""


class SubmittedTaskCancelled(BaseModel):
    task_id: str
    status: Literal["cancelled"]
    message: str


class Refusal(BaseModel):
    """An error. ``detail`` is a text or, for a body of the wrong shape, a list of problems."""

    detail: str | list[dict[str, Any]]
