"""Version 0.3 over JSON-RPC, and tasks that are begun in one version and continued in the other."""

import pytest

from agentcards import official_agents
from tests.support import factories
from tests.support.a2a import OfficialClient, message, state

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _signs_of_life_come_quickly(settings):
    settings.A2A_KEEPALIVE_MS = 10
    settings.A2A_FIRST_WORD_MS = 1


@pytest.fixture
def old(alice, bob):
    """Return alice as a client of 0.3."""
    return OfficialClient(alice, bob, version=None)


def old_message(text="do it", **members):
    return {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": text}], **members}


def sent(old, **members):
    return old.rpc("message/send", {"message": old_message(**members), "configuration": {"blocking": False}})


def test_the_life_of_a_task(old, holder):
    task = sent(old)
    assert (task["kind"], task["status"]["state"], task["history"][0]["role"]) == ("task", "submitted", "user")

    holder.take()
    holder.ask("which?")
    asked = old.rpc("tasks/get", {"id": task["id"]})
    assert asked["status"]["state"] == "input-required"
    assert asked["status"]["message"]["parts"] == [{"kind": "text", "text": "which?"}]

    assert sent(old, text="this", taskId=task["id"])["status"]["state"] == "submitted"
    assert old.rpc("tasks/cancel", {"id": task["id"]})["status"]["state"] == "canceled"
    assert old.rpc("tasks/cancel", {"id": task["id"]})["status"]["state"] == "canceled"


def test_a_stream_says_which_event_is_final(old, holder):
    stream = old.stream("message/stream", {"message": old_message()})
    ((_, first), *_) = [next(stream)]
    assert first["kind"] == "task"
    holder.take()
    holder.make("x")
    holder.answer(None)
    events = [result for _, result in stream]

    assert [(one["kind"], one.get("final")) for one in events] == [
        ("status-update", False),
        ("artifact-update", None),
        ("status-update", True),
    ]


def test_a_question_is_final_where_it_ends_the_stream(old, holder):
    task = sent(old)
    watching = old.stream("tasks/resubscribe", {"id": task["id"]})
    next(watching)
    holder.take()
    holder.ask("which?")
    answering = old.stream("message/stream", {"message": old_message(taskId=task["id"])})
    next(answering)
    holder.take()
    holder.ask("and?")
    assert [(one["status"]["state"], one["final"]) for _, one in answering][-1] == ("input-required", True)

    old.rpc("tasks/cancel", {"id": task["id"]})
    finals = [(one["status"]["state"], one["final"]) for _, one in watching]
    assert finals == [
        ("working", False),
        ("input-required", False),
        ("submitted", False),
        ("working", False),
        ("input-required", False),
        ("canceled", True),
    ]


def test_a_direct_answer_is_a_bare_message(old, holder):
    body = {"message": old_message(), "configuration": {"blocking": False}}
    old.rpc("message/send", body, **{"Idempotency-Key": "k"})
    holder.take()
    holder.answer("42", direct=True)

    answer = old.rpc("message/send", body, **{"Idempotency-Key": "k"})
    assert (answer["kind"], answer["parts"]) == ("message", [{"kind": "text", "text": "42"}])


def test_a_task_begun_in_one_version_goes_on_in_the_other(old, client, holder):
    begun = client.send("one")
    holder.take()
    holder.ask("which?")
    again = sent(old, text="two", taskId=begun["id"])
    assert again["id"] == begun["id"]

    holder.take()
    holder.ask("and?")
    body = {"message": message("three", taskId=begun["id"]), "configuration": {"returnImmediately": True}}
    assert state(client.rpc("SendMessage", body)["task"]) == "SUBMITTED"
    assert [part["text"] for said in client.get(begun["id"])["history"] for part in said["parts"]] == [
        *("one", "which?", "two", "and?", "three")
    ]


def test_parts_without_a_place_in_1_0_come_back(old):
    parts = [
        {"kind": "data", "data": {"a": 1}},
        {"kind": "file", "file": {"bytes": "AAH/", "mimeType": "image/png", "name": "dot.png"}},
        {"kind": "file", "file": {"uri": "https://example.org/x", "name": "x"}},
    ]
    task = sent(old, parts=parts)

    assert task["history"][0]["parts"] == parts


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("message/send", {}, -32602),
        ("message/send", {"message": old_message(parts=[{"kind": "no"}])}, -32602),
        ("tasks/get", {"id": "none"}, -32001),
        ("tasks/get", {}, -32602),
        ("tasks/nothing", {}, -32601),
    ],
)
def test_errors_have_the_codes_of_0_3(old, method, params, code):
    assert old.response(method, params).json()["error"]["code"] == code


def test_codes_that_0_3_does_not_know_are_internal_errors(old, bob):
    factories.profile(bob, extensions=[{"uri": "urn:need", "required": True}])
    official_agents.forget()
    assert old.response("tasks/get", {"id": "x"}).json()["error"]["code"] == -32603
    named = old.response("tasks/get", {"id": "x"}, **{"X-A2A-Extensions": "urn:need"})
    assert named.json()["error"]["code"] == -32001
