from uuid import uuid4

import pytest

from mailbox.access.callers import Caller
from mailbox.life import leasing
from mailbox.models import Lease, Task
from mailbox.upkeep import compaction
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.api import Api, error_of, task_to

pytestmark = pytest.mark.django_db


def id_of(caller):
    return {"display": caller.agent.display, "pubkey": caller.agent.pubkey}


def test_a_sent_task_is_acknowledged_with_its_id(alice, bob):
    body = task_to(bob)

    answer = Api(alice).post("/a2a/tasks", body)

    assert (answer.status_code, answer.json()) == (200, {"kind": "a2a_task_queued", "task_id": body["id"]})
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.django_db(transaction=True)
def test_a_repeat_of_a_compacted_task_is_answered_with_its_outcome(alice, bob, mallory):
    factories.grant(mallory, "a2a.send.*")
    api, body = Api(alice), task_to(bob)
    api.post("/a2a/tasks", body)
    api.post(f"/a2a/tasks/{body['id']}/cancel")
    api.post("/a2a/results/ack", {"task_ids": [body["id"]]})
    compaction.compact(Caller.command_line(), factories.AT_ONCE)

    again, changed = api.post("/a2a/tasks", body), api.post("/a2a/tasks", {**body, "intent_text": "other"})
    foreign = Api(mallory).post("/a2a/tasks", body)

    queued = {"kind": "a2a_task_queued", "task_id": body["id"]}
    assert (again.status_code, again.json()) == (200, {**queued, "outcome": "cancelled", "compacted": True})
    assert error_of(changed) == (409, "task_conflict")
    assert foreign.text == changed.text
    assert not Task.objects.exists()


def test_a_task_with_every_field_is_returned_whole(alice, bob):
    said = {
        "id": str(uuid4()),
        "sender": id_of(alice),
        "recipient": id_of(bob),
        "intent_text": "ünïcode \U0001f600 and\nlines",
        "task_kind": "summary",
        "parent": str(uuid4()),
        "deadline_ms": 2**63 - 1,
        "idempotency": {"duplicate_safety": "idempotent", "key": "work-1"},
    }
    Api(alice).post("/a2a/tasks", said)

    got = Api(bob).get("/a2a/tasks/next").json()

    assert got["task"] == said


def test_a_plain_task_has_four_keys(alice, bob):
    Api(alice).post("/a2a/tasks", task_to(bob))

    assert Api(bob).get("/a2a/tasks/next").json()["task"].keys() == {"id", "sender", "recipient", "intent_text"}


def test_unknown_keys_of_a_task_are_ignored(alice, bob):
    assert Api(alice).post("/a2a/tasks", task_to(bob, priority=7)).status_code == 200


def test_a_foreign_sender_is_refused(alice, bob, mallory):
    answer = Api(mallory).post("/a2a/tasks", task_to(bob, sender="alice@local"))

    assert error_of(answer) == (403, "sender_mismatch")
    assert factories.last_event().kind == "a2a_sender_mismatch"


def test_a_missing_capability_is_named_by_its_action(mallory, bob):
    answer = Api(mallory).post("/a2a/tasks", task_to(bob))

    assert error_of(answer) == (403, "capability_missing")
    assert answer.json()["action"] == "a2a.send.bob@local"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_leased_task_comes_with_its_lease(alice, bob, method):
    task = factories.sent_task(alice, bob)

    answer = Api(bob).call(method, "/a2a/tasks/next")

    lease = Lease.objects.get()
    assert answer.json()["kind"] == "a2a_task_opt"
    assert answer.json()["task"]["id"] == str(task.uuid)
    told = answer.json()["lease"]
    assert (told["lease_id"], told["attempt"]) == (str(lease.lease_id), 1)
    assert told["leased_at_ms"] == told["last_seen_at_ms"] == epoch_ms(lease.leased_at)
    assert answer["Cache-Control"] == "no-store"
    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_leased"]


@pytest.mark.parametrize("path", ["/a2a/tasks/next", "/a2a/results/next"])
@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
def test_head_and_options_take_no_task_and_no_result(alice, bob, path, method):
    factories.sent_task(alice, bob)
    factories.resolved_task(bob_as_sender(bob), factories.agent("carol", "a2a.respond.*"))

    answer = Api(bob).call(method, path)

    assert answer.status_code == 405
    assert set(answer["Allow"].split(", ")) == {"GET", "POST"}
    assert Task.objects.queued().count() == 1
    assert factories.journal("a2a_result_delivered") == []


def bob_as_sender(bob):
    factories.grant(bob, "a2a.send.*")
    return bob


ATTEMPT = uuid4()


@pytest.mark.parametrize(
    "first",
    [
        {"method": "GET", "query": {"attempt_id": str(ATTEMPT)}},
        {"method": "GET", "headers": {"A2A-Receive-Attempt-Id": str(ATTEMPT)}},
        {"method": "POST", "body": {"attempt_id": str(ATTEMPT)}},
        {"method": "POST", "headers": {"A2A-Receive-Attempt-Id": str(ATTEMPT)}},
        {"method": "POST", "query": {"attempt_id": str(ATTEMPT)}},
        {"method": "POST", "body": {"attempt_id": str(ATTEMPT)}, "headers": {"A2A-Receive-Attempt-Id": str(ATTEMPT)}},
    ],
    ids=["query", "header", "body", "header of a post", "query of a post", "twice the same"],
)
def test_a_repeated_attempt_id_gets_the_same_lease_from_any_place(alice, bob, first):
    for _ in range(2):
        factories.sent_task(alice, bob)
    api = Api(bob)
    answer = api.call(path="/a2a/tasks/next", **first)

    again = api.get("/a2a/tasks/next", attempt_id=ATTEMPT)

    assert again.json() == answer.json()
    assert Lease.objects.get().receive_attempt_id == ATTEMPT


def test_a_receive_under_a_spent_attempt_id_says_so(alice, bob):
    first, second = (factories.sent_task(alice, bob) for _ in range(2))
    api = Api(bob)
    unused = api.get("/a2a/results/next", attempt_id=ATTEMPT)
    leased = api.get("/a2a/tasks/next", attempt_id=ATTEMPT)
    live = api.get("/a2a/tasks/next", attempt_id=ATTEMPT)
    leasing.release(bob, first.uuid, reason="not mine")

    spent = [api.get("/a2a/tasks/next", attempt_id=ATTEMPT)]
    spent.append(api.post("/a2a/tasks/next", {"attempt_id": str(ATTEMPT)}))

    nothing = {"kind": "a2a_task_opt", "task": None, "lease": None, "attempt_spent": True}
    assert unused.json() == {"kind": "a2a_result_opt", "result": None}
    assert leased.json() == live.json()
    assert [answer.json() for answer in spent] == [nothing] * 2
    assert api.get("/a2a/tasks/next", attempt_id=uuid4()).json()["task"]["id"] == str(second.uuid)


@pytest.mark.parametrize("path", ["/a2a/tasks/next", "/a2a/results/next"])
@pytest.mark.parametrize(
    ("query", "headers", "field"),
    [
        ({"attempt_id": "x"}, {}, "attempt_id"),
        ({}, {"A2A-Receive-Attempt-Id": "x"}, "A2A-Receive-Attempt-Id"),
        ({}, {"A2A-Receive-Attempt-Id": ""}, "A2A-Receive-Attempt-Id"),
        ({"wait_ms": "-1"}, {}, "wait_ms"),
        ({"wait_ms": "600001"}, {}, "wait_ms"),
        ({"wait_ms": "soon"}, {}, "wait_ms"),
        ({"wait": "5"}, {}, "wait"),
    ],
)
def test_an_invalid_option_of_a_receive_is_named(bob, path, query, headers, field):
    answer = Api(bob).get(path, headers=headers, **query)

    assert error_of(answer) == (400, "invalid_request")
    assert list(answer.json()["fields"]) == [field]


@pytest.mark.parametrize("path", ["/a2a/tasks/next", "/a2a/results/next"])
@pytest.mark.parametrize(
    "given",
    [
        {"method": "GET", "query": {"attempt_id": str(ATTEMPT)}, "headers": {"A2A-Receive-Attempt-Id": str(uuid4())}},
        {"method": "POST", "body": {"attempt_id": str(ATTEMPT)}, "headers": {"A2A-Receive-Attempt-Id": str(uuid4())}},
        {"method": "POST", "body": {"attempt_id": str(ATTEMPT)}, "query": {"attempt_id": str(uuid4())}},
    ],
)
def test_a_receive_with_two_attempt_ids_is_refused(alice, bob, path, given):
    factories.sent_task(alice, bob)

    answer = Api(bob).call(path=path, **given)

    assert error_of(answer) == (400, "invalid_request")
    assert list(answer.json()["fields"]) == ["attempt_id"]
    assert not Lease.objects.exists()


def test_the_query_of_a_receive_by_post_is_validated(bob):
    answer = Api(bob).call("POST", "/a2a/tasks/next", query={"wait_ms": "600001"})

    assert list(answer.json()["fields"]) == ["wait_ms"]
