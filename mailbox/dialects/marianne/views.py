"""Inboxes over HTTP. Senders put tasks in, the inbox's agent takes them out, people see all tasks."""

from http import HTTPStatus
from typing import Any, Literal
from uuid import UUID, uuid5

from django.http import HttpResponse
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from mailbox.access.agents import directory
from mailbox.dialects.base.bodies import Exact, Text, WorkTimeoutMs
from mailbox.dialects.base.http_errors import STATUS
from mailbox.dialects.base.openapi import operation
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.marianne import inbox, wire
from mailbox.dialects.marianne.values import A2ATask, A2ATaskStatus
from mailbox.life import leasing, results, sending
from mailbox.models import Agent
from mailbox.upkeep import imports
from mailbox.words import errors, names, times
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.errors import InvalidRequestError, MailboxError


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


class InboxImported(TypedDict):
    """``skipped`` counts tasks that the hub already had. They stay as they are."""

    kind: Literal["a2a_inbox_imported"]
    imported: int
    skipped: int
    task_count: int
    pending_count: int


class Delegated(TypedDict):
    """A task made from one line. ``task_id`` is null when the task was refused; ``error`` says why."""

    agent: str
    description: str
    task_id: UUID | None
    error: str | None


class Delegations(TypedDict):
    """The tasks made from the text.

    ``unclosed_fence`` is the line (from 1) of a code fence that never closes. The text after it was read as code.
    """

    kind: Literal["a2a_delegated"]
    delegated: list[Delegated]
    unclosed_fence: int | None


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


class NotYourInboxError(MailboxError):
    """Only the agent of this inbox may do this."""

    code = "not_your_inbox"


class InboxView(DialectView):
    """A view of one agent's inbox. The path has the agent's display, local part or name."""

    error_status = {**STATUS, NotYourInboxError: HTTPStatus.FORBIDDEN}

    def owner(self, agent: str) -> Agent:
        return directory.named(self.caller, agent)

    def require_owner(self, agent: str) -> Agent:
        """Return the inbox's agent, which must be the caller. The check comes before any look at the task."""
        owner = self.owner(agent)
        if self.caller.agent != owner:
            raise NotYourInboxError
        return owner

    def shown(self, owner: Agent, task_id: UUID) -> dict[str, Any]:
        return _shown(inbox.task_in(self.caller, owner, task_id))


class InboxTasksView(InboxView):
    @operation("list_inbox", answer=InboxTasks, errors=(404,))
    def get(self, agent: str, query: InboxQuery) -> dict[str, Any]:
        status = A2ATaskStatus(query.status) if query.status else None
        owner = self.owner(agent)
        page = inbox.tasks_in(self.caller, owner, status=status, limit=query.limit, cursor=query.cursor)
        return {
            "kind": "a2a_inbox_tasks",
            "agent_name": names.name_of(owner.display),
            "tasks": [task.model_dump(mode="json") for task in page.items],
            "next_cursor": page.next_cursor,
        }

    @operation("submit_inbox_task", answer=InboxTask, errors=(403, 404, 409))
    def post(self, agent: str, body: SubmitBody) -> dict[str, Any]:
        owner = self.owner(agent)
        sent = sending.send_task(
            self.caller,
            wire.envelope(
                owner.display,
                body.description,
                source_job_id=body.source_job_id,
                context=body.context,
                task_id=body.task_id,
                work_timeout=times.from_ms(body.work_timeout_ms),
            ),
        )
        return _shown(inbox.render(sent), is_compacted=sent.is_compacted)


class InboxTaskView(InboxView):
    @operation("read_inbox_task", answer=InboxTask, errors=(404,))
    def get(self, agent: str, task_id: UUID) -> dict[str, Any]:
        return self.shown(self.owner(agent), task_id)


class AcceptView(InboxView):
    @operation("accept_inbox_task", body=AcceptBody, answer=InboxTask, errors=(403, 404, 409))
    def post(self, agent: str, task_id: UUID) -> dict[str, Any]:
        owner = self.require_owner(agent)
        leasing.lease_task(self.caller, task_id, attempt_id=self.body(AcceptBody).attempt_id)
        return self.shown(owner, task_id)


class CompleteView(InboxView):
    @operation("complete_inbox_task", answer=InboxTask, errors=(403, 404, 409))
    def post(self, agent: str, task_id: UUID, body: CompleteBody) -> dict[str, Any]:
        content = wire.blocks(body.artifacts)
        posted = ResultEnvelope(task_id=task_id, status=ResultStatus.OK, content=content)
        return self._finished(agent, posted)

    def _finished(self, agent: str, posted: ResultEnvelope) -> dict[str, Any]:
        owner = self.require_owner(agent)
        task = results.post_result(self.caller, posted, lease_first=True).task
        if task.is_compacted:
            return _shown(inbox.render(task), is_compacted=True)
        return self.shown(owner, posted.task_id)


class FailView(CompleteView):
    @operation("fail_inbox_task", answer=InboxTask, errors=(403, 404, 409))
    def post(self, agent: str, task_id: UUID, body: FailBody) -> dict[str, Any]:
        posted = ResultEnvelope(task_id=task_id, status=ResultStatus.ERROR, error_message=body.reason)
        return self._finished(agent, posted)


class ContextView(InboxView):
    @operation("read_inbox_context", answer=str, errors=(404,))
    def get(self, agent: str) -> HttpResponse:
        text = inbox.context(self.caller, self.owner(agent))
        return HttpResponse(text, content_type="text/markdown; charset=utf-8")


class ExportView(InboxView):
    @operation("export_inbox", query=ExportQuery, answer=Exported, errors=(404,))
    def get(self, agent: str) -> dict[str, Any]:
        owner = self.owner(agent)
        query = self.query(ExportQuery)
        return inbox.export(self.caller, owner, job_id=query.job_id, cursor=query.cursor)


class ImportView(InboxView):
    @operation("import_inbox", body=ImportBody, errors=(403, 404, 409))
    def post(self, agent: str) -> InboxImported:
        owner = self.owner(agent)
        body = self.body(ImportBody)
        kept = inbox.kept_tasks(owner.display, list(body.tasks.values()), agent_name=body.agent_name)
        imported = imports.import_tasks(self.caller, owner.display, kept)
        counted = inbox.counts(self.caller, owner)
        return {
            "kind": "a2a_inbox_imported",
            "imported": imported.imported,
            "skipped": imported.skipped,
            "task_count": counted["task_count"],
            "pending_count": counted["pending_count"],
        }


class DelegateView(InboxView):
    @operation("delegate", body=DelegateBody, errors=(403, 404))
    def post(self, agent: str) -> Delegations:
        self.require_owner(agent)
        body = self.body(DelegateBody)
        read = wire.delegations(body.text)
        if (count := len(read.lines)) > wire.MOST_DELEGATED:
            raise InvalidRequestError({"text": f"has {count} @delegate lines; at most {wire.MOST_DELEGATED}"})
        delegated = [
            self._delegate(*line, body.source_job_id, self._task_id(body.delegation_id, number))
            for number, line in enumerate(read.lines)
        ]
        return {"kind": "a2a_delegated", "delegated": delegated, "unclosed_fence": read.unclosed_fence}

    def _task_id(self, delegation_id: UUID | None, number: int) -> UUID | None:
        """Return an id made of the delegation, the caller and the line's number; None lets the hub choose."""
        return delegation_id and uuid5(delegation_id, f"{self.caller.name} {number}")

    def _delegate(self, name: str, description: str, source_job_id: str, task_id: UUID | None) -> Delegated:
        delegated: Delegated = {"agent": name, "description": description, "task_id": None, "error": None}
        try:
            task = wire.envelope(
                self.owner(name).display, description, source_job_id=source_job_id, context=None, task_id=task_id
            )
            delegated["task_id"] = sending.send_task(self.caller, task).uuid
        except MailboxError as refusal:
            delegated["error"] = errors.text_for_program(refusal)
        return delegated


def _shown(task: A2ATask, *, is_compacted: bool = False) -> dict[str, Any]:
    answer = {"kind": "a2a_inbox_task", "task": task.model_dump(mode="json")}
    return {**answer, "compacted": True} if is_compacted else answer
