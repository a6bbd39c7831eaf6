"""Marianne's values, strict about keys as the original is. Source: Marianne, ``daemon.a2a`` models."""

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class A2ATaskStatus(StrEnum):
    """The status of a task in an inbox. ``completed`` and ``failed`` are final."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    COMPLETED = "completed"
    FAILED = "failed"


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class A2ASkill(Strict):
    """Something an agent can do."""

    id: str
    description: str


class AgentCard(Strict):
    """The card of an agent, with its skills."""

    name: str
    description: str
    skills: list[A2ASkill] = Field(default_factory=list)


class A2ATask(Strict):
    """A task as the inbox shows it: a copy that does not change when the task does."""

    task_id: str
    source_job_id: str
    source_agent: str
    target_agent: str
    description: str
    context: dict[str, Any] = Field(default_factory=dict)
    status: A2ATaskStatus = A2ATaskStatus.PENDING
    artifacts: dict[str, Any] = Field(default_factory=dict)
    failure_reason: str | None = None
