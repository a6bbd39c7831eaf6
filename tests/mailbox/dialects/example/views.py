from http import HTTPStatus
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.dialects.base.http_errors import STATUS
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.base.view import DialectView
from mailbox.life import expiry, sending
from mailbox.words import errors
from mailbox.words.errors import MailboxError
from tests.mailbox.dialects.example import requests, wire


class ExampleView(DialectView):
    """Answers an error as ``{"problem": <text>}``."""

    error_status = STATUS

    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        return wire.ExampleError(problem=errors.text_for_program(error))


class TasksView(ExampleView):
    open_to_routes = frozenset({"POST"})

    @describe(
        summary="Send a task",
        tag="example",
        body=requests.SendBody,
        answer=wire.ExampleTask,
        refusal=wire.ExampleError,
        errors=(403, 404, 409),
        operation_id="example_send",
    )
    def post(self, request: Request) -> Response:
        sent = sending.send_task(self.caller, self.body(requests.SendBody).envelope())
        return Response(wire.task(sent, sent.result_or_none))


class TaskView(ExampleView):
    open_to_routes = frozenset({"GET"})

    @describe(
        summary="Read a task",
        tag="example",
        answer=wire.ExampleTask,
        refusal=wire.ExampleError,
        errors=(404,),
        operation_id="example_read",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        task = expiry.current(self.caller, task_id)
        return Response(wire.task(task, task.result_or_none))
