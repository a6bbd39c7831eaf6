"""The answers of the inbox routes, for the OpenAPI document."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import BaseModel

from mailbox.dialects.marianne.values import A2ATask


class InboxTask(BaseModel):
    """``compacted`` is there only for a repeat about a task that was deleted since.

    The hub then shows what the repeat contains: a repeated submission has no artifacts, a repeated end no description.
    """

    kind: Literal["a2a_inbox_task"]
    task: A2ATask
    compacted: bool = False


class InboxTasks(BaseModel):
    kind: Literal["a2a_inbox_tasks"]
    agent_name: str
    tasks: list[A2ATask]
    next_cursor: str | None


class Exported(BaseModel):
    """An inbox, with its tasks by id."""

    job_id: str
    agent_name: str
    tasks: dict[str, A2ATask]


class InboxImported(BaseModel):
    """``skipped`` counts tasks that the hub already had. They stay as they are."""

    kind: Literal["a2a_inbox_imported"]
    imported: int
    skipped: int
    task_count: int
    pending_count: int


class Delegated(BaseModel):
    """A task made from one line. ``task_id`` is null when the task was refused; ``error`` says why."""

    agent: str
    description: str
    task_id: UUID | None
    error: str | None


class Delegations(BaseModel):
    """The tasks made from the text.

    ``unclosed_fence`` is the line (from 1) of a code fence that never closes. The text after it was read as code.
    """

    kind: Literal["a2a_delegated"]
    delegated: list[Delegated]
    unclosed_fence: int | None
