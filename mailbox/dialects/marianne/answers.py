"""What the inbox routes read and answer."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from mailbox.dialects.fields import Exact, Text
from mailbox.dialects.marianne.shapes import A2ATask


class SubmitBody(Exact):
    """A task for the inbox; who sends it is the caller. Under a ``task_id`` of its own a request can be repeated."""

    task_id: UUID | None = None
    description: Text
    source_job_id: Text = ""
    context: dict[str, Any] = {}


class AcceptBody(Exact):
    """The same ``attempt_id`` gets the same answer, so a lost response costs nothing."""

    attempt_id: UUID | None = None


class CompleteBody(Exact):
    artifacts: dict[str, Any] = {}


class FailBody(Exact):
    reason: Text


class DelegateBody(Exact):
    """An agent's output; each ``@delegate NAME: TEXT`` line outside code fences becomes a task.

    Under a ``delegation_id`` of its own a request can be repeated: the task ids follow from it.
    """

    text: Text
    source_job_id: Text = ""
    delegation_id: UUID | None = None


class ImportBody(Exact):
    """What an export answered: an inbox with its tasks by id."""

    job_id: Text
    agent_name: Text
    tasks: dict[str, A2ATask] = {}


class InboxQuery(Exact):
    status: Literal["pending", "accepted", "completed", "failed"] | None = None
    limit: int = Field(100, ge=1, le=1000)
    cursor: str | None = None


class ExportQuery(Exact):
    job_id: str = Field("", max_length=200)


class InboxTask(BaseModel):
    kind: Literal["a2a_inbox_task"]
    task: A2ATask


class InboxTasks(BaseModel):
    kind: Literal["a2a_inbox_tasks"]
    agent_name: str
    tasks: list[A2ATask]
    next_cursor: str | None


class Exported(BaseModel):
    job_id: str
    agent_name: str
    tasks: dict[str, A2ATask]


class Imported(BaseModel):
    """``skipped`` tasks were known before, and stay as they are."""

    kind: Literal["a2a_inbox_imported"]
    imported: int
    skipped: int
    task_count: int
    pending_count: int


class Delegated(BaseModel):
    """``task_id`` is null where the task was refused, with the reason."""

    agent: str
    description: str
    task_id: UUID | None
    error: str | None


class Delegations(BaseModel):
    """``unclosed_fence`` is the line, from 1, of a code fence that never closed: all after it was read as code."""

    kind: Literal["a2a_delegated"]
    delegated: list[Delegated]
    unclosed_fence: int | None
