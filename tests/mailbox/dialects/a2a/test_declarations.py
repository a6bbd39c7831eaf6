"""Senders declare that their work may be done twice: the retry gate may requeue it, and its results are remembered."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mailbox.gate.callers import Caller
from mailbox.models import Task
from mailbox.verbs.agents import openness
from mailbox.verbs.repairs import retry
from mailbox.verbs.repairs.retry import RetryPolicy
from tests.support.a2a import OfficialClient, message, short, state, words_of

pytestmark = pytest.mark.django_db
ARMED = RetryPolicy(enabled=True, min_lease_age=timedelta(0))
SAFE = {"duplicateSafety": "idempotent", "key": "report of May"}


@pytest.fixture(autouse=True)
def _signs_of_life_come_quickly(settings):
    settings.A2A_KEEPALIVE_MS = 10
    settings.A2A_FIRST_WORD_MS = 1


def request(declared):
    metadata = {"a2a-hub": {"idempotency": declared}, "mine": 1}
    return {"message": message(), "metadata": metadata, "configuration": {"returnImmediately": True}}


def test_a_declaration_is_stored_with_the_task_and_its_metadata_reach_the_worker(client, holder):
    body = request({"duplicate_safety": "unsafe", "key": "k"})
    client.rpc("SendMessage", body)

    task = holder.take()

    assert (task.duplicate_safety, task.idempotency_key) == ("unsafe", "k")
    assert task.official_metadata["metadata"] == body["metadata"]


def test_clients_of_0_3_declare_in_the_same_member(alice, bob):
    parts = [{"kind": "text", "text": "do it"}]
    said = {"kind": "message", "messageId": "m", "role": "user", "parts": parts}
    body = {"message": said, "metadata": request(SAFE)["metadata"], "configuration": {"blocking": False}}
    OfficialClient(alice, bob, version=None).rpc("message/send", body)

    assert Task.objects.get().is_idempotent


def test_the_gate_requeues_declared_work_and_its_stream_goes_on(client, holder, olga):
    stream = client.stream("SendStreamingMessage", request(SAFE))
    seen = [next(stream)]
    holder.take()
    report = retry.retry_stale(olga, ARMED)
    holder.take()
    holder.answer(None)
    seen += stream

    assert len(report.requeued) == 1
    assert [short(result) for _, result in seen] == [
        ["Task SUBMITTED"],
        ["WORKING"],
        ["SUBMITTED"],
        ["WORKING"],
        ["COMPLETED"],
    ]


def test_a_send_with_a_key_of_its_request_alone_declares_nothing(client, holder, olga):
    client.rpc("SendMessage", {**request(SAFE), "metadata": {}}, **{"Idempotency-Key": "k"})
    holder.take()

    assert retry.retry_stale(olga, ARMED).skipped_by_reason == {"missing_idempotency": 1}


def test_the_same_work_is_done_once_for_its_sender(client, holder):
    first, waiting = [client.rpc("SendMessage", request(SAFE))["task"] for _ in range(2)]
    holder.take()
    holder.answer("the report")
    later = client.rpc("SendMessage", request(SAFE))["task"]

    found = [client.get(task["id"]) for task in (first, waiting, later)]
    assert [state(task) for task in found] == ["COMPLETED"] * 3
    assert [words_of(task["artifacts"]) for task in found] == [["the report"]] * 3
    assert len({task["id"] for task in found}) == 3


@pytest.mark.parametrize("said", [None, {}, {"attempt": 2}, {"idempotency": None}])
def test_other_words_to_the_hub_declare_nothing(client, said):
    body = {**request(SAFE), "metadata": {"a2a-hub": said}}
    client.rpc("SendMessage", body)

    assert Task.objects.get().idempotency_key is None


@pytest.mark.parametrize(
    ("declared", "path"),
    [
        ("yes", ""),
        ({"key": "k"}, ".duplicateSafety"),
        ({"duplicateSafety": "safe", "key": "k"}, ".duplicateSafety"),
        ({"duplicateSafety": "idempotent"}, ".key"),
        ({"duplicateSafety": "idempotent", "key": " "}, ".key"),
        ({"duplicateSafety": "idempotent", "key": "x" * 501}, ".key"),
    ],
)
def test_a_wrong_declaration_is_refused_by_its_path_and_stores_nothing(client, declared, path):
    error = client.response("SendMessage", request(declared)).json()["error"]

    assert error["code"] == -32602
    (violation,) = error["data"][1]["fieldViolations"]
    assert violation["field"] == f"metadata.a2a-hub.idempotency{path}"
    assert not Task.objects.exists()


def test_callers_without_a_key_share_no_results(bob):
    openness.open_to_anyone(Caller.command_line(), bob.agent)

    assert OfficialClient(None, bob).error("SendMessage", request(SAFE)) == (-32602, "INVALID_PARAMS")
    assert not Task.objects.exists()
