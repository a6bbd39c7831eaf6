from uuid import uuid4

import pytest

from mailbox.life import leasing
from mailbox.models import Result
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


def test_a_plain_result_has_three_keys(alice, bob, lease):
    Api(bob).post("/a2a/results", {"task_id": str(lease.task.uuid), "status": "ok"})

    assert Api(alice).get("/a2a/results/next").json()["result"] == {
        "task_id": str(lease.task.uuid),
        "status": "ok",
        "content": [],
    }


def test_a_stale_lease_is_a_mismatch_that_names_both(bob, lease):
    leasing.release(bob, lease.task.uuid, reason="again")
    (live,) = leasing.lease_tasks(bob)

    answer = Api(bob).post("/a2a/results", result_for(lease, lease_id=str(lease.lease_id)))

    assert error_of(answer) == (409, "lease_mismatch")
    assert answer.json()["expected_lease_id"] == str(lease.lease_id)
    assert answer.json()["actual_lease_id"] == str(live.lease_id)
    assert not Result.objects.exists()


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


@pytest.mark.parametrize("body", [{}, {"task_ids": []}, {"task_ids": ["x"]}, {"task_ids": [str(uuid4())] * 1001}])
def test_an_invalid_ack_is_refused(alice, body):
    assert error_of(Api(alice).post("/a2a/results/ack", body)) == (400, "invalid_request")


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
