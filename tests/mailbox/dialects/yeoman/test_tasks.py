"""Agnostic's task API at both its paths, and a workflow's."""

import json
import re
from datetime import UTC

import pytest

from mailbox.life import leasing, results, sending
from mailbox.models import PushConfig, Task
from mailbox.words.envelopes import ResultStatus
from tests.support import factories, yeoman

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]

SESSION = re.compile(r"session_\d{8}_\d{6}_[0-9a-f]{8}")
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00")
PATHS = [("/api/tasks", 200), ("/api/v1/tasks", 201)]


@pytest.fixture
def submitted(peer):
    return peer.post("/api/tasks", {"title": "t", "description": "d"}).json()["task_id"]


@pytest.mark.parametrize(("path", "created"), PATHS)
def test_a_submitted_task_is_pending(peer, bob, path, created):
    response = peer.post(path, {"title": "Login tests", "description": "Check the login", "priority": "critical"})

    record = response.json()
    assert response.status_code == created
    assert record.keys() == {"task_id", "session_id", "status", "created_at", "updated_at", "result"}
    assert SESSION.fullmatch(record["session_id"])
    assert ISO.fullmatch(record["created_at"])
    assert (record["status"], record["result"], record["updated_at"]) == ("pending", None, record["created_at"])
    assert peer.get(f"{path}/{record['task_id']}").json() == record
    task = Task.objects.get(uuid=record["task_id"])
    assert (task.intent_text, task.recipient) == ("Check the login", bob.agent)
    assert json.loads(task.metadata) == {
        "title": "Login tests",
        "target_url": None,
        "priority": "critical",
        "standards": [],
        "agents": [],
        "business_goals": "Ensure quality and functionality",
        "constraints": "Standard testing environment",
    }


def test_keys_beyond_the_original_s_are_kept(peer):
    body = {"title": "t", "description": "d", "preset": "quality-standard"}

    record = peer.post("/api/v1/tasks", body).json()

    assert json.loads(Task.objects.get(uuid=record["task_id"]).metadata)["preset"] == "quality-standard"


def test_a_callback_is_remembered_and_shown_in_no_read(peer):
    callback = {"callback_url": "https://receiver.example/hook", "callback_secret": "callback-secret-1"}

    response = peer.post("/api/tasks", {"title": "t", "description": "d", **callback})

    assert PushConfig.objects.get().url == callback["callback_url"]
    assert "receiver.example" not in response.text + Task.objects.get().metadata
    assert "callback-secret-1" not in response.text + Task.objects.get().metadata


@pytest.mark.parametrize(
    ("body", "kind", "loc"),
    [
        ({"description": "d"}, "missing", ["body", "title"]),
        ({"title": "t"}, "missing", ["body", "description"]),
        ({"title": 7, "description": "d"}, "string_type", ["body", "title"]),
        ({"title": "t", "description": "d", "agents": "x"}, "list_type", ["body", "agents"]),
        ({"title": "", "description": " "}, "string_too_short", ["body", "description"]),
        ([], "model_attributes_type", ["body"]),
        ("null", "model_attributes_type", ["body"]),
        ("{", "json_invalid", ["body", 1]),
    ],
)
@pytest.mark.parametrize("path", ["/api/tasks", "/api/v1/tasks"])
def test_a_body_that_does_not_fit_is_unprocessable(peer, body, kind, loc, path):
    response = peer.post(path, body)

    [problem] = response.json()["detail"]
    assert response.status_code == 422
    assert (problem["type"], problem["loc"]) == (kind, loc)
    assert not Task.objects.exists()


def test_a_bad_body_s_callback_secret_is_not_repeated(peer):
    assert "hush-hush" not in peer.post("/api/tasks", {"title": "t", "callback_secret": "hush-hush"}).text


def test_the_status_words_are_the_original_s(peer, submitted, bob):
    [lease] = leasing.lease_tasks(bob)
    running = peer.get(f"/api/tasks/{submitted}").json()
    results.post_result(bob, factories.result_envelope(lease.task))
    completed = peer.get(f"/api/v1/tasks/{submitted}").json()

    assert (running["status"], running["result"]) == ("running", None)
    assert (completed["status"], completed["result"]) == ("completed", {"content": factories.SOME_TEXT})
    assert completed["updated_at"] > completed["created_at"]


def test_a_task_is_updated_when_it_starts(peer, submitted, bob):
    moments = [read_moment(peer, submitted)]
    [lease] = leasing.lease_tasks(bob)
    moments.append(read_moment(peer, submitted))
    leasing.release(bob, lease.task.uuid, reason="no time")
    moments.append(read_moment(peer, submitted))
    leasing.lease_tasks(bob)
    moments.append(read_moment(peer, submitted))

    assert moments[1] == lease.leased_at.astimezone(UTC).isoformat()
    assert moments == sorted(set(moments))
    assert peer.get("/api/tasks").json()["items"][0]["updated_at"] == moments[-1]


def read_moment(peer, task_id):
    return peer.get(f"/api/tasks/{task_id}").json()["updated_at"]


@pytest.mark.parametrize(
    ("status", "word", "result"),
    [
        (ResultStatus.PARTIAL, "completed", {"content": factories.SOME_TEXT, "message": "it broke"}),
        (ResultStatus.ERROR, "failed", {"error": "it broke", "content": factories.SOME_TEXT}),
    ],
)
def test_every_outcome_has_a_final_status_for_pollers(peer, submitted, bob, status, word, result):
    [lease] = leasing.lease_tasks(bob)
    results.post_result(bob, factories.result_envelope(lease.task, status=status, error_message="it broke"))

    record = peer.get(f"/api/tasks/{submitted}").json()

    assert (record["status"], record["result"]) == (word, result)


def test_an_unknown_task_is_not_found(peer):
    response = peer.get("/api/v1/tasks/unknown")

    assert (response.status_code, response.json()) == (404, {"detail": "Task not found"})


def test_a_cancelled_task_stays_cancelled(peer, submitted):
    cancelled = peer.call("DELETE", f"/api/v1/tasks/{submitted}")
    again = peer.call("DELETE", f"/api/v1/tasks/{submitted}")

    assert cancelled.json() == {
        "task_id": submitted,
        "status": "cancelled",
        "message": "Task cancelled successfully",
    }
    assert again.status_code == 200
    assert peer.get(f"/api/tasks/{submitted}").json()["status"] == "cancelled"


def test_a_finished_task_cannot_be_cancelled(peer, submitted, bob):
    [lease] = leasing.lease_tasks(bob)
    results.post_result(bob, factories.result_envelope(lease.task))

    response = peer.call("DELETE", f"/api/v1/tasks/{submitted}")

    assert (response.status_code, response.json()) == (409, {"detail": "Cannot cancel task in 'completed' state"})


def test_only_the_sender_cancels_a_task(peer, submitted, bob):
    assert yeoman.Peer(bob).call("DELETE", f"/api/tasks/{submitted}").status_code == 404
    assert peer.call("DELETE", "/api/tasks/x").json() == {"detail": "Task not found"}


@pytest.mark.parametrize("path", ["/api/tasks", "/api/v1/tasks"])
def test_the_list_shows_the_caller_s_own_tasks_newest_first(peer, alice, bob, path):
    ids = [peer.post(path, {"title": "t", "description": str(n)}).json()["task_id"] for n in range(3)]
    sending.send_task(alice, factories.task_envelope(bob))  # of another dialect

    page = peer.get(f"{path}?limit=2").json()
    rest = peer.get(f"{path}?limit=2&offset=2").json()

    assert [item["task_id"] for item in page["items"] + rest["items"]] == ids[::-1]
    assert (page["total"], page["limit"], rest["offset"]) == (3, 2, 2)
    assert yeoman.Peer(bob).get(path).json()["items"] == []
    assert peer.get(f"{path}?limit=0").json()["detail"][0]["loc"] == ["query", "limit"]


def test_a_workflow_s_step_gets_an_id_and_the_state(peer, bob):
    response = peer.post("/api/v1/a2a/tasks", {"task": "review", "context": {"n": 1}})

    answer = response.json()
    task = Task.objects.get(uuid=answer["taskId"])
    assert (answer["task_id"], answer["status"], answer["result"]) == (answer["taskId"], "pending", None)
    assert (task.intent_text, json.loads(task.metadata)) == ("review", {"context": {"n": 1}})
    assert peer.post("/api/v1/a2a/tasks", {"context": {}}).status_code == 422
