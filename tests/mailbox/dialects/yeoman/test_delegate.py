"""Delegates beyond the seed: their recipients, repeated messages, callbacks, batches."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from agentcards.models import AgentProfile
from mailbox.dialects.yeoman import wire
from mailbox.models import AuditEvent, PushConfig, Task
from tests.support import factories, yeoman
from tests.support.api import Api
from tests.support.yeoman import envelope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]


@pytest.fixture
def carol():
    return factories.agent("carol")


@pytest.mark.parametrize("form", ["display", "local", "pubkey"])
def test_a_delegate_goes_to_the_peer_that_it_names(peer, carol, form):
    answer = peer.send("a2a:delegate", {"task": "x"}, toPeerId=getattr(carol.agent, form))

    assert Task.objects.get(uuid=answer["task_id"]).recipient == carol.agent


@pytest.mark.parametrize(
    "name", ["", "agnostic", "6a2f1d34-8f0e-4c57-9b1e-2d7c5a90e4b1", "no such@agent!", "x" * 5000, "a@b@c"]
)
def test_a_delegate_to_an_unknown_peer_goes_to_the_default_agent(peer, bob, name):
    answer = peer.send("a2a:delegate", {"task": "x"}, toPeerId=name)

    assert Task.objects.get(uuid=answer["task_id"]).recipient == bob.agent


def test_the_discovered_id_reaches_the_agent_behind_it(peer, bob):
    discovered = peer.get("/.well-known/a2a-agent").json()["id"]

    answer = peer.send("a2a:delegate", {"task": "x"}, toPeerId=discovered)

    assert Task.objects.get(uuid=answer["task_id"]).recipient == bob.agent


def test_the_same_envelope_again_is_the_same_task(peer, bob):
    first = peer.send("a2a:delegate", {"task": "x"}, id="m-1")
    AgentProfile.objects.all().delete()  # another default agent by then, or none

    again = peer.send("a2a:delegate", {"task": "x"}, id="m-1", timestamp=yeoman.TIMESTAMP + 5000)

    assert again == first
    assert Task.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_envelope_received_twice_at_once_is_one_task(alice, bob, monkeypatch):
    peers = [yeoman.Peer(alice) for _ in range(2)]
    both_looked = threading.Barrier(2)
    first_look = iter(range(2))

    def session_id(task_id, sent_at):
        if (number := next(first_look, None)) is not None:
            both_looked.wait()
        return f"session {number}"

    def send(peer):
        try:
            return peer.send("a2a:delegate", {"task": "x"}, id="m-1")["task_id"]
        finally:
            connection.close()

    monkeypatch.setattr(wire, "session_id", session_id)
    with ThreadPoolExecutor(2) as pool:
        ids = list(pool.map(send, peers))

    assert len(set(ids)) == 1
    assert Task.objects.count() == 1


@pytest.mark.parametrize("message_id", ["", "  "])
def test_two_messages_without_an_id_are_two_tasks(peer, message_id):
    answers = [peer.send("a2a:delegate", {"task": "x"}, id=message_id) for _ in range(2)]

    assert len({answer["task_id"] for answer in answers}) == 2


def test_the_same_id_from_another_caller_is_another_task(peer, bob):
    factories.grant(bob, "a2a.send.*")
    one = peer.send("a2a:delegate", {"task": "x"}, id="m-1")

    other = yeoman.Peer(bob).send("a2a:delegate", {"task": "x"}, id="m-1")

    assert one["task_id"] != other["task_id"]


def test_a_task_id_does_not_show_which_message_made_it(peer, alice, settings):
    one = peer.send("a2a:delegate", {"task": "x"}, id="m-1")["task_id"]
    Task.objects.all().delete()
    settings.SECRET_KEY = "another hub's"

    assert peer.send("a2a:delegate", {"task": "x"}, id="other")["task_id"] != one


@pytest.mark.parametrize("field", ["task", "description", "title", "callback_url", "callback_secret"])
@pytest.mark.parametrize("value", [7, True, ["x"], {"x": 1}])
def test_a_value_that_is_no_text_is_unprocessable_with_its_place(peer, field, value):
    response = peer.receive(envelope("a2a:delegate", {field: value}))

    [problem] = response.json()["detail"]
    assert response.status_code == 422
    assert problem["loc"] == ["body", "payload", field]
    assert not Task.objects.exists()


def test_a_callback_is_kept_with_its_secret_sealed_and_shown_in_no_read(peer):
    url, secret = "https://receiver.example/hook", "callback-secret-1"
    payload = {"task": "x", "callback_url": url, "callback_secret": secret}

    answer = peer.send("a2a:delegate", payload)

    task = Task.objects.get(uuid=answer["task_id"])
    config = PushConfig.objects.get()
    assert (config.task, config.url) == (task, url)
    assert secret not in f"{config.sealed_secret}{task.metadata}"
    assert secret not in peer.get(f"/api/tasks/{task.uuid}").text
    assert not AuditEvent.objects.filter(data__contains=secret).exists()


def test_a_callback_that_is_no_web_address_is_unprocessable(peer):
    response = peer.receive(envelope("a2a:delegate", {"task": "x", "callback_url": "ftp://receiver.example"}))

    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", "payload", "callback_url"]


def test_a_batch_received_twice_makes_each_of_its_tasks_once(peer):
    tasks = [{"description": "one", "task_type": "qa"}, {"description": "two", "params": {"n": 1}}]

    first = peer.send("a2a:delegate_batch", {"tasks": tasks})
    again = peer.send("a2a:delegate_batch", {"tasks": tasks})

    sent = [Task.objects.get(uuid=task_id) for task_id in first["task_ids"]]
    assert [task.intent_text for task in sent] == ["one", "two"]
    assert json.loads(sent[1].metadata)["params"] == {"n": 1}
    assert again["task_ids"] == first["task_ids"]
    assert Task.objects.count() == 2


@pytest.mark.parametrize("payload", [{}, {"tasks": None}, {"tasks": "x"}, {"tasks": {"description": "x"}}, None])
def test_a_batch_without_a_list_is_accepted_with_a_warning(peer, payload):
    answer = peer.send("a2a:delegate_batch", payload)

    assert answer["task_ids"] == []
    assert answer["warning"] == 'Nothing was done: the payload has no list "tasks"'
    assert not Task.objects.exists()


@pytest.mark.parametrize("tasks", [[1], [{"description": "good"}, {"description": 7}], [{}] * 101])
def test_a_batch_with_a_mistake_sends_nothing(peer, tasks):
    response = peer.receive(envelope("a2a:delegate_batch", {"tasks": tasks}))

    assert response.status_code == 422
    assert not Task.objects.exists()


def test_the_recipient_reads_the_other_fields_of_the_task(peer, bob):
    said = {"description": "Audit the site", "title": "Audit", "target_url": "https://site.example", "priority": "low"}
    peer.send("a2a:delegate", {**said, "callback_url": "https://receiver.example/hook"}, id="m-1")

    worker = Api(bob)
    task = worker.get("/a2a/tasks/next").json()["task"]
    [held] = worker.get("/a2a/leases").json()["leases"]
    entry = worker.get(f"/a2a/tasks/{task['id']}/entry").json()["entry"]

    envelope_facts = {"message_id": "m-1", "from_peer": "self", "to_peer": ""}
    assert task["intent_text"] == "Audit the site"
    assert task["metadata"] == {
        "title": "Audit",
        "target_url": "https://site.example",
        "priority": "low",
        "envelope": envelope_facts,
    }
    assert held["task"] == entry["task"] == task
