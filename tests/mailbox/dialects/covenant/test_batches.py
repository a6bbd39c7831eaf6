"""Batches over HTTP: every item has its own outcome, and the batch itself a clear error."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from mailbox.models import AuditEvent, Lease, Result, Task
from tests.support import factories
from tests.support.api import Api, error_of, task_to

pytestmark = pytest.mark.django_db

OK = {"status": "ok", "content": [{"type": "text", "text": "done"}]}
PATHS = {
    "/a2a/tasks/batch": "tasks",
    "/a2a/results/batch": "results",
    "/a2a/tasks/lease": "results",
    "/a2a/results/drain": "ack",
}
MOST = {"tasks": 500, "results": 100, "ack": 100}


def result_for(leased: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"task_id": leased["task"]["id"], "lease_id": leased["lease"]["lease_id"], **OK, **fields}


@pytest.fixture
def three(alice, bob):
    """Send three tasks from alice to bob; return their ids."""
    bodies = [task_to(bob, intent_text=f"task {number}") for number in range(3)]
    Api(alice).post("/a2a/tasks/batch", {"tasks": bodies})
    return [body["id"] for body in bodies]


def test_each_task_of_a_batch_has_its_own_outcome(alice, bob, mallory):
    first, last = task_to(bob), task_to(bob)
    taken, theirs = str(factories.sent_task(alice, bob, intent_text="other").uuid), task_to(bob, sender="bob")
    odd = task_to(bob, deadline_ms="soon", intent_text=7)

    answer = Api(alice).post(
        "/a2a/tasks/batch",
        {"tasks": [first, 7, odd, {"id": "x"}, task_to(bob, intent_text=" "), theirs, task_to(bob, id=taken), last]},
    )

    assert answer.status_code == 200
    body = answer.json()
    assert (body["kind"], body["posted"]) == ("a2a_tasks_queued", [first["id"], last["id"]])
    assert [(one["index"], one["code"]) for one in body["refused"]] == [
        (1, "invalid_request"),
        (2, "invalid_request"),
        (3, "invalid_request"),
        (4, "invalid_request"),
        (5, "sender_mismatch"),
        (6, "task_conflict"),
    ]
    assert [one.get("fields") for one in body["refused"]][:4] == [
        {"tasks.1": "must be a JSON object"},
        {"tasks.2.intent_text": "must be text", "tasks.2.deadline_ms": "must be a whole number"},
        {
            "tasks.3.id": "must be a UUID",
            "tasks.3.recipient": "is required",
            "tasks.3.intent_text": "is required",
        },
        {"tasks.4.intent_text": "intent_text must not be empty"},
    ]
    assert body["refused"][0]["message"] == "tasks.1: must be a JSON object"
    assert [one["task_id"] for one in body["refused"][:3]] == [None, odd["id"], None]
    assert body["refused"][5]["task_id"] == taken
    assert {str(task.uuid) for task in Task.objects.all()} == {first["id"], last["id"], taken}


def test_a_batch_of_bad_items_alone_is_answered_too(alice, bob):
    sent = Api(alice).post("/a2a/tasks/batch", {"tasks": [None, []]}).json()
    posted = Api(bob).post("/a2a/results/batch", {"results": [{}]}).json()

    assert (sent["posted"], [one["code"] for one in sent["refused"]]) == ([], ["invalid_request"] * 2)
    assert posted["refused"][0]["fields"] == {"results.0.task_id": "is required", "results.0.status": "is required"}
    assert not AuditEvent.objects.exists()


def test_a_refusal_names_the_capability_as_the_single_request_does(bob, mallory):
    task = task_to(bob)
    alone = Api(mallory).post("/a2a/tasks", task).json()

    (refused,) = Api(mallory).post("/a2a/tasks/batch", {"tasks": [task]}).json()["refused"]

    assert refused == {"index": 0, "task_id": task["id"], "code": alone["code"], "message": alone["message"]}
    assert refused["code"] == "capability_missing"


def test_the_whole_loop_of_a_worker_is_one_request(alice, bob, three):
    api = Api(bob)
    first = api.post("/a2a/tasks/lease", {"max": 2, "attempt_id": str(uuid4())}).json()
    results = [result_for(leased) for leased in first["leases"]]

    second = api.post("/a2a/tasks/lease", {"max": 2, "attempt_id": str(uuid4()), "results": results}).json()

    assert first["kind"] == second["kind"] == "a2a_tasks_leased"
    assert (first["posted"], first["refused"]) == ([], [])
    assert [leased["task"]["id"] for leased in first["leases"]] == three[:2] == second["posted"]
    assert [leased["task"]["id"] for leased in second["leases"]] == three[2:]
    single = Api(alice).get(f"/a2a/tasks/{three[2]}/entry").json()["entry"]
    assert second["leases"][0]["task"] == single["task"]
    assert second["leases"][0]["lease"]["lease_id"] == single["lease_id"]


def test_the_same_attempt_id_gets_the_same_answer(bob, three):
    api = Api(bob)
    leased = api.post("/a2a/tasks/lease", {"max": 1}).json()["leases"]
    attempt_id, loop = str(uuid4()), {"max": 2, "results": [result_for(leased[0])]}

    first = api.post("/a2a/tasks/lease", {**loop, "attempt_id": attempt_id}).json()

    assert api.post("/a2a/tasks/lease", {**loop, "attempt_id": attempt_id}).json() == first
    assert api.post("/a2a/tasks/lease", loop, headers={"A2A-Receive-Attempt-Id": attempt_id}).json() == first
    assert (len(first["leases"]), Lease.objects.count(), Result.objects.count()) == (2, 3, 1)


def test_a_spent_attempt_id_is_reported(bob, three):
    api, attempt_id = Api(bob), str(uuid4())
    leased = api.post("/a2a/tasks/lease", {"max": 1, "attempt_id": attempt_id}).json()["leases"]
    results = [result_for(one) for one in leased]

    spent = api.post("/a2a/tasks/lease", {"max": 1, "attempt_id": attempt_id, "results": results, "wait_ms": 60_000})

    assert (spent.json()["leases"], spent.json()["attempt_spent"], spent.json()["posted"]) == ([], True, three[:1])


def test_each_result_of_a_batch_has_its_own_outcome(alice, bob, three):
    api = Api(bob)
    first, second, third = api.post("/a2a/tasks/lease", {"max": 9}).json()["leases"]
    unknown = {"task_id": str(uuid4()), **OK}
    fenced = result_for(second, lease_id=str(uuid4()))
    bad = result_for(third, content=[{"type": "smell"}])

    answer = api.post("/a2a/results/batch", {"results": [unknown, result_for(first), fenced, bad, "x"]}).json()

    assert (answer["kind"], answer["posted"]) == ("a2a_results_posted", three[:1])
    assert [(one["index"], one["task_id"], one["code"]) for one in answer["refused"]] == [
        (0, unknown["task_id"], "unknown_task"),
        (2, three[1], "lease_mismatch"),
        (3, three[2], "invalid_request"),
        (4, None, "invalid_request"),
    ]
    assert list(answer["refused"][2]["fields"]) == ["results.3.content.0.type"]
    assert [result.task.uuid for result in Result.objects.all()] == [UUID(three[0])]


def test_a_bad_result_keeps_no_task_from_being_leased(bob, three):
    answer = Api(bob).post("/a2a/tasks/lease", {"max": 9, "results": [{"task_id": "x"}]}).json()

    assert (len(answer["leases"]), answer["posted"]) == (3, [])
    assert [one["index"] for one in answer["refused"]] == [0]


def test_a_drain_acknowledges_the_last_results_and_returns_the_next(alice, bob, three):
    leased = Api(bob).post("/a2a/tasks/lease", {"max": 9}).json()["leases"]
    Api(bob).post("/a2a/results/batch", {"results": [result_for(one) for one in leased]})
    api, attempt_id, stranger = Api(alice), str(uuid4()), str(uuid4())

    first = api.post("/a2a/results/drain", {"max": 2, "attempt_id": attempt_id}).json()
    again = api.post("/a2a/results/drain", {"max": 9, "attempt_id": attempt_id}).json()
    rest = api.post("/a2a/results/drain", {"max": 9, "ack": [*three[:2], stranger]}).json()
    spent = api.post("/a2a/results/drain", {"max": 9, "attempt_id": attempt_id, "wait_ms": 60_000}).json()

    assert first == again
    assert first == {
        "kind": "a2a_results_drained",
        "results": [{"task_id": task_id, **OK} for task_id in three[:2]],
        "acked": [],
        "unknown": [],
        "refused": [],
    }
    assert ([one["task_id"] for one in rest["results"]], rest["acked"], rest["unknown"]) == (
        three[2:],
        three[:2],
        [stranger],
    )
    assert (spent["results"], spent["attempt_spent"]) == ([], True)


def test_a_drain_refuses_a_malformed_id_alone(alice, bob):
    first, second = (str(factories.resolved_task(alice, bob).task.uuid) for _ in range(2))
    api = Api(alice)
    api.post("/a2a/results/drain", {"max": 1})

    ack = ["x", first, None, "", {"id": first}, "\x00"]
    answer = api.post("/a2a/results/drain", {"max": 9, "ack": ack})

    assert answer.status_code == 200
    body = answer.json()
    assert ([one["task_id"] for one in body["results"]], body["acked"], body["unknown"]) == ([second], [first], [])
    assert body["refused"][0] == {
        "index": 0,
        "task_id": None,
        "code": "invalid_request",
        "message": "ack.0: must be a UUID",
        "fields": {"ack.0": "must be a UUID"},
    }
    assert [(one["index"], one["code"]) for one in body["refused"][1:]] == [
        (2, "invalid_request"),
        (3, "invalid_request"),
        (4, "invalid_request"),
        (5, "invalid_json"),
    ]
    assert AuditEvent.objects.filter(kind="a2a_result_acked").count() == 1


def test_a_drain_whose_ids_are_all_malformed_still_drains(alice, bob):
    task_id = str(factories.resolved_task(alice, bob).task.uuid)

    body = Api(alice).post("/a2a/results/drain", {"max": 1, "ack": ["x"]}).json()

    assert ([one["task_id"] for one in body["results"]], body["acked"]) == ([task_id], [])
    assert body["refused"][0]["fields"] == {"ack.0": "must be a UUID"}
    assert not AuditEvent.objects.filter(kind="a2a_result_acked").exists()


@pytest.mark.parametrize(("path", "field"), PATHS.items())
@pytest.mark.parametrize("items", [None, {}, "x", 7, "too many"], ids=str)
def test_a_bad_batch_is_one_error_with_its_path(alice, path, field, items):
    whole = {} if field == "tasks" or path == "/a2a/results/batch" else {"max": 1}
    if items == "too many":
        items = [str(uuid4()) if field == "ack" else {}] * (MOST[field] + 1)

    answer = Api(alice).post(path, {**whole, field: items})

    assert error_of(answer) == (400, "invalid_request")
    assert list(answer.json()["fields"]) == [field]
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/a2a/tasks/batch", {"tasks": []}, "tasks"),
        ("/a2a/tasks/batch", {}, "tasks"),
        ("/a2a/tasks/batch", {"tasks": [{}], "more": 1}, "more"),
        ("/a2a/results/batch", {"results": []}, "results"),
        ("/a2a/tasks/lease", {}, "max"),
        ("/a2a/tasks/lease", {"max": 0}, "max"),
        ("/a2a/tasks/lease", {"max": 101}, "max"),
        ("/a2a/tasks/lease", {"max": 1, "wait_ms": 600_001}, "wait_ms"),
        ("/a2a/tasks/lease", {"max": 1, "attempt_id": "x"}, "attempt_id"),
        ("/a2a/tasks/lease", {"max": "3"}, "max"),
        ("/a2a/tasks/lease", {"max": 1.0}, "max"),
        ("/a2a/tasks/lease", {"max": True}, "max"),
        ("/a2a/tasks/lease", {"max": 1, "wait_ms": "5"}, "wait_ms"),
        ("/a2a/results/drain", {"max": 101}, "max"),
        ("/a2a/results/drain", {"max": "3"}, "max"),
        ("/a2a/results/drain", {"max": 1, "wait_ms": "5"}, "wait_ms"),
        ("/a2a/results/ack", {"task_ids": [str(uuid4()), "x"]}, "task_ids.1"),
    ],
)
def test_a_bad_field_of_a_batch_is_named(alice, path, body, field):
    answer = Api(alice).post(path, body)

    assert error_of(answer) == (400, "invalid_request")
    assert list(answer.json()["fields"]) == [field]


def test_a_header_and_a_body_with_two_attempt_ids_are_refused(bob):
    two = Api(bob).post(
        "/a2a/tasks/lease",
        {"max": 1, "attempt_id": str(uuid4())},
        headers={"A2A-Receive-Attempt-Id": str(uuid4())},
    )

    assert error_of(two) == (400, "invalid_request")
