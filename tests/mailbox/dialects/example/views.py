from http import HTTPStatus
from uuid import UUID

from mailbox.dialects.base.http_errors import STATUS
from mailbox.dialects.base.openapi import operation
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

    @operation("example_send", refusal=wire.ExampleError, errors=(403, 404, 409))
    def post(self, body: requests.SendBody) -> wire.ExampleTask:
        sent = sending.send_task(self.caller, body.envelope())
        return wire.task(sent, sent.result_or_none)


class TaskView(ExampleView):
    open_to_routes = frozenset({"GET"})

    @operation("example_read", refusal=wire.ExampleError, errors=(404,))
    def get(self, task_id: UUID) -> wire.ExampleTask:
        task = expiry.current(self.caller, task_id)
        return wire.task(task, task.result_or_none)
