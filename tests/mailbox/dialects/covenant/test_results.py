from __future__ import annotations

from uuid import uuid4

import pytest

from mailbox.gate.callers import Caller
from mailbox.models import AuditEvent, Result, Task
from mailbox.verbs.life import leasing, sending
from mailbox.verbs.upkeep import compaction
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db

BLOCKS = [{"type": "text", "text": "ünï"}, {"type": "json", "value": {"z": 1.50, "a": [10**30, None, 2e5]}}]


@pytest.fixture
def lease(alice, bob):
    return factories.leased_task(alice, bob)


def result_for(lease, **fields):
    return {"task_id": str(lease.task.uuid), "status": "ok", "content": factories.SOME_TEXT, **fields}


def test_a_posted_result_reaches_its_sender_unchanged(alice, bob, lease):
    said = result_for(lease, status="partial", content=BLOCKS, error_message="half")

    answer = Api(bob).post("/a2a/results", said | {"lease_id": str(lease.lease_id)})
    got = Api(alice).get("/a2a/results/next")

    task_id = str(lease.task.uuid)
    assert (answer.status_code, answer.json()) == (200, {"kind": "a2a_result_posted", "task_id": task_id})
    assert got.json() == {"kind": "a2a_result_opt", "result": said}
    assert b'{"z":1.5,"a":[1000000000000000000000000000000,null,200000.0]}' in got.content
    assert factories.life_of(lease.task) == [
        "a2a_task_sent",
        "a2a_task_leased",
        "a2a_result_posted",
        "a2a_result_delivered",
    ]


def test_a_plain_result_has_three_keys(alice, bob, lease):
    Api(bob).post("/a2a/results", {"task_id": str(lease.task.uuid), "status": "ok"})

    assert Api(alice).get("/a2a/results/next").json()["result"] == {
        "task_id": str(lease.task.uuid),
        "status": "ok",
        "content": [],
    }


def test_the_identical_result_again_is_acknowledged_again(bob, lease):
    api = Api(bob)
    first = api.post("/a2a/results", result_for(lease))

    again = api.post("/a2a/results", result_for(lease))

    assert (again.status_code, again.json()) == (200, first.json())
    assert len(factories.journal("a2a_result_posted")) == 1


def test_a_different_result_is_a_conflict(bob, lease):
    api = Api(bob)
    api.post("/a2a/results", result_for(lease))

    answer = api.post("/a2a/results", result_for(lease, status="error"))

    assert error_of(answer) == (409, "result_conflict")
    assert answer.json()["task_id"] == str(lease.task.uuid)
    assert factories.last_event().kind == "a2a_result_rejected"


def test_a_stale_lease_is_a_mismatch_that_names_both(bob, lease):
    leasing.release(bob, lease.task.uuid, reason="again")
    (live,) = leasing.lease_tasks(bob)

    answer = Api(bob).post("/a2a/results", result_for(lease, lease_id=str(lease.lease_id)))

    assert error_of(answer) == (409, "lease_mismatch")
    assert answer.json()["expected_lease_id"] == str(lease.lease_id)
    assert answer.json()["actual_lease_id"] == str(live.lease_id)
    assert not Result.objects.exists()


def test_a_cancelled_task_is_already_resolved(alice, bob, lease):
    sending.cancel(alice, lease.task.uuid)

    assert error_of(Api(bob).post("/a2a/results", result_for(lease))) == (409, "already_resolved")


def test_a_result_for_an_unknown_task_is_refused_before_any_check(mallory):
    answer = Api(mallory).post("/a2a/results", {"task_id": str(uuid4()), "status": "ok"})

    assert error_of(answer) == (404, "unknown_task")
    assert [event.kind for event in AuditEvent.objects.all()] == ["a2a_result_rejected"]


def test_a_recipient_without_a_grant_cannot_answer(alice, mallory):
    lease = factories.leased_task(alice, mallory)

    answer = Api(mallory).post("/a2a/results", result_for(lease))

    assert error_of(answer) == (403, "capability_missing")
    assert answer.json()["action"] == "a2a.respond.alice@local"


def test_an_unknown_block_is_refused_with_its_index(bob, lease):
    answer = Api(bob).post("/a2a/results", result_for(lease, content=[*factories.SOME_TEXT, {"type": "video"}]))

    assert error_of(answer) == (400, "invalid_request")
    assert list(answer.json()["fields"]) == ["content.1.type"]
    assert not Result.objects.exists()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_drain_without_results_answers_null(alice, method):
    answer = Api(alice).call(method, "/a2a/results/next")

    assert (answer.status_code, answer.json()) == (200, {"kind": "a2a_result_opt", "result": None})


def test_an_attempt_gets_the_same_result_until_a_call_carries_its_ack(alice, bob):
    first, second = (str(factories.resolved_task(alice, bob).task.uuid) for _ in range(2))
    api, attempt, following = Api(alice), str(uuid4()), str(uuid4())

    for _ in range(2):
        got = api.get("/a2a/results/next", headers={"A2A-Receive-Attempt-Id": attempt})
        assert got.json()["result"]["task_id"] == first
    got = api.get("/a2a/results/next", ack=first, attempt_id=following)

    assert got.json()["result"]["task_id"] == second
    assert Result.objects.get(task__uuid=first).delivery == Result.Delivery.ACKED
    assert Result.objects.get(task__uuid=second).delivery == Result.Delivery.DELIVERED
    assert len(factories.journal("a2a_result_delivered")) == 2
    assert len(factories.journal("a2a_result_acked")) == 1


def test_a_drain_by_post_takes_the_ack_from_its_body(alice, bob):
    first = str(factories.drained_task(alice, bob).task.uuid)

    answer = Api(alice).post("/a2a/results/next", {"ack": first})

    assert answer.json()["result"] is None
    assert Result.objects.get().delivery == Result.Delivery.ACKED


def test_a_drain_with_the_ack_of_a_foreign_task_drains_nothing(alice, bob):
    factories.resolved_task(alice, bob)

    assert error_of(Api(alice).get("/a2a/results/next", ack=uuid4())) == (404, "unknown_task")
    assert Result.objects.get().delivery == Result.Delivery.PENDING


def test_acknowledged_ids_are_returned(alice, bob):
    ids = [str(factories.drained_task(alice, bob).task.uuid) for _ in range(2)]

    answer = Api(alice).post("/a2a/results/ack", {"task_ids": ids})

    assert answer.json() == {"kind": "a2a_results_acked", "task_ids": ids, "unknown": []}
    assert Result.objects.filter(delivery=Result.Delivery.ACKED).count() == 2


def test_an_unknown_id_is_named_beside_the_acknowledged_ids(alice, bob):
    task_id, absent = str(factories.drained_task(alice, bob).task.uuid), str(uuid4())
    api = Api(alice)

    mixed = api.post("/a2a/results/ack", {"task_ids": [absent, task_id]})
    unknown = api.post("/a2a/results/ack", {"task_ids": [absent, str(uuid4())]})

    assert (mixed.status_code, mixed.json()) == (
        200,
        {"kind": "a2a_results_acked", "task_ids": [task_id], "unknown": [absent]},
    )
    assert error_of(unknown) == (404, "unknown_task")
    assert unknown.json()["task_id"] == absent


def test_a_drain_under_a_spent_attempt_id_says_so(alice, bob):
    for _ in range(2):
        factories.resolved_task(alice, bob)
    api, attempt = Api(alice), str(uuid4())
    drained = api.get("/a2a/results/next", attempt_id=attempt).json()["result"]
    api.post("/a2a/results/ack", {"task_ids": [drained["task_id"]]})

    spent = api.get("/a2a/results/next", attempt_id=attempt)

    assert spent.json() == {"kind": "a2a_result_opt", "result": None, "attempt_spent": True}
    assert api.get("/a2a/results/next", attempt_id=uuid4()).json()["result"]["task_id"] != drained["task_id"]


def test_a_drain_whose_ack_was_compacted_since_is_answered_again(alice, bob):
    first, second = (str(factories.resolved_task(alice, bob).task.uuid) for _ in range(2))
    api, attempt = Api(alice), str(uuid4())
    api.get("/a2a/results/next")
    got = api.get("/a2a/results/next", ack=first, attempt_id=attempt)
    compaction.compact(Caller.command_line(), factories.AT_ONCE)

    again = api.get("/a2a/results/next", ack=first, attempt_id=attempt)

    assert got.json()["result"]["task_id"] == second
    assert (again.status_code, again.json()) == (200, got.json())
    assert not Task.objects.filter(uuid=first).exists()


def test_a_compacted_task_is_acknowledged_by_its_sender_and_unknown_to_others(alice, bob, mallory):
    compacted, absent = str(factories.drained_task(alice, bob).task.uuid), str(uuid4())
    body = {"task_ids": [compacted, absent]}
    Api(alice).post("/a2a/results/ack", {"task_ids": [compacted]})
    compaction.compact(Caller.command_line(), factories.AT_ONCE)

    answer = Api(alice).post("/a2a/results/ack", body)
    foreign = Api(mallory).post("/a2a/results/ack", body)
    none_such = Api(mallory).post("/a2a/results/ack", {"task_ids": [absent]})

    assert answer.json() == {"kind": "a2a_results_acked", "task_ids": [compacted], "unknown": [absent]}
    assert foreign.status_code == none_such.status_code == 404
    assert foreign.text.replace(compacted, absent) == none_such.text


@pytest.mark.parametrize("body", [{}, {"task_ids": []}, {"task_ids": ["x"]}, {"task_ids": [str(uuid4())] * 1001}])
def test_an_invalid_ack_is_refused(alice, body):
    assert error_of(Api(alice).post("/a2a/results/ack", body)) == (400, "invalid_request")


def test_people_cannot_drain_or_acknowledge_results(alice, bob, olga):
    task_id = factories.drained_task(alice, bob).task.uuid
    api = Api(olga)

    assert error_of(api.get("/a2a/results/next")) == (403, "not_an_agent")
    assert error_of(api.post("/a2a/results/ack", {"task_ids": [str(task_id)]})) == (403, "not_an_agent")
    assert Result.objects.get().delivery == Result.Delivery.DELIVERED


def test_a_sender_that_lost_its_answers_lists_them_until_it_acknowledges(alice, bob, mallory):
    attempt = str(uuid4())
    task_id, other = (str(factories.resolved_task(alice, bob).task.uuid) for _ in range(2))
    api = Api(alice)
    got = api.get("/a2a/results/next", attempt_id=attempt).json()["result"]
    api.get("/a2a/results/next")

    answer = api.get("/a2a/results/delivered").json()
    first, second = answer["results"]

    assert (answer["kind"], answer["next_cursor"]) == ("a2a_results_delivered", None)
    assert first == {**got, "delivered_at_ms": first["delivered_at_ms"], "attempt_id": attempt}
    assert (second["task_id"], second["attempt_id"]) == (other, None)
    delivered_at = Result.objects.get(task__uuid=task_id).delivered_at
    assert delivered_at
    assert first["delivered_at_ms"] == epoch_ms(delivered_at)
    for stranger in (bob, mallory):
        assert Api(stranger).get("/a2a/results/delivered").json()["results"] == []
    api.post("/a2a/results/ack", {"task_ids": [task_id, other]})
    assert api.get("/a2a/results/delivered").json()["results"] == []


def test_recent_results_are_shown_and_not_drained(alice, bob):
    ids = [str(factories.resolved_task(alice, bob).task.uuid) for _ in range(2)]

    answer = Api(alice).get("/a2a/results/recent").json()

    assert (answer["kind"], answer["next_cursor"]) == ("a2a_results", None)
    assert [result["task_id"] for result in answer["results"]] == ids
    assert Result.objects.pending().count() == 2
