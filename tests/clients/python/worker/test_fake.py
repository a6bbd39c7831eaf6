"""A worker of the hub in memory, as agents' own tests have it."""

import asyncio
import threading
from datetime import timedelta

import pytest

from a2a_hub_client import FakeHub
from tests.support.hub import PATIENCE
from tests.support.pauses import tick_at_once

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


@pytest.fixture
def fake(monkeypatch):
    tick_at_once(monkeypatch)
    return FakeHub("alice", "bob")


def test_a_function_handles_tasks_and_asks(fake):
    with fake.hub("alice") as alice, fake.hub("bob") as bob:

        @bob.worker(concurrency=2)
        def handle(task):
            if task.turn == 1:
                return task.ask("Which colour?")
            task.say("painting")
            return task.messages[-1].text

        handles = [alice.send("bob", "paint") for _ in range(2)]
        bob.run(max_tasks=2)
        for handle_ in handles:
            handle_.say("green")
        bob.run(max_tasks=2)

        assert [one.result(timeout=PATIENCE).text for one in handles] == ["green", "green"]


def test_a_coroutine_handles_tasks_of_a_client_for_asyncio(fake):
    async def main():
        async with fake.async_hub("alice") as alice, fake.async_hub("bob") as bob:

            @bob.worker()
            async def handle(task):
                await asyncio.sleep(0)
                return {"text": task.text}

            sent = await alice.send("bob", "paint")
            await bob.run(max_tasks=1)
            return await sent.result(timeout=PATIENCE)

    assert asyncio.run(main()).values == [{"text": "paint"}]


@pytest.mark.processes
def test_a_crashed_worker_s_lease_is_resumed_and_a_live_one_is_not(fake):
    with fake.hub("alice") as alice, fake.hub("bob") as bob:
        dead, live = (alice.send("bob", text) for text in ("dead", "live"))
        (left,) = bob.receive(wait=0).leases
        (held,) = bob.receive(wait=0).leases
        fake.pass_time(timedelta(milliseconds=1))
        bob.heartbeat(left.task.id, lease_id=left.lease.id)
        stop = threading.Event()

        def beat():
            while not stop.wait(0.05):
                fake.pass_time(timedelta(milliseconds=1))
                bob.heartbeat(held.task.id, lease_id=held.lease.id)

        beating = threading.Thread(target=beat)
        beating.start()

        @bob.worker(heartbeat=1, resume="all", resume_after=2)
        def handle(task):
            return f"attempt {task.attempt}"

        bob.run(max_tasks=1)
        stop.set()
        beating.join()

        assert dead.result(timeout=PATIENCE).text == "attempt 2"
        assert [(one.task.id, one.id) for one in bob.leases()] == [(live.id, held.lease.id)]
        assert left.task.id == dead.id
