import asyncio
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support import chance
from tests.support.chance import MOMENT, ChanceError, Guard

pytestmark = pytest.mark.one_database


@pytest.fixture
def guard(monkeypatch):
    """Return a guard of its own, which is on and refuses."""
    own = Guard()
    own.is_on = True
    monkeypatch.setattr(chance, "guard", own)
    return own


def bind():
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))  # noqa: S104 (it is refused)


def connect():
    with socket.socket() as client:
        client.connect(("192.0.2.1", 9))


NOTHING: Any = None  # is refused before it is awaited
ACTS = {
    "a program": (lambda: subprocess.run([sys.executable, "-c", ""], check=True), "starts a process"),
    "a fork": (os.fork, "starts a process"),
    "a client": (connect, "opens a socket"),
    "a server": (bind, "opens a socket"),
    "a pause": (lambda: time.sleep(0.01), "sleeps"),
    "monotonic": (lambda: time.monotonic() > 0, "reads a clock that it cannot set"),
    "a counter": (lambda: time.perf_counter() > 0, "reads a clock that it cannot set"),
    "an event": (lambda: threading.Event().wait(0.01), "waits for a number of seconds"),
    "a thread": (lambda: threading.Thread(target=print).join(timeout=1), "waits for a number of seconds"),
    "a barrier": (lambda: threading.Barrier(2).wait(0.01), "waits for a number of seconds"),
    "a barrier by name": (lambda: threading.Barrier(2).wait(timeout=0.01), "waits for a number of seconds"),
    "a condition": (lambda: threading.Condition().wait(0.01), "waits for a number of seconds"),
    "a condition's test": (lambda: threading.Condition().wait_for(bool, 0.01), "waits for a number of seconds"),
    "a semaphore": (lambda: threading.Semaphore(0).acquire(timeout=0.01), "waits for a number of seconds"),
    "an empty queue": (lambda: queue.Queue[None]().get(timeout=0.01), "waits for a number of seconds"),
    "a full queue": (lambda: queue.Queue[None]().put(None, timeout=0.01), "waits for a number of seconds"),
    "a future": (lambda: Future[None]().result(1), "waits for a number of seconds"),
    "a future's error": (lambda: Future[None]().exception(1), "waits for a number of seconds"),
    "a coroutine's pause": (lambda: asyncio.sleep(0.01), "waits for a number of seconds"),
    "a coroutine's wait": (lambda: asyncio.wait_for(NOTHING, 1), "waits for a number of seconds"),
    "several coroutines": (lambda: asyncio.wait(NOTHING, timeout=1), "waits for a number of seconds"),
    "a coroutine's block": (lambda: asyncio.timeout(1), "waits for a number of seconds"),
}


@pytest.mark.every_case
@pytest.mark.parametrize(("act", "fault"), ACTS.values(), ids=ACTS)
def test_what_depends_on_chance_is_refused(guard, act, fault):
    with pytest.raises(ChanceError, match=fault):
        act()


def test_a_wait_for_an_event_and_a_clock_that_is_set_are_no_faults(guard):
    event = threading.Event()
    thread = threading.Thread(target=event.set)
    thread.start()

    assert event.wait()
    thread.join()
    asyncio.run(asyncio.sleep(0))

    assert timedelta(0) <= datetime.now(UTC) - MOMENT < timedelta(minutes=1)
    assert guard.faults == []


def test_no_except_of_the_product_hides_a_fault(guard):
    assert not issubclass(ChanceError, Exception)

    with pytest.raises(ChanceError):
        time.sleep(0.01)

    assert guard.faults == ["sleeps"]
