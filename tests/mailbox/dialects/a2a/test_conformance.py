"""Requirements of the official conformance kit that no other test of the dialect covers, in both bindings.

The callers have no key, as those of the kit.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from a2a.types import (
    ListTaskPushNotificationConfigsResponse,
    ListTasksResponse,
    SendMessageResponse,
    StreamResponse,
    Task,
    TaskPushNotificationConfig,
)

from agentcards import official_agents
from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.words.conversation import UpdateStatus
from tests.support import factories, official
from tests.support.a2a import frames, hang_up, message, state, whole, words_of
from tests.support.api import Api

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
NOW = {"returnImmediately": True}
HOOK = "https://hooks.example/here"
CONFIGS = "/tasks/{taskId}/pushNotificationConfigs"
ROUTES = {
    "SendMessage": ("POST", "/message:send"),
    "SendStreamingMessage": ("POST", "/message:stream"),
    "GetTask": ("GET", "/tasks/{id}"),
    "ListTasks": ("GET", "/tasks"),
    "CancelTask": ("POST", "/tasks/{id}:cancel"),
    "SubscribeToTask": ("POST", "/tasks/{id}:subscribe"),
    "CreateTaskPushNotificationConfig": ("POST", CONFIGS),
    "GetTaskPushNotificationConfig": ("GET", CONFIGS + "/{id}"),
    "ListTaskPushNotificationConfigs": ("GET", CONFIGS),
    "DeleteTaskPushNotificationConfig": ("DELETE", CONFIGS + "/{id}"),
}
SENDS, STREAMS = ("SendMessage", "SendStreamingMessage"), ("SendStreamingMessage", "SubscribeToTask")
PUSHES = tuple(name for name in ROUTES if "Push" in name)


@dataclass(frozen=True)
class Binding:
    """A client of one agent in one binding. It has no key."""

    base: str
    is_rpc: bool

    def call(self, operation: str, params: Mapping[str, Any], **headers: str) -> Any:
        """Return the raw response."""
        api = Api(headers={"A2A-Version": "1.0", **headers}, prefix=self.base)
        if self.is_rpc:
            return api.post("/a2a", {"jsonrpc": "2.0", "id": 1, "method": operation, "params": params})
        method, path = ROUTES[operation]
        rest = {name: value for name, value in params.items() if f"{{{name}}}" not in path}
        path = "/rest" + path.format(**params)
        return api.call(method, path, rest or None) if method == "POST" else api.call(method, path, query=rest)

    def result(self, operation: str, params: Mapping[str, Any], **headers: str) -> Json:
        response = self.call(operation, params, **headers)
        answer: Json = whole(response)
        assert (response.status_code, "error" in answer) == (200, False), answer
        return answer["result"] if self.is_rpc else answer

    def reason(self, operation: str, params: Mapping[str, Any]) -> str:
        """Return the reason of a refusal, which must be plain JSON with the binding's status."""
        response = self.call(operation, params)
        assert response.headers["Content-Type"] == "application/json"
        error = response.json()["error"]
        assert response.status_code == (200 if self.is_rpc else error["code"])
        reason: str = error["data" if self.is_rpc else "details"][0]["reason"]
        return reason

    def events(self, operation: str, params: Mapping[str, Any], **headers: str) -> Iterator[Json]:
        """Yield the events of a stream as they come. Closing it closes the stream."""
        response = self.call(operation, params, **headers)
        assert response.headers["Content-Type"] == "text/event-stream", whole(response)
        try:
            for frame in frames(response):
                if "data" in frame:
                    event = json.loads(frame["data"])
                    yield event["result"] if self.is_rpc else event
        finally:
            hang_up(response)

    def send(self, words: str, **members: Any) -> Json:
        sent = {"message": message(words, **members), "configuration": NOW}
        task: Json = self.result("SendMessage", sent)["task"]
        return task


@pytest.fixture(params=["json-rpc", "rest"])
def anyone(request: pytest.FixtureRequest, bob: Caller) -> Binding:
    """Return a caller without a key at bob, who is open."""
    assert bob.agent is not None
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    return Binding(f"/agents/{bob.agent.display}", is_rpc=request.param == "json-rpc")


def told(value: Json, kind: Any) -> Json:
    """Return an answer, once the official SDK has read it and its names and times are as JSON has them."""
    official.read(value, kind)
    for name, found in members(value):
        assert "_" not in name, value
        assert name != "timestamp" or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found), value
    return value


def members(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members of all objects within a value."""
    if isinstance(value, list):
        for item in value:
            yield from members(item)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name, inner
            yield from members(inner)


def test_each_answer_in_the_life_of_a_task_is_of_its_type(anyone, holder):
    begin = {"message": message("paint"), "configuration": NOW}
    sent = told(anyone.result("SendMessage", begin), SendMessageResponse)["task"]
    named = {"id": sent["id"]}
    holder.take()
    holder.tell("half way")
    holder.make("a ")
    holder.make("house", append=True, last_chunk=True)
    assert state(told(anyone.result("GetTask", named), Task)) == "WORKING"
    holder.ask("sign in", UpdateStatus.AUTH_REQUIRED)
    assert state(told(anyone.result("GetTask", named), Task)) == "AUTH_REQUIRED"
    anyone.send("signed in", taskId=sent["id"])
    holder.take()
    holder.answer("done")

    events = [
        told(event, StreamResponse) for event in anyone.events("SubscribeToTask", named, **{"Last-Event-ID": "1"})
    ]
    assert state(events[0]["task"]) == "SUBMITTED"
    assert state(events[-1]["statusUpdate"]) == "COMPLETED"
    second = anyone.send("paint again", contextId=sent["contextId"])
    assert state(told(anyone.result("CancelTask", {"id": second["id"]}), Task)) == "CANCELED"
    page = {"contextId": sent["contextId"], "pageSize": 1, "includeArtifacts": True}
    listed = told(anyone.result("ListTasks", page), ListTasksResponse)
    assert [task["id"] for task in listed["tasks"]] == [second["id"]]


def test_a_direct_answer_is_of_its_type(anyone, holder):
    body, key = {"message": message("quick?"), "configuration": NOW}, {"Idempotency-Key": "k"}
    anyone.result("SendMessage", body, **key)
    holder.take()
    holder.answer("yes", direct=True)

    answered = told(anyone.result("SendMessage", body, **key), SendMessageResponse)

    assert words_of([answered["message"]]) == ["yes"]
    assert "taskId" not in answered["message"]


def test_a_caller_without_a_key_configures_webhooks_also_of_a_task_that_has_ended(anyone, holder):
    task = anyone.send("paint")
    holder.take()
    holder.answer("done")
    named = {"taskId": task["id"], "id": "mine"}

    made = anyone.result("CreateTaskPushNotificationConfig", {**named, "url": HOOK})
    read = anyone.result("GetTaskPushNotificationConfig", named)
    listed = anyone.result("ListTaskPushNotificationConfigs", {"taskId": task["id"]})

    assert told(made, TaskPushNotificationConfig) == told(read, TaskPushNotificationConfig) == {**named, "url": HOOK}
    assert listed == {"configs": [read], "nextPageToken": ""}
    official.read({"configs": listed["configs"]}, ListTaskPushNotificationConfigsResponse)
    for _ in range(2):
        assert not anyone.result("DeleteTaskPushNotificationConfig", named)
    assert anyone.reason("GetTaskPushNotificationConfig", named) == "TASK_NOT_FOUND"


def test_messages_of_one_id_all_stand_in_the_history_in_their_order(anyone, holder):
    same = {"messageId": "m-1"}
    task = anyone.send("one", **same)
    for words in ("two", "three"):
        holder.take()
        holder.ask("which?")
        anyone.send(words, taskId=task["id"], **same)

    history = anyone.result("GetTask", {"id": task["id"]})["history"]

    assert words_of([said for said in history if said["role"] == "ROLE_USER"]) == ["one", "two", "three"]


def test_a_stream_that_its_client_closes_leaves_the_other_streams(anyone, holder):
    task = anyone.send("paint")
    closed, kept = (anyone.events("SubscribeToTask", {"id": task["id"]}) for _ in range(2))
    assert state(next(closed)["task"]) == state(next(kept)["task"]) == "SUBMITTED"
    closed.close()
    holder.take()
    holder.answer(None)

    assert [state(event["statusUpdate"]) for event in kept] == ["WORKING", "COMPLETED"]


@pytest.mark.one_database
@pytest.mark.parametrize("operation", [name for name in ROUTES if name != "ListTasks"])
def test_no_operation_finds_a_task_by_an_id_that_is_none(anyone, operation):
    assert anyone.reason(operation, params_of(operation, "tck-none")) == "TASK_NOT_FOUND"


@pytest.mark.one_database
@pytest.mark.parametrize("operation", [*STREAMS, *PUSHES])
def test_an_operation_that_the_card_denies_is_refused_before_its_task_is_sought(anyone, bob, operation):
    factories.profile(bob, streaming=False, push_notifications=False)
    official_agents.forget()
    expected = "UNSUPPORTED_OPERATION" if operation in STREAMS else "PUSH_NOTIFICATION_NOT_SUPPORTED"

    assert anyone.reason(operation, params_of(operation, "tck-none")) == expected


@pytest.mark.one_database
@pytest.mark.parametrize("operation", list(ROUTES))
def test_an_extension_that_the_card_requires_is_required_of_each_operation(anyone, bob, operation):
    factories.profile(bob, extensions=[{"uri": "urn:need", "required": True}])
    official_agents.forget()

    assert anyone.reason(operation, params_of(operation, "tck-none")) == "EXTENSION_SUPPORT_REQUIRED"


def params_of(operation: str, task_id: str) -> Json:
    """Return the parameters of an operation on that task."""
    if operation in SENDS:
        return {"message": message(taskId=task_id)}
    return {"taskId": task_id, "id": "c", "url": HOOK} if operation in PUSHES else {"id": task_id}
