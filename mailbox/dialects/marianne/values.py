"""Marianne's values, strict about keys as the original is. Source: Marianne, ``daemon.a2a`` models."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class A2ATaskStatus(StrEnum):
    """How far a task in an inbox is; completed and failed are final."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    COMPLETED = "completed"
    FAILED = "failed"


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class A2ASkill(Strict):
    id: str
    description: str


class AgentCard(Strict):
    name: str
    description: str
    skills: list[A2ASkill] = Field(default_factory=list)


class A2ATask(Strict):
    """A task as an inbox shows it: a copy, not a live handle."""

    task_id: str
    source_job_id: str
    source_agent: str
    target_agent: str
    description: str
    context: dict[str, Any] = Field(default_factory=dict)
    status: A2ATaskStatus = A2ATaskStatus.PENDING
    artifacts: dict[str, Any] = Field(default_factory=dict)
    failure_reason: str | None = None
