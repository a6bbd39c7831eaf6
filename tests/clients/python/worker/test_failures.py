"""Errors that nothing expects: the run of the worker fails, and no task is forgotten."""

import threading
from uuid import uuid4

import httpx
import pytest

from a2a_hub_client import FakeHub, Hub, WorkerFailedError
from a2a_hub_client.errors import AnswerError
from a2a_hub_client.retry import Retry
from a2a_hub_client.worker.client import BatchingClient, WorkerClient
from a2a_hub_client.worker.job import LeasedTask, TaskResult
from tests.support.hub import PATIENCE
from tests.support.pauses import tick_at_once, until

pytestmark = pytest.mark.one_database

LEASED = LeasedTask(task={"id": "t"}, lease_id="l", attempt=1, time_limit=None)
REQUESTS = {
    "me": lambda hub: hub.me(),
    "receive": lambda hub: hub.receive(uuid4(), most=1, wait=0),
    "lease": lambda hub: hub.lease("t", uuid4()),
    "leases": lambda hub: hub.leases(),
    "conversation": lambda hub: hub.conversation(LEASED),
    "heartbeat": lambda hub: hub.heartbeat(LEASED),
    "update": lambda hub: hub.update(LEASED, [{}], uuid4()),
    "answer": lambda hub: WorkerClient.answer(hub, LEASED, TaskResult(text="done"), lambda: None),
    "release": lambda hub: hub.release(LEASED, "why"),
}


@pytest.fixture
def fake(monkeypatch):
    tick_at_once(monkeypatch)
    return FakeHub("alice", "bob")


@pytest.mark.processes
def test_an_error_of_the_leasing_fails_the_run_and_lets_jobs_finish(fake, monkeypatch, caplog):
    receive, calls = BatchingClient.receive, []

    def break_later(hub, attempt_id, *, most, wait):
        calls.append(most)
        if len(calls) > 1:
            raise ZeroDivisionError("no tasks left")
        return receive(hub, attempt_id, most=most, wait=wait)

    monkeypatch.setattr(BatchingClient, "receive", break_later)
    with fake.hub("alice") as alice, fake.hub("bob") as bob:
        sent = alice.send("bob", "paint")

        @bob.worker(concurrency=2, grace=PATIENCE)
        def handle(task):
            until(lambda: bob._running._worker._stopping.is_set())
            return "done"

        with pytest.raises(WorkerFailedError, match="ZeroDivisionError: no tasks left"):
            bob.run()

        assert sent.result(timeout=PATIENCE).text == "done"
    assert 'raise ZeroDivisionError("no tasks left")' in caplog.text


@pytest.mark.processes
def test_a_task_that_cannot_be_begun_returns_to_the_queue(fake, monkeypatch):
    start = threading.Thread.start

    def refuse(thread):
        if "_run_attempt" in thread.name:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with fake.hub("alice") as alice, fake.hub("bob") as bob:
        sent = [alice.send("bob", "paint") for _ in range(2)]
        bob.worker(batch=2)(lambda task: None)

        with pytest.raises(WorkerFailedError, match="RuntimeError: can't start new thread"):
            bob.run()

        assert [(one.entry().state, one.entry().attempt) for one in sent] == [("queued", 1)] * 2


@pytest.mark.parametrize("answer", [{"error": "x"}, []], ids=str)
@pytest.mark.parametrize("kind", [WorkerClient, BatchingClient])
@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_json_of_another_server_is_no_answer_of_a_hub(kind, request_, answer):
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=answer))
    line = Hub("http://hub", "key", transport=transport, retry=Retry(patience=0))

    with pytest.raises(AnswerError, match="is not a hub's"):
        request_(kind(line))
