"""A task of other parties is not there: each operation answers as it does for an id that no task ever had."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentcards import official_agents
from mailbox.gate import rates
from mailbox.gate.callers import Caller
from mailbox.models import PushConfig
from mailbox.verbs.agents import openness
from tests.support import factories
from tests.support.a2a import OfficialClient, state

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
TASK, CONTEXT = "<task>", "<context>"
URL = "https://receiver.example/hook"
MINE = "mine"  # the id of each task's receiver
OF_EACH_ANSWER = ("X-Request-Id", "Date")
CALLERS = ("another caller", "a caller without a key", "its sender at another agent")


@dataclass(frozen=True, slots=True)
class Request:
    """A request that names a task or a context. The answer to a stranger has the text ``says``."""

    name: str
    method: str
    path: str
    body: Json | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    says: str = "TASK_NOT_FOUND"

    def __str__(self) -> str:
        return self.name


def new(method: str, **params: Any) -> Request:
    return rpc(method, params, {"A2A-Version": "1.0"})


def old(method: str, **params: Any) -> Request:
    return rpc(method, params, {})


def rpc(method: str, params: Json, headers: Mapping[str, str]) -> Request:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Request(method, "POST", "/a2a", body, headers)


def rest(method: str, path: str, body: Json | None = None) -> Request:
    return Request(f"{method} {path}", method, f"/rest{path}", body, {"A2A-Version": "1.0"})


def of_a_list(request: Request) -> Request:
    """Return the request with an empty page as its expected answer."""
    return replace(request, says='"totalSize":0')


def variant(request: Request, what: str) -> Request:
    return replace(request, name=f"{request.name} {what}")


def with_header(request: Request, name: str, value: str) -> Request:
    return variant(replace(request, headers={**request.headers, name: value}), f"with {name}")


MORE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "more"}], "taskId": TASK, "contextId": CONTEXT}
OLD_MORE = {**MORE, "kind": "message", "role": "user", "parts": [{"kind": "text", "text": "more"}]}
HOOK = {"id": "theirs", "url": URL, "token": "t0ken"}
CONFIGS = f"/tasks/{TASK}/pushNotificationConfigs"
REQUESTS = (
    new("GetTask", id=TASK, historyLength=1),
    of_a_list(new("ListTasks", contextId=CONTEXT)),
    new("CancelTask", id=TASK),
    new("SubscribeToTask", id=TASK),
    with_header(new("SubscribeToTask", id=TASK), "Last-Event-ID", "1"),
    new("SendMessage", message=MORE),
    variant(
        new("SendMessage", message={**MORE, "contextId": None}, configuration={"taskPushNotificationConfig": HOOK}),
        "with a receiver",
    ),
    with_header(new("SendMessage", message=MORE), "Idempotency-Key", "k"),
    new("SendStreamingMessage", message=MORE),
    new("CreateTaskPushNotificationConfig", taskId=TASK, **HOOK),
    new("GetTaskPushNotificationConfig", taskId=TASK, id=MINE),
    new("ListTaskPushNotificationConfigs", taskId=TASK),
    new("DeleteTaskPushNotificationConfig", taskId=TASK, id=MINE),
    rest("GET", f"/tasks/{TASK}"),
    of_a_list(rest("GET", f"/tasks?contextId={CONTEXT}")),
    rest("POST", f"/tasks/{TASK}:cancel"),
    rest("GET", f"/tasks/{TASK}:subscribe"),
    rest("POST", f"/tasks/{TASK}:subscribe"),
    rest("POST", "/message:send", {"message": MORE}),
    rest("POST", "/message:stream", {"message": MORE}),
    rest("POST", CONFIGS, HOOK),
    rest("GET", f"{CONFIGS}/{MINE}"),
    rest("GET", CONFIGS),
    rest("DELETE", f"{CONFIGS}/{MINE}"),
    old("tasks/get", id=TASK),
    old("tasks/cancel", id=TASK),
    old("tasks/resubscribe", id=TASK),
    old("message/send", message=OLD_MORE),
    old("message/stream", message=OLD_MORE),
    old("tasks/pushNotificationConfig/set", taskId=TASK, pushNotificationConfig=HOOK),
    old("tasks/pushNotificationConfig/get", id=TASK, pushNotificationConfigId=MINE),
    variant(old("tasks/pushNotificationConfig/get", id=TASK), "of the only one"),
    old("tasks/pushNotificationConfig/list", id=TASK),
    old("tasks/pushNotificationConfig/delete", id=TASK, pushNotificationConfigId=MINE),
)


@pytest.fixture(autouse=True)
def _agents_are_remembered(monkeypatch):
    """Let the process remember agents for the whole test, so that equal requests take equally many queries."""
    monkeypatch.setattr(official_agents, "KEPT_FOR", 3600)


@pytest.fixture
def tasks(client, holder):
    """Return a task of alice for bob in each state, with a receiver: each its id and context."""
    sent = [client.send(text) for text in ("completed", "asked", "held", "queued")]
    for task in sent:
        client.rpc("CreateTaskPushNotificationConfig", {"taskId": task["id"], "url": URL, "id": MINE})
    holder.take()
    holder.answer()
    holder.take()
    holder.ask("which?")
    holder.take()
    found = [(task["id"], task["contextId"]) for task in sent]
    states = [state(client.get(task_id)) for task_id, _ in found]
    assert states == ["COMPLETED", "INPUT_REQUIRED", "WORKING", "SUBMITTED"]
    return found


@pytest.fixture
def stranger(whose, alice, bob, mallory):
    """Return the client that the test's parameter ``whose`` names. It may send to the agent that it calls."""
    factories.grant(mallory, "a2a.send.*")
    openness.open_to_anyone(Caller.command_line(), bob.agent)
    caller, agent = {CALLERS[0]: (mallory, bob), CALLERS[1]: (None, bob), CALLERS[2]: (alice, mallory)}[whose]
    return OfficialClient(caller, agent, version=None)


def seen(stranger, request, task_id, context_id):
    """Return all that the client sees of the answer but the ids that it named itself, and the number of queries."""

    def filled(text):
        return text.replace(TASK, task_id).replace(CONTEXT, context_id)

    path = filled(stranger.base + request.path)
    body = None if request.body is None else filled(json.dumps(request.body))
    rates.forget()  # headers count the requests without a key
    with CaptureQueriesContext(connection) as queries:
        response = stranger.api.call(request.method, path, body, headers=dict(request.headers))
    assert not response.streaming
    headers = sorted((name, value) for name, value in response.items() if name not in OF_EACH_ANSWER)
    text = response.content.decode().replace(task_id, TASK).replace(context_id, CONTEXT)
    return response.status_code, headers, text, len(queries)


@pytest.mark.parametrize("whose", CALLERS)
@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_a_foreign_task_is_answered_byte_for_byte_like_one_that_never_was(client, tasks, stranger, request_):
    before = [client.get(task_id) for task_id, _ in tasks]
    seen(stranger, request_, str(uuid4()), str(uuid4()))  # what only the first request of a caller does

    absent = seen(stranger, request_, str(uuid4()), str(uuid4()))
    foreign = [seen(stranger, request_, *ids) for ids in tasks]

    assert foreign == [absent] * len(tasks)
    assert request_.says in absent[2]
    assert [client.get(task_id) for task_id, _ in tasks] == before
    assert [config.config_id for config in PushConfig.objects.all()] == [MINE] * len(tasks)
