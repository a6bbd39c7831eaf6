"""Tasks of others in each state, and all that a stranger sees of an answer about them."""

import json
from typing import Any
from uuid import uuid4

from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.access.callers import Caller
from mailbox.access.limits import rates
from mailbox.life import results
from mailbox.models import PushConfig, Task
from tests.support import factories
from tests.support.a2a import hang_up
from tests.support.doors import CONTEXT, RECEIVER, TASK, HttpDoor, Request

Seen = tuple[int, list[Any], str, int]  # status, headers, text, queries
STREAM: Seen = (200, [], "a stream", 0)


def leased(sender: Caller, recipient: Caller, **fields: Any) -> Task:
    task: Task = factories.leased_task(sender, recipient, **fields).task
    return task


def resolved(sender: Caller, recipient: Caller, **fields: Any) -> Task:
    task = leased(sender, recipient, **fields)
    results.post_result(recipient, factories.result_envelope(task))
    return task


def delivered(sender: Caller, recipient: Caller, **fields: Any) -> Task:
    task = resolved(sender, recipient, **fields)
    results.drain_results(sender)
    return task


def in_each_state(sender: Caller, recipient: Caller, **fields: Any) -> list[Task]:
    """Return a task in each state, each with a webhook."""
    states = (delivered, resolved, factories.interrupted_task, leased, factories.sent_task)
    tasks = [state(sender, recipient, **fields) for state in states]
    for task in tasks:
        PushConfig.objects.create(task=task, config_id=RECEIVER, protocol="1.0", url="https://receiver.example/")
    return tasks


def told(client: HttpDoor, request: Request, task_id: object, context_id: str) -> Seen:
    """Return all of the answer but the ids that the client named, and the number of queries."""

    def filled(text: str) -> str:
        return text.replace(TASK, str(task_id)).replace(CONTEXT, context_id)

    body = None if request.body is None else filled(json.dumps(request.body))
    headers = {"X-Request-Id": "same", **request.headers}
    rates.forget()  # headers count requests without a key
    with CaptureQueriesContext(connection) as queries:
        response = client.api.call(request.method, filled(request.path), body, headers=headers)
    if response.streaming:
        hang_up(response)
        return STREAM
    kept = sorted((name, value) for name, value in response.items() if name != "Date")
    text = response.content.decode().replace(str(task_id), TASK).replace(context_id, CONTEXT)
    return response.status_code, kept, text, len(queries)


def told_of_nothing(client: HttpDoor, request: Request) -> Seen:
    """Return the answer about a task that never was."""
    return told(client, request, uuid4(), str(uuid4()))


def learns_nothing(stranger: HttpDoor, request: Request, tasks: list[Task]) -> bool:
    """Return whether a request of the stranger is answered alike for each of the tasks and for no task."""
    told_of_nothing(stranger, request)  # what only the first request of a caller does
    absent = told_of_nothing(stranger, request)
    answers = [told(stranger, request, task.uuid, task.context_id or str(uuid4())) for task in tasks]
    return absent != STREAM and answers == [absent] * len(tasks)


def everything_stored() -> list[Any]:
    return [list(Task.objects.order_by("pk").values()), list(PushConfig.objects.order_by("pk").values())]
