"""Workers send heartbeats from soon after the lease until the hub has the outcome."""

import threading
from datetime import datetime
from typing import Any

import pytest

from a2a_hub_client import FakeHub, WorkerFailedError
from a2a_hub_client.errors import NotNowError
from a2a_hub_client.retry import Retry
from a2a_hub_client.worker import attempt, client
from a2a_hub_client.worker.attempt import Speech
from a2a_hub_client.worker.client import BatchingClient
from a2a_hub_client.worker.job import LeasedTask, TaskResult, Updates
from tests.support.hub import PATIENCE
from tests.support.pauses import until

pytestmark = pytest.mark.one_database

LEASED = LeasedTask(task={"id": "t"}, lease_id="l", attempt=1, time_limit=None)


class Beaten:
    """A hub that counts heartbeats."""

    beats = 0

    def heartbeat(self, leased):
        self.beats += 1
        return 1


class Clock:
    now = 1000.0

    def monotonic(self):
        return self.now


def speech_to(hub: Any, *, heartbeat: float) -> Speech:
    return Speech(
        hub,
        LEASED,
        Updates(),
        is_strict=True,
        heartbeat=heartbeat,
        abandon=threading.Event(),
        read_on=lambda: None,
        log=lambda _: None,
    )


def test_the_first_heartbeat_comes_after_a_tenth_of_the_interval(monkeypatch):
    clock, hub = Clock(), Beaten()
    monkeypatch.setattr(attempt, "time", clock)
    spoken = speech_to(hub, heartbeat=10.0)
    beats = []
    for now in (1000.9, 1001.1, 1010.9, 1011.2):
        clock.now = now
        spoken.speak()
        beats.append(hub.beats)

    assert beats == [0, 1, 1, 2]


def test_a_request_that_waits_to_be_repeated_is_accompanied_by_heartbeats(monkeypatch):
    monkeypatch.setattr(client, "PAUSES", Retry(patience=None, first_pause=0.5))
    monkeypatch.setattr(attempt, "BEAT_EVERY", 0.01)
    hub, failures = Beaten(), [NotNowError("down")]

    def request():
        if failures:
            raise failures.pop()

    assert speech_to(hub, heartbeat=0.01).insist(request)
    assert hub.beats > 0


@pytest.mark.processes
def test_a_result_that_the_hub_does_not_take_yet_keeps_its_lease_alive():
    fake = FakeHub("alice")
    fake.add_agent("bob", actions=())
    with fake.hub("alice") as alice, fake.hub("bob") as bob:
        alice.send("bob", "paint")
        done = threading.Event()

        @bob.worker(heartbeat=0.01)
        def handle(task):
            done.set()
            return "done"

        def run():
            with pytest.raises(WorkerFailedError):  # the lease is left
                bob.run()

        worker = threading.Thread(target=run)
        worker.start()
        assert done.wait()
        seen = set[datetime]()

        def is_seen_again():
            seen.update(held.last_seen_at for held in bob.leases())
            return len(seen) > 4

        until(is_seen_again)
        for _ in range(2):
            bob.stop()
        worker.join()

    assert not worker.is_alive()


@pytest.mark.processes
def test_a_result_that_waits_for_its_batch_calls_back_meanwhile(monkeypatch):
    monkeypatch.setattr(client, "WAIT", 0.001)
    fake = FakeHub("alice", "bob")
    with fake.hub("alice") as alice, fake.hub("bob") as bob:
        sent = alice.send("bob", "paint")
        hub = BatchingClient(bob)
        (leased,) = hub.receive(sent.id, most=1, wait=0)
        calls = []
        posting = threading.Thread(target=hub.answer, args=(leased, TaskResult(text="done"), lambda: calls.append(1)))
        posting.start()
        until(lambda: len(calls) > 2)
        hub.post_pending()
        posting.join()

        assert sent.result(timeout=PATIENCE).text == "done"
