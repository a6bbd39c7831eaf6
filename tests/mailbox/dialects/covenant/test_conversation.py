"""Conversations over HTTP: a holder's updates, artifacts and questions, and further messages of the sender."""

from uuid import uuid4

import pytest

from mailbox.models import Artifact, Message, Task
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db

ASK = {"status": "input_required", "message": "which colour?"}


@pytest.fixture
def lease(alice, bob):
    return factories.leased_task(alice, bob)


def post(caller, task, *updates, **more):
    return Api(caller).post(f"/a2a/tasks/{task.uuid}/updates", {"updates": list(updates), **more})


def test_a_question_is_answered_and_the_task_comes_back(alice, bob, lease):
    path = f"/a2a/tasks/{lease.task.uuid}"
    asked = post(bob, lease.task, ASK, lease_id=str(lease.lease_id)).json()
    entry = Api(alice).get(f"{path}/entry").json()["entry"]

    sent = Api(alice).post(f"{path}/messages", {"content": "green", "message_id": "m-1", "metadata": {"a": 1}}).json()
    leased = Api(bob).post("/a2a/tasks/next").json()

    assert (asked["kind"], asked["turn"]) == ("a2a_task_updated", 1)
    assert (entry["state"], entry["awaits"]) == ("interrupted", "input")
    assert "lease_id" not in entry
    assert sent == {
        "kind": "a2a_message_sent",
        "task_id": str(lease.task.uuid),
        "message_id": "m-1",
        "seq": asked["seq"] + 1,
        "turn": 2,
    }
    assert (leased["lease"]["attempt"], leased["turn"]) == (2, 2)
    assert leased["message"] == {
        "message_id": "m-1",
        "role": "user",
        "content": [{"type": "text", "text": "green"}],
        "metadata": {"a": 1},
    }


def test_an_interrupted_task_is_leased_by_its_id_without_an_answer(alice, bob, lease):
    post(bob, lease.task, {"status": "auth_required", "message": "sign in"})
    read = Api(alice).get(f"/a2a/tasks/{lease.task.uuid}/messages", after=1).json()
    assert (read["state"], read["awaits"]) == ("interrupted", "authorization")
    assert Api(bob).post("/a2a/tasks/next").json()["task"] is None

    leased = Api(bob).post(f"/a2a/tasks/{lease.task.uuid}/lease", {}).json()

    assert (leased["lease"]["attempt"], leased["turn"]) == (2, 1)


def test_each_update_becomes_its_row(alice, bob, lease):
    answer = post(
        bob,
        lease.task,
        {"message": "one", "message_id": "m", "metadata": {"a": 1}},
        {"message": [{"type": "json", "value": [1]}]},
        {"progress": {"fraction": 0.5, "note": "half"}},
        {"artifact": {"content": "a", "name": "Page", "description": "d", "metadata": {"b": 2}, "extensions": ["x"]}},
        {"artifact": {"content": [{"type": "text", "text": "b"}]}, "append": True, "last_chunk": True},
        {"status": "working"},
        ASK,
    ).json()

    read = Api(alice).get(f"/a2a/tasks/{lease.task.uuid}/messages", after=2).json()["messages"]
    made = Api(alice).get(f"/a2a/tasks/{lease.task.uuid}/artifacts").json()["artifacts"]
    assert [message["content"] for message in read] == [
        [{"type": "text", "text": "one"}],
        [{"type": "json", "value": [1]}],
        [],
        [{"type": "text", "text": "which colour?"}],
    ]
    assert read[0].items() >= {"message_id": "m", "metadata": {"a": 1}}.items()
    assert read[2]["progress"] == {"fraction": 0.5, "note": "half"}
    assert read[3]["seq"] == answer["seq"]
    (page,) = made
    assert page["content"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert page.items() >= {"artifact_id": "result", "append": False, "last_chunk": True}.items()
    assert page.items() >= {"name": "Page", "description": "d", "metadata": {"b": 2}, "extensions": ["x"]}.items()


@pytest.mark.parametrize(
    ("update", "path"),
    [
        ({}, "updates.1"),
        ({"message": "a", "progress": {"fraction": 1}}, "updates.1"),
        ({"progress": {"fraction": 1}, "status": "working"}, "updates.1"),
        ({"artifact": {"content": "a"}, "message": "a"}, "updates.1"),
        ({"message": "a", "append": True}, "updates.1"),
        ({"progress": {"fraction": 1}, "message_id": "m"}, "updates.1"),
        ({"status": "done"}, "updates.1.status"),
        ({"status": "working", "message": "a"}, "updates.1.message"),
        ({"status": "auth_required"}, "updates.1.message"),
        ({"message": []}, "updates.1"),
        ({"message": {"text": "a"}}, "updates.1.message"),
        ({"message": ["a"]}, "updates.1.message.content.0"),
        ({"message": [{"type": "video"}]}, "updates.1.message.content.0.type"),
        ({"message": "a", "message_id": "m" * 501}, "updates.1.message_id"),
        ({"progress": {"fraction": 2}}, "updates.1.progress.fraction"),
        ({"progress": {"fraction": "0.5"}}, "updates.1.progress.fraction"),
        ({"progress": {"fraction": True}}, "updates.1.progress.fraction"),
        ({"artifact": {}}, "updates.1.artifact.content"),
        ({"artifact": {"content": []}}, "updates.1.artifact.content"),
        ({"artifact": {"content": "a", "artifact_id": " "}}, "updates.1.artifact.artifact_id"),
        ({"artifact": {"content": "a", "artifact_id": "i" * 501}}, "updates.1.artifact.artifact_id"),
        ({"artifact": {"content": "a", "color": 1}}, "updates.1.artifact.color"),
        ({"artifact": {"content": [{"type": "text"}]}}, "updates.1.artifact.content.0.text"),
        ({"artifact": {"content": "a"}, "append": True}, "updates.1.artifact.append"),
        ({"artifact": {"content": "a"}, "append": 1}, "updates.1.append"),
    ],
)
def test_a_faulty_update_is_named_and_no_other_is_recorded(bob, lease, update, path):
    refused = post(bob, lease.task, {"message": "fine"}, update)

    assert error_of(refused) == (400, "invalid_request")
    assert list(refused.json()["fields"]) == [path]
    assert not Message.objects.exists()
    assert not Artifact.objects.exists()


def test_a_question_must_be_the_last_update(bob, lease):
    refused = post(bob, lease.task, ASK, {"message": "more"})

    assert list(refused.json()["fields"]) == ["updates.0.status"]
    assert Task.objects.get().state == Task.State.IN_FLIGHT


def test_a_call_has_1_to_100_updates(bob, lease):
    for number in (0, 101):
        assert list(post(bob, lease.task, *[{"message": "a"}] * number).json()["fields"]) == ["updates"]
    assert post(bob, lease.task, *[{"message": "a"}] * 100).status_code == 200


def test_a_repeated_call_records_once_even_after_its_question(alice, bob, lease):
    attempt = str(uuid4())
    first = post(bob, lease.task, {"message": "a"}, ASK, attempt_id=attempt).json()
    Api(alice).post(f"/a2a/tasks/{lease.task.uuid}/messages", {"content": "green"})

    again = post(bob, lease.task, {"message": "a"}, ASK, attempt_id=attempt).json()
    other = post(bob, lease.task, {"message": "b"}, ASK, attempt_id=attempt)

    assert again["seq"] == first["seq"]
    assert list(other.json()["fields"]) == ["attempt_id"]


def test_a_repeated_message_is_sent_once(alice, lease):
    path, body = f"/a2a/tasks/{lease.task.uuid}/messages", {"content": "green", "attempt_id": str(uuid4())}

    first, again = (Api(alice).post(path, body).json() for _ in range(2))
    other = Api(alice).post(path, {**body, "content": "red"})

    assert first == again
    assert list(other.json()["fields"]) == ["attempt_id"]
    assert Message.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "content"),
        ({"content": []}, "content"),
        ({"content": 1}, "content"),
        ({"content": [{"type": "video"}]}, "content.0.type"),
        ({"content": "a", "message_id": 7}, "message_id"),
        ({"content": "a", "metadata": []}, "metadata"),
        ({"content": "a", "extensions": [1]}, "extensions.0"),
        ({"content": "a", "reference_task_ids": ["\x00"]}, "reference_task_ids.0"),
        ({"content": "a", "attempt_id": "x"}, "attempt_id"),
        ({"content": "a", "turn": 2}, "turn"),
    ],
)
def test_a_faulty_message_is_named(alice, lease, body, path):
    refused = Api(alice).post(f"/a2a/tasks/{lease.task.uuid}/messages", body)

    assert refused.status_code == 400
    assert path in refused.json().get("fields", {path: "NUL in JSON"})
    assert not Message.objects.exists()


def test_the_holder_learns_that_its_sender_sent_more(alice, bob, lease):
    Api(alice).post(f"/a2a/tasks/{lease.task.uuid}/messages", {"content": "hurry"})

    assert post(bob, lease.task, {"message": "soon"}).json()["turn"] == 2
    assert Api(bob).post(f"/a2a/tasks/{lease.task.uuid}/heartbeat").json()["turn"] == 2


def result(task, **fields):
    return {"task_id": str(task.uuid), **fields}


def test_a_holder_rejects_a_task_with_a_reason(alice, bob, lease):
    refused = Api(bob).post("/a2a/results", result(lease.task, status="rejected"))
    posted = Api(bob).post("/a2a/results", result(lease.task, status="rejected", error_message="not my work"))

    assert list(refused.json()["fields"]) == ["error_message"]
    assert posted.status_code == 200
    assert Api(alice).get(f"/a2a/tasks/{lease.task.uuid}/entry").json()["entry"]["outcome"] == "rejected"
    assert Api(alice).get("/a2a/results/next").json()["result"]["status"] == "error"


def test_a_result_has_closing_words(alice, bob, lease):
    body = result(lease.task, status="ok", message="that was all")

    assert [Api(bob).post("/a2a/results", body).status_code for _ in range(2)] == [200, 200]
    other = Api(bob).post("/a2a/results", {**body, "message": [{"type": "text", "text": "more"}]})

    assert error_of(other) == (409, "result_conflict")
    read = Api(alice).get(f"/a2a/tasks/{lease.task.uuid}/messages", after=1).json()["messages"]
    assert [message["content"] for message in read] == [[{"type": "text", "text": "that was all"}]]


def test_a_direct_answer_is_one_message(bob, lease):
    body = result(lease.task, status="ok", direct=True, content=[{"type": "text", "text": "42"}])

    assert Api(bob).post("/a2a/results", body).status_code == 200
    assert Task.objects.get().is_direct


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"direct": True}, "direct"),
        ({"direct": True, "status": "error", "content": [{"type": "text", "text": "a"}]}, "direct"),
        ({"direct": True, "message": "a", "content": [{"type": "text", "text": "a"}]}, "direct"),
        ({"direct": 1}, "direct"),
        ({"message": 7}, "message"),
        ({"message": [{"type": "video"}]}, "message.content.0.type"),
        ({"status": "cancelled"}, "status"),
    ],
)
def test_a_faulty_result_is_named(bob, lease, fields, path):
    refused = Api(bob).post("/a2a/results", {**result(lease.task, status="ok"), **fields})

    assert error_of(refused) == (400, "invalid_request")
    assert list(refused.json()["fields"]) == [path]
    assert Task.objects.get().state == Task.State.IN_FLIGHT
