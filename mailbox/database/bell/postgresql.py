"""Rings between processes on PostgreSQL: one thread sends this process's rings, and one hears those of the others.

Each process announces the topics that its threads wait for. A process sends only the rings that another has announced.
"""

import atexit
import logging
import os
import secrets
import select
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

import psycopg
from django.db import DatabaseError, InterfaceError, connections
from django.db.utils import load_backend

from mailbox.database.bell import topics, waiters, watch

CHANNEL = "a2a_bell"
GATHERED = 0.002  # seconds in which rings are gathered for one notification
APART = 0.01  # seconds between two notifications at least, since each wakes every process that listens
MOST_DIGITS = 9  # of the count of a ring
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
        self._announced: frozenset[str] = frozenset()
        self._renews_at = float("inf")
        self._condition = threading.Condition()
        self._is_running = self._is_sending = False
        self._own: psycopg.Connection[Any] | None = None
        self._sent_at = float("-inf")

    def add(self, counts: Mapping[str, int]) -> None:
        """Send these topics soon. An empty topic is the echo that the listener of this process awaits."""
        with self._condition:
            self._rung.update(counts)
            self._begin()

    def announce(self, waited: Sequence[str]) -> None:
        """Announce these topics soon, unless they are announced. Later the thread renews or withdraws them.

        A commit may come before its process hears the announcement. The watch therefore makes two early rounds.
        """
        with self._condition:
            if all(topics.covers(self._announced, topic) for topic in waited):
                return
            self._announced = topics.announcement((*self._announced, *waited))
            self._renews_at = 0.0
            self._begin()
        watch.look_soon()

    def flush(self) -> None:
        """Wait until all rings are sent, at most `SENT_AT_EXIT_WITHIN`."""
        with self._condition:
            self._condition.wait_for(lambda: not self._rung and not self._is_sending, SENT_AT_EXIT_WITHIN)

    def _begin(self) -> None:
        """Start the thread unless it runs. If none can be started, drop all rings: a ring is a hint."""
        if not self._is_running:
            try:
                waiters.start(self._run, "ringer")
            except MemoryError as error:
                _logger.warning("rings were dropped, since no thread can be started: %s", error)
                self._rung, self._announced, self._renews_at = Counter(), frozenset(), float("inf")
                return
            self._is_running = True
            atexit.register(self.flush)
        self._condition.notify_all()

    def _run(self) -> None:
        while True:
            try:
                self._send_next()
            except Exception:
                _logger.exception("the bell failed to send rings, which were dropped")
                self._drop_connection()
                time.sleep(PAUSE)

    def _send_next(self) -> None:
        """Wait for rings or announcements, and send them."""
        with self._condition:
            self._is_sending = False
            self._condition.notify_all()
            self._wait_for_something()
            self._is_sending = True
        time.sleep(max(GATHERED, self._sent_at + APART - time.monotonic()))
        with self._condition:
            rung, self._rung = self._rung, Counter()
            announced = self._renewed() if self._renews_at <= time.monotonic() else None
        self._send_or_drop([*lines(rung, announced)])
        self._sent_at = time.monotonic()

    def _wait_for_something(self) -> None:
        while not self._rung and (seconds := self._renews_at - time.monotonic()) > 0:
            self._condition.wait(None if seconds == float("inf") else seconds)

    def _renewed(self) -> frozenset[str]:
        """Return the topics to announce. A process without waiters withdraws its topics, and renews nothing."""
        self._announced = topics.announcement(waiters.waited())
        self._renews_at = time.monotonic() + topics.RENEWED_EVERY if self._announced else float("inf")
        return self._announced

    def _send_or_drop(self, lines: Sequence[str]) -> None:
        """Send, and if the connection was lost, once more on a new one. A ring is a hint, so it may be dropped then."""
        for is_last in (False, True):
            try:
                self._send(lines)
            except FAILURES as error:
                self._drop_connection()
                if is_last:
                    _logger.debug("rings were dropped: %s", error)
                    time.sleep(PAUSE)
            else:
                return

    def _drop_connection(self) -> None:
        own, self._own = self._own, None
        if own is not None:
            with suppress(Exception):
                own.close()

    def _send(self, lines: Sequence[str]) -> None:
        self._own = self._own or connected()
        for payload in payloads(self.name, lines):
            self._own.execute(NOTIFY, (CHANNEL, payload))


class Listener:
    """Hears the rings and the announcements of other processes, on a connection of its own, until the process ends."""

    def __init__(self, ringer: Ringer) -> None:
        self._ringer = ringer

    def run(self) -> None:
        """Listen. Connects anew after each failure, and never returns."""
        while True:
            pause = PAUSE
            try:
                self._listen()
            except FAILURES as error:
                _logger.debug("the bell lost its connection: %s", error)
            except NoEchoError:
                _logger.warning(
                    "PostgreSQL's notifications do not arrive, so waiting requests look every %s s. "
                    "Set DATABASE_POOLER=transaction behind a pooler.",
                    watch.EVERY_DEAF,
                )
                pause = LONG_PAUSE
            except Exception:
                _logger.exception("the bell failed to hear rings")
            finally:
                waiters.lose_hearing()
                topics.lose()
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
                now = time.monotonic()
                seconds = topics.refresh(now) if waiters.is_hearing() else max(0.0, gives_up_at - now)
                arrivals.poll(None if seconds is None else 1000 * seconds)
                own.pgconn.consume_input()
                while (notification := own.pgconn.notifies()) is not None:
                    self._hear(notification.extra.decode())
                if not waiters.is_hearing() and time.monotonic() >= gives_up_at:
                    raise NoEchoError

    def _hear(self, payload: str) -> None:
        name, counts, announced = read(payload)
        if name == self._ringer.name:
            if "" in counts:
                topics.begin_elsewhere(time.monotonic())
                waiters.begin_hearing()
            return
        if announced:
            named = [topic for topic in announced if topic]
            topics.note(name, named, time.monotonic(), is_whole="" in announced)
        if counts:
            waiters.wake(counts)


def lines(rung: Mapping[str, int], announced: frozenset[str] | None) -> Iterator[str]:
    """Return a line for each topic that was rung, and for each that is announced. None: announce nothing."""
    if announced is not None:
        yield "+ "  # forget the earlier announcement of this process
        yield from (f"+ {topic}" for topic in announced)
    yield from (f"{count} {topic}" for topic, count in rung.items())


def payloads(name: str, lines: Sequence[str]) -> Iterator[str]:
    """Return the texts that carry these lines, each after a line with the process's name."""
    text = name
    for line in lines:
        if len(text) + 1 + len(line) > MOST_BYTES:
            yield text
            text = name
        text += f"\n{line}"
    yield text


def read(payload: str) -> tuple[str, Mapping[str, int], Sequence[str]]:
    """Return the process's name, and the rung and the announced topics. A line of another program is left out.

    Another program wrote each count with more than `MOST_DIGITS`.
    """
    name, *lines = payload.split("\n")
    parts = [line.partition(" ") for line in lines]
    counts = {topic: int(count) for count, _, topic in parts if count.isdecimal() and len(count) <= MOST_DIGITS}
    return name, counts, [topic for sign, blank, topic in parts if sign == "+" and blank]


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
