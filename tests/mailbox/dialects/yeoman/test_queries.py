"""Messages that query a task, and messages that post its result."""

import pytest

from mailbox.life import leasing, results
from mailbox.models import Result, Task
from tests.support import factories, yeoman
from tests.support.yeoman import envelope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]


@pytest.fixture
def worker(bob):
    return yeoman.Peer(bob)


@pytest.fixture
def through_route(alice):
    return yeoman.Peer(prefix=factories.route(alice))


@pytest.fixture
def task_id(peer):
    return peer.send("a2a:delegate", {"task": "count"})["task_id"]


def test_a_status_query_answers_with_the_task_that_it_names(peer, task_id, bob):
    before = peer.send("a2a:status_query", {"task_id": task_id})
    leasing.lease_tasks(bob)
    meanwhile = peer.send("a2a:status_query", {"task_id": task_id})

    assert before["type"] == "status_response"
    assert (before["task_id"], before["status"], before["data"]["status"]) == (task_id, "pending", "pending")
    assert meanwhile["status"] == "running"


def test_a_status_query_without_a_task_shows_the_newest_tasks_of_the_caller(peer, task_id, alice, bob):
    factories.sent_task(alice, bob)

    data = peer.send("a2a:status_query", {})["data"]

    assert [one["task_id"] for one in data["sessions"]] == [task_id]
    assert data.keys() == {"timestamp", "sessions", "agents", "metrics"}


def test_a_result_query_answers_with_the_result_of_an_ended_task(peer, task_id, bob):
    before = peer.send("a2a:result_query", {"task_id": task_id})
    [lease] = leasing.lease_tasks(bob)
    results.post_result(bob, factories.result_envelope(lease.task))

    after = peer.send("a2a:result_query", {"task_id": task_id.replace("-", "")})

    assert (before["status"], before["result"]) == ("pending", None)
    assert (after["status"], after["result"]) == ("completed", {"content": factories.SOME_TEXT})


@pytest.mark.parametrize("kind", ["a2a:status_query", "a2a:result_query"])
@pytest.mark.parametrize("asked", ["unknown", "", 7, None, ["x"], "00000000-0000-4000-8000-000000000000"])
def test_an_unknown_task_is_answered_with_a_warning(peer, kind, asked):
    answer = peer.send(kind, {"task_id": asked})

    assert answer["warning"] == "Task not found"
    assert answer["data"] is None


def test_a_batch_of_questions_is_answered_by_id(peer, task_id):
    unknown = "00000000-0000-4000-8000-000000000000"

    statuses = peer.send("a2a:status_query_batch", {"task_ids": [task_id, unknown, "x"]})["statuses"]

    assert statuses[task_id]["status"] == "pending"
    assert (statuses[unknown], statuses["x"]) == (None, None)


@pytest.mark.parametrize("payload", [{}, {"task_ids": None}, {"task_ids": "x"}, {"tasks": []}, None])
def test_a_batch_of_questions_without_a_list_is_accepted_with_a_warning(peer, payload):
    answer = peer.send("a2a:status_query_batch", payload)

    assert answer["statuses"] == {}
    assert answer["warning"] == 'Nothing was done: the payload has no list "task_ids"'


@pytest.mark.parametrize("task_ids", [[1], ["x"] * 101])
def test_a_batch_of_questions_with_a_mistake_is_unprocessable(peer, task_ids):
    assert peer.receive(envelope("a2a:status_query_batch", {"task_ids": task_ids})).status_code == 422


@pytest.mark.parametrize(
    ("payload", "status", "content", "message"),
    [
        ({"result": {"score": 9}}, "ok", [{"type": "json", "value": {"score": 9}}], None),
        ({"result": "all good"}, "ok", [{"type": "text", "text": "all good"}], None),
        ({"result": {"status": "completed"}}, "ok", [{"type": "json", "value": {"status": "completed"}}], None),
        ({"result": [1, 2]}, "ok", [{"type": "json", "value": [1, 2]}], None),
        ({"result": {"error": "it broke"}}, "error", [{"type": "json", "value": {"error": "it broke"}}], "it broke"),
        ({"status": "failed", "error": "it broke"}, "error", [], "it broke"),
        ({"status": "failed", "error": {"o": 1}}, "error", [], '{"o":1}'),
        ({"result": "it broke", "status": "failed"}, "error", [{"type": "text", "text": "it broke"}], "it broke"),
        ({"result": {"error": [1]}}, "error", [{"type": "json", "value": {"error": [1]}}], "[1]"),
        ({"result": "half", "status": "partial"}, "partial", [{"type": "text", "text": "half"}], None),
        ({"status": "partial", "error": "no time"}, "partial", [], "no time"),
        ({}, "ok", [], None),
        ({"status": None, "result": 7}, "ok", [{"type": "json", "value": 7}], None),
        ({"status": "", "result": 7}, "ok", [{"type": "json", "value": 7}], None),
        ({"status": "completed", "result": 7}, "ok", [{"type": "json", "value": 7}], None),
        ({"status": "ok", "result": 7}, "ok", [{"type": "json", "value": 7}], None),
        ({"status": "success", "result": 7}, "ok", [{"type": "json", "value": 7}], None),
        ({"result": {"status": "healthy"}}, "ok", [{"type": "json", "value": {"status": "healthy"}}], None),
        ({"result": {"status": [1]}}, "ok", [{"type": "json", "value": {"status": [1]}}], None),
    ],
)
def test_a_result_for_a_task_of_the_caller_resolves_it(worker, task_id, bob, payload, status, content, message):
    leasing.lease_tasks(bob)

    answer = worker.send("a2a:result", {"task_id": task_id, **payload})

    result = Result.objects.get()
    assert answer == {"accepted": True, "message_id": answer["message_id"], "type": "result_cached", "task_id": task_id}
    assert (result.status, result.blocks, result.error_message) == (status, content, message)
    assert Task.objects.get().state == Task.State.RESOLVED


@pytest.mark.parametrize(
    ("payload", "place"),
    [
        ({"status": "banana"}, ["status"]),
        ({"status": "running"}, ["status"]),
        ({"status": "pending", "result": {"status": "completed"}}, ["status"]),
        ({"status": 5}, ["status"]),
        ({"status": 0}, ["status"]),
        ({"status": False}, ["status"]),
        ({"status": ["failed"]}, ["status"]),
        ({"status": {}}, ["status"]),
        ({"result": {"status": "running"}}, ["result", "status"]),
        ({"result": {"status": "pending"}}, ["result", "status"]),
    ],
)
def test_a_result_that_does_not_say_how_its_task_ended_is_unprocessable(worker, task_id, bob, payload, place):
    leasing.lease_tasks(bob)

    response = worker.receive(envelope("a2a:result", {"task_id": task_id, "result": "x", **payload}))

    assert response.status_code == 422
    assert [problem["loc"] for problem in response.json()["detail"]] == [["body", "payload", *place]]
    assert Task.objects.get().state == Task.State.IN_FLIGHT
    assert not Result.objects.exists()


@pytest.mark.parametrize("asked", ["x", "", None, 7, "00000000-0000-4000-8000-000000000000"])
def test_a_result_of_no_task_of_the_caller_is_accepted_with_a_warning(worker, asked):
    answer = worker.send("a2a:result", {"task_id": asked, "result": {"score": 9}})

    assert answer["type"] == "result_cached"
    assert "keeps no results" in answer["warning"]
    assert not Result.objects.exists()


def test_the_sender_cannot_answer_its_own_task_by_key_or_by_public_route(peer, through_route, task_id):
    by_key, by_route = (one.send("a2a:result", {"task_id": task_id, "result": "mine"}) for one in (peer, through_route))

    assert by_key == by_route
    assert "was not kept" in by_key["warning"]
    assert not Result.objects.exists()


def test_a_public_route_posts_no_result_and_answers_alike_for_every_task(through_route, alice, bob):
    factories.grant(bob, "a2a.send.*")
    factories.grant(alice, "a2a.respond.*")
    received = factories.sent_task(bob, alice)

    answers = [
        through_route.send("a2a:result", {"task_id": task_id, "result": "x"})
        for task_id in (str(received.uuid), "00000000-0000-4000-8000-000000000000")
    ]

    assert answers[0] == answers[1]
    assert not Result.objects.exists()
