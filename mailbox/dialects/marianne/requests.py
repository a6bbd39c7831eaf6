"""The bodies and queries of the inbox routes."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from mailbox.dialects.base.fields import Exact, Text, WorkTimeoutMs
from mailbox.dialects.marianne.values import A2ATask


class SubmitBody(Exact):
    """A task for the inbox, sent by the caller. A request that names its ``task_id`` can be repeated.

    ``work_timeout_ms`` is a duration: an accepted task that is not finished by then fails.
    """

    task_id: UUID | None = None
    description: Text
    source_job_id: Text = ""
    context: dict[str, Any] = {}
    work_timeout_ms: WorkTimeoutMs | None = None


class AcceptBody(Exact):
    """The same ``attempt_id`` gets the same answer again while its lease is live. After that the id is spent."""

    attempt_id: UUID | None = None


class CompleteBody(Exact):
    """The products of the work, by name."""

    artifacts: dict[str, Any] = {}


class FailBody(Exact):
    """The reason of the failure."""

    reason: Text


class DelegateBody(Exact):
    """An agent's output. Each ``@delegate NAME: TEXT`` line outside code fences becomes a task, at most 100 lines.

    A request that names its ``delegation_id`` can be repeated: the task ids are derived from it.
    """

    text: Text
    source_job_id: Text = ""
    delegation_id: UUID | None = None


class ImportBody(Exact):
    """An exported inbox or one page of it, with its tasks by id. A ``next_cursor`` is ignored."""

    job_id: Text
    agent_name: Text
    tasks: dict[str, A2ATask] = {}
    next_cursor: str | None = None


class InboxQuery(Exact):
    status: Literal["pending", "accepted", "completed", "failed"] | None = None
    limit: int = Field(100, ge=1, le=1000)
    cursor: str | None = None


class ExportQuery(Exact):
    job_id: str = Field("", max_length=200)
    cursor: str | None = None
