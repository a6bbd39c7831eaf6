"""The extension that numbers the events of a task, ahead of A2A 1.1."""

import json

import pytest

from tests.support.a2a import message, state

pytestmark = pytest.mark.django_db
NAME = "urn:a2a-hub:generation:v1"
ON = {"A2A-Extensions": NAME}
NOW = {"returnImmediately": True}


@pytest.fixture(autouse=True)
def _signs_of_life_come_quickly(settings, monkeypatch):
    settings.A2A_KEEPALIVE_MS = 10
    monkeypatch.setattr("mailbox.dialects.a2a.sending.QUICK", 0.01)


def number_of(task):
    return task["metadata"][NAME]["generation"]


def test_a_read_waits_for_a_newer_generation(client, holder):
    sent = client.send()
    response = client.response("GetTask", {"id": sent["id"], "currentGeneration": 1}, **ON)
    chunks = iter(response.streaming_content)
    assert next(chunks) == b" "
    holder.take()
    task = json.loads(b"".join(chunks))["result"]

    assert (number_of(task), state(task)) == (2, "WORKING")


def test_a_read_of_an_older_generation_is_answered_at_once(client, holder):
    sent = client.send()
    holder.take()
    assert client.rpc("GetTask", {"id": sent["id"]}, **ON)["metadata"] == {NAME: {"generation": 2}}
    assert number_of(client.rpc("GetTask", {"id": sent["id"], "currentGeneration": "1"}, **ON)) == 2

    holder.answer(None)
    assert number_of(client.rpc("GetTask", {"id": sent["id"], "currentGeneration": 99}, **ON)) == 3


def test_a_message_can_depend_on_the_generation(client, holder):
    sent = client.send()
    holder.take()
    holder.ask("which?")

    def send(number, **headers):
        body = {"message": message(taskId=sent["id"]), "configuration": {**NOW, "ifGenerationMatch": number}}
        return client.response("SendMessage", body, **headers).json()

    error = send(2, **ON)["error"]
    assert (error["code"], error["data"][0]["reason"]) == (-32010, "TASK_GENERATION_MISMATCH")
    assert state(client.get(sent["id"])) == "INPUT_REQUIRED"
    assert state(send(3, **ON)["result"]["task"]) == "SUBMITTED"


def test_without_the_extension_neither_field_is_looked_at(client, holder):
    sent = client.send()
    assert state(client.get(sent["id"], currentGeneration=1)) == "SUBMITTED"
    body = {"message": message(taskId=sent["id"]), "configuration": {**NOW, "ifGenerationMatch": "x"}}

    assert "task" in client.rpc("SendMessage", body)


@pytest.mark.parametrize("malformed", ["x", -1, 1.5, [], 2**63])
def test_malformed_generations_are_invalid(client, malformed):
    sent = client.send()

    assert client.error("GetTask", {"id": sent["id"], "currentGeneration": malformed}, **ON)[0] == -32602
    body = {"message": message(taskId=sent["id"]), "configuration": {**NOW, "ifGenerationMatch": malformed}}
    assert client.error("SendMessage", body, **ON)[0] == -32602
