"""Items of batches that no database can store: each is refused alone, as the single request refuses it."""

import json
from typing import Any
from uuid import uuid4

import pytest

from mailbox.models import AuditEvent, Result, Task
from mailbox.words import json_text
from tests.support.api import Api, error_of, task_to

pytestmark = pytest.mark.django_db

OK = {"status": "ok", "content": [{"type": "text", "text": "done"}]}
NUL, SURROGATE = "a string contains a NUL character", "a string contains a lone surrogate"
BATCHES = {"/a2a/tasks/batch": "tasks", "/a2a/results/batch": "results", "/a2a/tasks/lease": "results"}


def nested(levels: int, within: object = 1) -> Any:
    for _ in range(levels):
        within = [within]
    return within


BAD = {
    "NUL": ("nul\x00", NUL),
    "a high surrogate": ("\ud800", SURROGATE),
    "a low surrogate": ("x\udc00y", SURROGATE),
    "NUL within": ([{"a": ["\x00"]}], NUL),
    "NUL in a key": ({"\x00": 1}, NUL),
    "a surrogate in a key": ([{"a": {"\udfff": 1}}], SURROGATE),
    "depth": (nested(64), json_text.TOO_DEEP),
    "depth above a surrogate": ([nested(64), "\ud800"], json_text.TOO_DEEP),
    "much depth": (nested(300), json_text.TOO_DEEP),
}
UNREADABLE = {"a cut character": b'"\xe2\x82', "20,000 levels": b"[" * 20_000 + b"]" * 20_000}


def whole(path: str) -> dict[str, Any]:
    """Return what the body of a batch needs beside its items."""
    return {"max": 9} if path == "/a2a/tasks/lease" else {}


def refusal(index: int, task_id: str, message: str) -> dict[str, Any]:
    return {"index": index, "task_id": task_id, "code": "invalid_json", "message": message}


@pytest.fixture
def two(alice, bob):
    """Send two tasks from alice to bob, which bob leases; return the body of a result for each."""
    for _ in range(2):
        Api(alice).post("/a2a/tasks", task_to(bob))
    leased = Api(bob).post("/a2a/tasks/lease", {"max": 2}).json()["leases"]
    return [{"task_id": one["task"]["id"], "lease_id": one["lease"]["lease_id"], **OK} for one in leased]


@pytest.mark.parametrize(("value", "problem"), BAD.values(), ids=BAD)
def test_a_task_that_cannot_be_stored_is_refused_alone(alice, bob, value, problem):
    first, bad, last = task_to(bob), task_to(bob, more=value), task_to(bob)
    alone = Api(alice).post("/a2a/tasks", bad)

    answer = Api(alice).post("/a2a/tasks/batch", {"tasks": [first, bad, last]})

    assert error_of(alone) == (400, "invalid_json")
    assert alone.json()["message"] == problem
    assert answer.json() == {
        "kind": "a2a_tasks_queued",
        "posted": [first["id"], last["id"]],
        "refused": [refusal(1, bad["id"], problem)],
    }
    assert {str(task.uuid) for task in Task.objects.all()} == {first["id"], last["id"]}


@pytest.mark.parametrize("path", ["/a2a/results/batch", "/a2a/tasks/lease"])
@pytest.mark.parametrize("kind", ["NUL", "a surrogate in a key", "depth"])
def test_a_result_that_cannot_be_stored_is_refused_alone(alice, bob, two, path, kind):
    waiting, (bad, good), (value, problem) = task_to(bob), two, BAD[kind]
    Api(alice).post("/a2a/tasks", waiting)
    bad |= {"content": [{"type": "json", "value": value}]}

    answer = Api(bob).post(path, {**whole(path), "results": [bad, good]}).json()

    assert answer["refused"] == [refusal(0, bad["task_id"], problem)]
    assert answer["posted"] == [good["task_id"]] == [str(result.task.uuid) for result in Result.objects.all()]
    assert [one["task"]["id"] for one in answer.get("leases", [])] == ([waiting["id"]] if whole(path) else [])


def test_a_repeated_loop_with_a_bad_result_gets_the_same_answer(alice, bob, two):
    Api(alice).post("/a2a/tasks", task_to(bob))
    bad, good = two
    loop = {"max": 9, "attempt_id": str(uuid4()), "results": [{**bad, "error_message": "\x00"}, good]}

    first = Api(bob).post("/a2a/tasks/lease", loop).json()

    assert Api(bob).post("/a2a/tasks/lease", loop).json() == first
    assert (len(first["leases"]), first["posted"]) == (1, [good["task_id"]])


@pytest.mark.parametrize("text", ["x\x00", "\ud800", nested(65)], ids=["NUL", "surrogate", "depth"])
@pytest.mark.parametrize(("path", "field"), BATCHES.items())
def test_items_without_an_object_or_an_id_are_refused_alone(alice, path, field, text):
    id_field = "id" if field == "tasks" else "task_id"
    items = [text, [text], {id_field: text}, {id_field: [text]}]

    refused = Api(alice).post(path, {**whole(path), field: items}).json()["refused"]

    assert [(one["index"], one["task_id"], one["code"]) for one in refused] == [
        (place, None, "invalid_json") for place in range(4)
    ]


@pytest.mark.parametrize("deeper", [0, 1])
def test_the_levels_of_a_task_count_as_in_a_single_request(alice, bob, deeper):
    task = task_to(bob, more=nested(63 + deeper))

    batch = Api(alice).post("/a2a/tasks/batch", {"tasks": [task, task_to(bob)]}).json()
    alone = Api(alice).post("/a2a/tasks", task)

    assert len(batch["refused"]) == deeper
    assert alone.status_code == (400 if deeper else 200)


def test_a_result_as_deep_as_a_single_request_may_be_is_stored(alice, bob, two):
    content = [{"type": "json", "value": nested(61)}]
    for result in two:
        result["content"] = content

    batch = Api(bob).post("/a2a/results/batch", {"results": two[:1]}).json()
    alone = Api(bob).post("/a2a/results", two[1])

    assert (batch["posted"], alone.status_code) == ([two[0]["task_id"]], 200)
    drained = Api(alice).post("/a2a/results/drain", {"max": 9}).json()["results"]
    assert [one["content"] for one in drained] == [content, content]


BESIDE = {
    "another member": lambda field: {field: [{}], "more": "x\x00"},
    "a deep member": lambda field: {field: [{}], "more": nested(64)},
    "a key": lambda field: {field: [{}], "\ud800": 1},
    "a member beside a bad item": lambda field: {field: ["\x00"], "more": "\ud800"},
    "items that are text": lambda field: {field: "\x00"},
    "items that are an object": lambda field: {field: {"a": "\ud800"}},
    "items with another name": lambda field: {"items": ["\x00"], field: [{}]},
    "a list around the batch": lambda field: [{field: ["\x00"]}],
}


@pytest.mark.parametrize(("path", "field"), BATCHES.items())
@pytest.mark.parametrize("body", BESIDE.values(), ids=BESIDE)
def test_a_problem_beside_the_items_refuses_the_request(alice, path, field, body):
    found = body(field)

    answer = Api(alice).post(path, {**whole(path), **found} if isinstance(found, dict) else found)

    assert error_of(answer) == (400, "invalid_json")
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(("path", "field"), BATCHES.items())
@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_an_item_that_cannot_be_parsed_refuses_the_request(alice, path, field, text):
    body = json.dumps({**whole(path), field: [{}, "-"]}).encode().replace(b'"-"', text)

    assert error_of(Api(alice).post(path, body)) == (400, "invalid_json")
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize("text", ["x\x00", "\ud800", nested(65)], ids=["NUL", "surrogate", "depth"])
def test_a_drain_refuses_an_unstorable_id_alone(alice, text):
    body = Api(alice).post("/a2a/results/drain", {"max": 1, "ack": [text]}).json()

    assert [(one["index"], one["task_id"], one["code"]) for one in body["refused"]] == [(0, None, "invalid_json")]
