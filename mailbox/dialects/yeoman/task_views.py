"""Agnostic's task API, at its first path and at its versioned path. Source: Agnostic ADR-017."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.dialects.base.openapi import describe
from mailbox.dialects.yeoman import answers, requests, status, tasks
from mailbox.dialects.yeoman.view import REPEATABLE, YeomanView
from mailbox.life import expiry, sending
from mailbox.words.errors import AlreadyResolvedError, UnknownTaskError

TAG = "YEOMAN tasks"


class SubmittedTasksView(YeomanView):
    http_method_names = ("get", "head", "post")
    open_to_routes = frozenset({"GET", "POST"})
    created = HTTPStatus.OK

    @describe(
        summary="List the tasks you sent in this dialect, newest first",
        tag=TAG,
        query=requests.Slice,
        answer=answers.TaskStatuses,
        refusal=answers.Refusal,
        errors=(422,),
        operation_id="list_submitted_tasks",
    )
    def get(self, request: Request) -> Response:
        query = requests.parse(requests.Slice, request.query_params.dict(), place="query")
        items, total = tasks.newest(self.caller, limit=query.limit, offset=query.offset)
        is_cut = len(items) < min(query.limit, total - query.offset)  # a client adds the limit to its offset
        limit = len(items) if is_cut else query.limit
        return Response({"items": items, "total": total, "limit": limit, "offset": query.offset})

    @describe(
        summary="Submit a task to the default agent",
        tag=TAG,
        body=requests.TaskSubmit,
        answer=answers.TaskStatusAnswer,
        refusal=answers.Refusal,
        headers=(REPEATABLE,),
        errors=(403, 404, 409, 422, 429),
        operation_id="submit_task",
    )
    def post(self, request: Request) -> Response:
        self.count()
        work = requests.submitted(self.fitting(requests.TaskSubmit))
        return Response(tasks.taken(self.caller, work, message_id=self.repeated_as()), self.created)


class VersionedTasksView(SubmittedTasksView):
    created = HTTPStatus.CREATED

    @describe(
        summary="List the tasks you sent in this dialect, newest first",
        tag=TAG,
        query=requests.Slice,
        answer=answers.TaskStatuses,
        refusal=answers.Refusal,
        errors=(422,),
        operation_id="list_submitted_tasks_v1",
    )
    def get(self, request: Request) -> Response:
        return super().get(request)

    @describe(
        summary="Submit a task to the default agent",
        tag=TAG,
        body=requests.TaskSubmit,
        answer=answers.TaskStatusAnswer,
        refusal=answers.Refusal,
        headers=(REPEATABLE,),
        errors=(403, 404, 409, 422, 429),
        status=201,
        operation_id="submit_task_v1",
    )
    def post(self, request: Request) -> Response:
        return super().post(request)


class SubmittedTaskView(YeomanView):
    http_method_names = ("get", "head", "delete")
    open_to_routes = frozenset({"GET"})

    @describe(
        summary="Read a task, sent through any protocol",
        tag=TAG,
        answer=answers.TaskStatusAnswer,
        refusal=answers.Refusal,
        errors=(404,),
        operation_id="read_submitted_task",
    )
    def get(self, request: Request, task_id: str) -> Response:
        return Response(tasks.record(self.caller, task_id))

    @describe(
        summary="Cancel a task you sent",
        tag=TAG,
        answer=answers.SubmittedTaskCancelled,
        refusal=answers.Refusal,
        errors=(403, 404, 409),
        operation_id="cancel_submitted_task",
    )
    def delete(self, request: Request, task_id: str) -> Response:
        known = tasks.identify(task_id)
        if known is None:
            raise UnknownTaskError
        try:
            cancelled = sending.cancel(self.caller, known)
        except AlreadyResolvedError as error:
            state = status.word(expiry.current(self.caller, known))
            raise AlreadyResolvedError(f"Cannot cancel task in '{state}' state") from error
        return Response(
            {"task_id": str(cancelled.uuid), "status": "cancelled", "message": "Task cancelled successfully"}
        )
