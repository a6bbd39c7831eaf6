"""Waiting requests of several processes get their tasks, with and without rings. Short requests keep threads."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from a2a_hub_client import Retry
from tests.load.cast import pairs
from tests.support.hub import PATIENCE, served, wait_until
from tests.support.own_client import client_of

AGENTS = 6
ONCE = Retry(patience=0)


@pytest.fixture
def serve(tmp_path, migrated_database):
    """Return a function that serves a hub with settings."""
    with ExitStack() as kept:
        url = kept.enter_context(migrated_database())
        yield lambda **how: kept.enter_context(served(tmp_path, migrates=True, database_url=url, **how))


@pytest.fixture
def polls():
    """Return a function that begins a long poll for a task, and returns the future of the task."""
    with ExitStack() as kept:
        pool = kept.enter_context(ThreadPoolExecutor(AGENTS))

        def begin(url, key):
            return pool.submit(polled, kept.enter_context(client_of(url, key, retry=ONCE)))

        yield begin


def polled(worker):
    leases = worker.receive(wait=60).leases
    return leases[0].task if leases else None


@pytest.mark.parametrize("wake_ups", ["auto", "poll"])
def test_each_waiting_request_of_two_processes_gets_its_task(serve, polls, wake_ups):
    hub = serve(workers=2, A2A_WAKE_UPS=wake_ups)
    cast = pairs(hub, AGENTS)
    begun = [polls(hub.url, pair.worker.key) for pair in cast]

    for pair in cast:
        with client_of(hub.url, pair.sender.key) as sender:
            sender.send(pair.worker.display, pair.worker.display)

    assert [poll.result(PATIENCE).text for poll in begun] == [pair.worker.display for pair in cast]


def test_more_waiting_requests_than_seats_leave_threads_for_short_requests(serve, polls):
    hub = serve(workers=1, WEB_THREADS="4")  # two seats
    cast = pairs(hub, AGENTS)
    begun = [polls(hub.url, pair.worker.key) for pair in cast]
    wait_until(lambda: sum(poll.done() for poll in begun) == AGENTS - 2)
    without_a_seat = [poll for poll in begun if poll.done()]

    for pair in cast:
        with client_of(hub.url, pair.sender.key, retry=ONCE) as sender:
            sender.send(pair.worker.display, "x")
            assert sender.drain(wait=0).results == []

    for poll in begun:
        assert (poll.result(PATIENCE) is None) == (poll in without_a_seat)
