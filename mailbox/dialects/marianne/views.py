"""Inboxes over HTTP. Senders put tasks in, the inbox's agent takes them out, people see all tasks."""

from __future__ import annotations

import dataclasses
from http import HTTPStatus
from uuid import UUID, uuid5

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.agents import directory
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.base.statuses import STATUS
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.marianne import answers, delegation, exchange, inbox, requests, wire
from mailbox.dialects.marianne.answers import Delegated
from mailbox.dialects.marianne.values import A2ATask, A2ATaskStatus
from mailbox.journal import compacted_tasks
from mailbox.life import leasing, results, sending
from mailbox.models import Agent
from mailbox.upkeep import imports
from mailbox.words import errors, names, times
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.errors import InvalidRequestError, MailboxError


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

    def shown(self, owner: Agent, task_id: UUID) -> Response:
        return _shown(inbox.task_in(self.caller, owner, task_id))


class InboxTasksView(InboxView):
    @describe(
        summary="List an inbox",
        tag="inboxes",
        query=requests.InboxQuery,
        answer=answers.InboxTasks,
        errors=(404,),
        operation_id="list_inbox",
    )
    def get(self, request: Request, agent: str) -> Response:
        query = self.query(requests.InboxQuery)
        status = A2ATaskStatus(query.status) if query.status else None
        owner = self.owner(agent)
        page = inbox.tasks_in(self.caller, owner, status=status, limit=query.limit, cursor=query.cursor)
        return Response(
            {
                "kind": "a2a_inbox_tasks",
                "agent_name": names.name_of(owner.display),
                "tasks": [task.model_dump(mode="json") for task in page.items],
                "next_cursor": page.next_cursor,
            }
        )

    @describe(
        summary="Put a task in an inbox",
        tag="inboxes",
        body=requests.SubmitBody,
        answer=answers.InboxTask,
        errors=(403, 404, 409),
        operation_id="submit_inbox_task",
    )
    def post(self, request: Request, agent: str) -> Response:
        body = self.body(requests.SubmitBody)
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
        return _shown(inbox.render(sent), is_compacted=compacted_tasks.is_compacted(sent))


class InboxTaskView(InboxView):
    @describe(
        summary="Read one task of an inbox",
        tag="inboxes",
        answer=answers.InboxTask,
        errors=(404,),
        operation_id="read_inbox_task",
    )
    def get(self, request: Request, agent: str, task_id: UUID) -> Response:
        return self.shown(self.owner(agent), task_id)


class AcceptView(InboxView):
    @describe(
        summary="Accept a pending task: lease it",
        tag="inboxes",
        body=requests.AcceptBody,
        answer=answers.InboxTask,
        errors=(403, 404, 409),
        operation_id="accept_inbox_task",
    )
    def post(self, request: Request, agent: str, task_id: UUID) -> Response:
        owner = self.require_owner(agent)
        leasing.lease_task(self.caller, task_id, attempt_id=self.body(requests.AcceptBody).attempt_id)
        return self.shown(owner, task_id)


class CompleteView(InboxView):
    @describe(
        summary="Complete a pending or accepted task",
        tag="inboxes",
        body=requests.CompleteBody,
        answer=answers.InboxTask,
        errors=(403, 404, 409),
        operation_id="complete_inbox_task",
    )
    def post(self, request: Request, agent: str, task_id: UUID) -> Response:
        content = wire.blocks(self.body(requests.CompleteBody).artifacts)
        posted = ResultEnvelope(task_id=task_id, status=ResultStatus.OK, content=content)
        return self._finished(agent, posted)

    def _finished(self, agent: str, posted: ResultEnvelope) -> Response:
        owner = self.require_owner(agent)
        task = results.post_result(self.caller, posted, lease_first=True).task
        if compacted_tasks.is_compacted(task):
            return _shown(inbox.render(task), is_compacted=True)
        return self.shown(owner, posted.task_id)


class FailView(CompleteView):
    @describe(
        summary="Fail a pending or accepted task",
        tag="inboxes",
        body=requests.FailBody,
        answer=answers.InboxTask,
        errors=(403, 404, 409),
        operation_id="fail_inbox_task",
    )
    def post(self, request: Request, agent: str, task_id: UUID) -> Response:
        reason = self.body(requests.FailBody).reason
        return self._finished(agent, ResultEnvelope(task_id=task_id, status=ResultStatus.ERROR, error_message=reason))


class ContextView(InboxView):
    @describe(
        summary="Read the pending tasks that can be accepted now as Markdown",
        tag="inboxes",
        answer=None,
        errors=(404,),
        operation_id="read_inbox_context",
    )
    def get(self, request: Request, agent: str) -> HttpResponse:
        owner = self.owner(agent)
        text = inbox.context(self.caller, owner)
        return HttpResponse(text, content_type="text/markdown; charset=utf-8")


class ExportView(InboxView):
    @describe(
        summary="Export an inbox as JSON, a page at a time",
        tag="inboxes",
        query=requests.ExportQuery,
        answer=answers.Exported,
        errors=(404,),
        operation_id="export_inbox",
    )
    def get(self, request: Request, agent: str) -> Response:
        owner = self.owner(agent)
        query = self.query(requests.ExportQuery)
        return Response(inbox.export(self.caller, owner, job_id=query.job_id, cursor=query.cursor))


class ImportView(InboxView):
    @describe(
        summary="Import an exported inbox",
        tag="inboxes",
        body=requests.ImportBody,
        answer=answers.InboxImported,
        errors=(403, 404, 409),
        operation_id="import_inbox",
    )
    def post(self, request: Request, agent: str) -> Response:
        owner = self.owner(agent)
        body = self.body(requests.ImportBody)
        kept = exchange.kept(owner.display, list(body.tasks.values()), agent_name=body.agent_name)
        imported = imports.import_tasks(self.caller, owner.display, kept)
        counts = inbox.counts(self.caller, owner)
        return Response({"kind": "a2a_inbox_imported", **dataclasses.asdict(imported), **counts})


class DelegateView(InboxView):
    @describe(
        summary="Turn the @delegate lines of a text into tasks",
        tag="inboxes",
        body=requests.DelegateBody,
        answer=answers.Delegations,
        errors=(403, 404),
        operation_id="delegate",
    )
    def post(self, request: Request, agent: str) -> Response:
        self.require_owner(agent)
        body = self.body(requests.DelegateBody)
        read = delegation.delegations(body.text)
        if (count := len(read.lines)) > delegation.MOST_LINES:
            raise InvalidRequestError({"text": f"has {count} @delegate lines; at most {delegation.MOST_LINES}"})
        delegated = [
            self._delegate(*line, body.source_job_id, self._task_id(body.delegation_id, number)).model_dump()
            for number, line in enumerate(read.lines)
        ]
        return Response({"kind": "a2a_delegated", "delegated": delegated, "unclosed_fence": read.unclosed_fence})

    def _task_id(self, delegation_id: UUID | None, number: int) -> UUID | None:
        """Return an id made of the delegation, the caller and the line's number; None lets the hub choose."""
        return delegation_id and uuid5(delegation_id, f"{self.caller.name} {number}")

    def _delegate(self, name: str, description: str, source_job_id: str, task_id: UUID | None) -> Delegated:
        delegated = Delegated(agent=name, description=description, task_id=None, error=None)
        try:
            task = wire.envelope(
                self.owner(name).display, description, source_job_id=source_job_id, context=None, task_id=task_id
            )
            delegated.task_id = sending.send_task(self.caller, task).uuid
        except MailboxError as refusal:
            delegated.error = errors.text_for_program(refusal)
        return delegated


def _shown(task: A2ATask, *, is_compacted: bool = False) -> Response:
    answer = {"kind": "a2a_inbox_task", "task": task.model_dump(mode="json")}
    return Response({**answer, "compacted": True} if is_compacted else answer)
