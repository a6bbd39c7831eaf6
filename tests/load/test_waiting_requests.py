"""Waiting requests of several processes get their tasks, with and without rings. Short requests keep threads."""

from __future__ import annotations

import select
from contextlib import ExitStack

import pytest

from tests.load.cast import must, pairs
from tests.load.client import Client
from tests.support.hub import PATIENCE, served, wait_until

AGENTS = 6


@pytest.fixture
def serve(tmp_path, migrated_database):
    """Return a function that serves a hub with settings."""
    with ExitStack() as kept:
        url = kept.enter_context(migrated_database())
        yield lambda **how: kept.enter_context(served(tmp_path, "--only", "web", database_url=url, **how))


@pytest.fixture
def polls():
    """Return a function that begins a long poll, and ends with all of them."""
    with ExitStack() as kept:

        def begin(url, key):
            client = kept.enter_context(Client(url, key, timeout=PATIENCE))
            return client, client.send("GET", "/a2a/tasks/next?wait_ms=60000")

        yield begin


@pytest.mark.parametrize("wake_ups", ["auto", "poll"])
def test_each_waiting_request_of_two_processes_gets_its_task(serve, polls, wake_ups):
    hub = serve(workers=2, A2A_WAKE_UPS=wake_ups)
    cast = pairs(hub, AGENTS)
    begun = [polls(hub.url, pair.worker.key)[0] for pair in cast]

    for pair in cast:
        with Client(hub.url, pair.sender.key) as sender:
            must(sender.post("/a2a/tasks", {"recipient": pair.worker.display, "intent_text": pair.worker.display}))

    assert [must(poll.read())["task"]["intent_text"] for poll in begun] == [pair.worker.display for pair in cast]


def test_more_waiting_requests_than_seats_leave_threads_for_short_requests(serve, polls):
    hub = serve(workers=1, WEB_THREADS="4")  # two seats
    cast = pairs(hub, AGENTS)
    begun = [polls(hub.url, pair.worker.key) for pair in cast]
    sockets = [connection for _, connection in begun]
    wait_until(lambda: len(select.select(sockets, [], [], 0)[0]) == AGENTS - 2)
    answered = select.select(sockets, [], [], 0)[0]

    with Client(hub.url, cast[0].sender.key) as sender:
        for pair in cast:
            task = {"recipient": pair.worker.display, "intent_text": "x"}
            with Client(hub.url, pair.sender.key) as own:
                must(own.post("/a2a/tasks", task))
        assert must(sender.get("/a2a/results/next"))["result"] is None

    for client, connection in begun:
        assert (must(client.read())["task"] is None) == (connection in answered)
