"""Stops and signals around the start of a run."""

import asyncio
import signal
import threading

import pytest

from a2a_hub_client import FakeHub
from a2a_hub_client.worker.running import signals_stop
from a2a_hub_client.worker.worker import StopSignals
from tests.support.hub import PATIENCE
from tests.support.pauses import tick_at_once

pytestmark = pytest.mark.one_database


@pytest.fixture
def fake(monkeypatch):
    tick_at_once(monkeypatch)
    return FakeHub("alice", "bob")


@pytest.mark.processes
def test_a_stop_before_the_run_ends_it_at_once_and_no_later_run(fake, caplog):
    caplog.set_level("INFO")
    with fake.hub("alice") as alice, fake.hub("bob") as bob:
        sent = alice.send("bob", "paint")
        bob.worker()(lambda task: "done")

        bob.stop()
        worker = threading.Thread(target=bob.run)
        worker.start()
        worker.join()

        assert not worker.is_alive()
        assert sent.entry().attempt == 0
        assert "Stopped before it began." in caplog.text
        bob.run(max_tasks=1)
        assert sent.result(timeout=PATIENCE).text == "done"


@pytest.mark.processes
def test_a_stop_before_the_run_of_a_client_for_asyncio_ends_it_at_once_and_no_later_run(fake):
    async def main():
        async with fake.async_hub("alice") as alice, fake.async_hub("bob") as bob:
            sent = await alice.send("bob", "paint")

            @bob.worker()
            async def handle(task):
                return "done"

            running = asyncio.create_task(bob.run())
            bob.stop()
            await asyncio.wait_for(running, PATIENCE)
            assert (await sent.entry()).attempt == 0
            await asyncio.wait_for(bob.run(max_tasks=1), PATIENCE)
            return await sent.result(timeout=PATIENCE)

    assert asyncio.run(main()).text == "done"


@pytest.mark.processes
def test_a_stop_after_a_run_is_forgotten(fake):
    with fake.hub("alice") as alice, fake.hub("bob") as bob:
        bob.worker()(lambda task: "done")
        alice.send("bob", "paint")
        bob.run(max_tasks=1)

        bob.stop()
        sent = alice.send("bob", "paint again")
        bob.run(max_tasks=1)

        assert sent.result(timeout=0).text == "done"


@pytest.mark.processes
def test_a_stop_after_a_run_of_a_client_for_asyncio_is_forgotten(fake):
    async def main():
        async with fake.async_hub("alice") as alice, fake.async_hub("bob") as bob:

            @bob.worker()
            async def handle(task):
                return "done"

            await alice.send("bob", "paint")
            await asyncio.wait_for(bob.run(max_tasks=1), PATIENCE)
            bob.stop()
            sent = await alice.send("bob", "paint again")
            await asyncio.wait_for(bob.run(max_tasks=1), PATIENCE)
            return await sent.result(timeout=0)

    assert asyncio.run(main()).text == "done"


@pytest.fixture
def ignored_hangup():
    """Ignore SIGHUP as ``nohup`` does, for one test."""
    earlier = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGHUP, earlier)


def handlers() -> list[object]:
    return [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]


def test_a_hangup_that_was_ignored_at_the_start_stays_ignored(ignored_hangup):
    before, stops = handlers(), StopSignals()

    with stops.heard():
        during = handlers()
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)

    assert during == [stops._hear, signal.SIG_IGN]
    assert (handlers(), stops.count) == (before, 1)


def test_a_loop_leaves_an_ignored_hangup_ignored(ignored_hangup):
    class Stopped:
        calls = 0

        def stop(self):
            self.calls += 1

    async def main(worker):
        with signals_stop(worker, asyncio.get_running_loop()):
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
            for _ in range(3):
                await asyncio.sleep(0)
            return handlers()[1]

    worker = Stopped()

    assert asyncio.run(main(worker)) is signal.SIG_IGN
    assert worker.calls == 1
