"""Rings between processes on PostgreSQL: one thread sends this process's rings, and one hears those of the others."""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import select
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import psycopg
from django.db import DatabaseError, InterfaceError, connections
from django.db.utils import load_backend

from mailbox.database.bell import hearing, waiters
from mailbox.database.bell.watch import EVERY_DEAF

CHANNEL = "a2a_bell"
GATHERED = 0.002  # seconds in which rings are gathered for one notification
APART = 0.01  # seconds between two notifications at least, since each wakes every process that listens
MOST_BYTES = 7_900  # of a notification; PostgreSQL takes less than 8000
ECHO_WITHIN = 5.0  # seconds; without its own echo by then, the listener sits behind a pooler that drops notifications
PAUSE, LONG_PAUSE = 0.5, 30.0  # seconds before a lost connection, and one without an echo, is tried again
SENT_AT_EXIT_WITHIN = 1.0  # second

# The notification needs no durability. `true` limits the setting to this transaction, also behind a pooler. Within the
# durable transaction it would take a lock of the whole server until the commit is on disk.
NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, %s)"

FAILURES = (DatabaseError, InterfaceError, psycopg.Error, OSError)
_logger = logging.getLogger(__name__)


class NoEchoError(Exception):
    """The listener did not hear the ringer of its own process."""


class Ringer:
    """Sends the rings of this process, gathered, from a thread of its own and on a connection of its own."""

    def __init__(self) -> None:
        self.name = secrets.token_hex(8)  # of this process, so that it does not hear itself
        self._rung: Counter[str] = Counter()
        self._condition = threading.Condition()
        self._is_running = self._is_sending = False
        self._own: psycopg.Connection[Any] | None = None
        self._sent_at = float("-inf")

    def add(self, counts: Mapping[str, int]) -> None:
        """Send these topics soon. An empty topic is the echo that the listener of this process awaits."""
        with self._condition:
            self._rung.update(counts)
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="ringer", daemon=True).start()
                atexit.register(self.flush)
            self._condition.notify_all()

    def flush(self) -> None:
        """Wait until all rings are sent, at most `SENT_AT_EXIT_WITHIN`."""
        with self._condition:
            self._condition.wait_for(lambda: not self._rung and not self._is_sending, SENT_AT_EXIT_WITHIN)

    def _run(self) -> None:
        while True:
            with self._condition:
                self._is_sending = False
                self._condition.notify_all()
                self._condition.wait_for(lambda: self._rung)
                self._is_sending = True
            time.sleep(max(GATHERED, self._sent_at + APART - time.monotonic()))
            with self._condition:
                rung, self._rung = self._rung, Counter()
            self._send_or_drop(rung)
            self._sent_at = time.monotonic()

    def _send_or_drop(self, rung: Mapping[str, int]) -> None:
        """Send, and if the connection was lost, once more on a new one. A ring is a hint, so it may be dropped then."""
        for is_last in (False, True):
            try:
                self._send(rung)
            except FAILURES as error:
                self._own = None
                if is_last:
                    _logger.debug("rings were dropped: %s", error)
                    time.sleep(PAUSE)
            else:
                return

    def _send(self, rung: Mapping[str, int]) -> None:
        self._own = self._own or connected()
        for payload in payloads(self.name, rung):
            self._own.execute(NOTIFY, (CHANNEL, payload))


class Listener:
    """Hears the rings of other processes, on a connection of its own, from the first waiter to the process's end."""

    def __init__(self, ringer: Ringer) -> None:
        self._ringer = ringer

    def run(self) -> None:
        """Listen. Connects anew after each failure, and never returns."""
        while True:
            waiters.wait_for_anyone()
            pause = PAUSE
            try:
                self._listen()
            except FAILURES as error:
                _logger.debug("the bell lost its connection: %s", error)
            except NoEchoError:
                _logger.warning(
                    "PostgreSQL's notifications do not arrive, so waiting requests look every %s s. "
                    "Set A2A_WAKE_UPS=poll behind a pooler in transaction mode.",
                    EVERY_DEAF,
                )
                pause = LONG_PAUSE
            finally:
                hearing.lose()
            time.sleep(pause)

    def _listen(self) -> None:
        with closing(connected()) as own:
            own.add_notify_handler(lambda notification: self._hear(notification.payload))
            own.execute(f"LISTEN {CHANNEL}".encode())
            self._ringer.add({"": 1})
            arrivals = select.poll()
            arrivals.register(own.fileno(), select.POLLIN)
            gives_up_at = time.monotonic() + ECHO_WITHIN
            while True:
                arrivals.poll(None if hearing.is_on() else 1000 * max(0.0, gives_up_at - time.monotonic()))
                own.pgconn.consume_input()
                while (notification := own.pgconn.notifies()) is not None:
                    self._hear(notification.extra.decode())
                if not hearing.is_on() and time.monotonic() >= gives_up_at:
                    raise NoEchoError

    def _hear(self, payload: str) -> None:
        name, counts = read(payload)
        if name != self._ringer.name:
            waiters.wake(counts)
        elif "" in counts:
            hearing.begin()


def payloads(name: str, rung: Mapping[str, int]) -> Iterator[str]:
    """Return the texts that carry these topics: a line with the process's name, then one for each topic."""
    text = name
    for topic, count in rung.items():
        line = f"\n{count} {topic}"
        if len(text) + len(line) > MOST_BYTES:
            yield text
            text = name
        text += line
    yield text


def read(payload: str) -> tuple[str, Mapping[str, int]]:
    """Return the process's name and the topics of a text. A line of another program is left out."""
    name, *lines = payload.split("\n")
    parts = [line.partition(" ") for line in lines]
    return name, {topic: int(count) for count, _, topic in parts if count.isdecimal()}


def connected() -> psycopg.Connection[Any]:
    """Return a new connection outside the pool, which commits each statement by itself."""
    shared = connections["default"].settings_dict
    options = {name: value for name, value in shared["OPTIONS"].items() if name != "pool"}
    wrapper = load_backend(shared["ENGINE"]).DatabaseWrapper({**shared, "OPTIONS": options}, "bell")
    wrapper.connect()
    own: psycopg.Connection[Any] = wrapper.connection
    return own


ringer = Ringer()
os.register_at_fork(after_in_child=ringer.__init__)  # type: ignore[misc] # a new process has no such thread
