"""Waits for an arrival, which hold no transaction and no database connection meanwhile, and the seats for them."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from typing import TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, connections

from mailbox.database import outages
from mailbox.database.bell import ringing, waiters

Value = TypeVar("Value")

WITHOUT_DATABASE = 5.0  # seconds until a program looks again, if it cannot use the database
LEAST_FREE, SHARE_FREE = 32, 8  # threads of a process, and one thread of so many, that no wait takes


def end() -> None:
    """Let every wait of this process return, since the process is about to stop."""
    waiters.end()


def _admit_all(_: waiters.Waiter) -> AbstractContextManager[bool]:
    return nullcontext(True)


def until(
    look: Callable[[], Value],
    timeout: timedelta | None,
    topics: Sequence[str],
    *,
    admit: Callable[[waiters.Waiter], AbstractContextManager[bool]] = _admit_all,
) -> Value:
    """Call ``look``, and again at each ring of ``topics``, until it returns a true value; return its last value.

    ``timeout`` None waits for ever; zero looks once. `end` ends every wait early. ``admit`` is entered after the first
    look. If it yields False, there is no wait.
    """
    if timeout == timedelta(0):
        return look()
    ends_at = None if timeout is None else time.monotonic() + timeout.total_seconds()
    with waiters.waiting(topics) as waiter:
        value = waiter.look(look)
        if value or waiters.has_ended():
            return value
        ringing.begin()
        with admit(waiter) as is_admitted:
            while is_admitted and not value:
                if not connection.in_atomic_block:
                    connection.close()
                if not waiter.wait(None if ends_at is None else max(0.0, ends_at - time.monotonic())):
                    break
                value = waiter.look(look)
        return value


def run_rounds(
    stop: threading.Event,
    *,
    topics: Callable[[], Sequence[str]],
    look: Callable[[], object],
    pause: Callable[[], float],
    share_ring: Callable[[Callable[[], object]], None],
) -> None:
    """Call ``look`` at each ring of ``topics`` and after each ``pause``, until ``stop`` is set.

    ``share_ring`` gets the function that ends a pause. No ring ends the pause after a round in which the database
    failed, which is `WITHOUT_DATABASE`.
    """
    with waiters.waiting([]) as waiter:
        ringing.begin()
        threading.Thread(target=_end_at, args=(stop, waiter), name="stop", daemon=True).start()
        share_ring(waiter.ring)
        while not stop.is_set():
            try:
                waiter.wait_for(topics())
                waiter.look(look)
                seconds = pause()
            except (OperationalError, InterfaceError) as error:
                outages.note(error)
                connections.close_all()
                stop.wait(WITHOUT_DATABASE)
            else:
                waiter.wait(seconds)


def _end_at(stop: threading.Event, waiter: waiters.Waiter) -> None:
    stop.wait()
    waiter.end()


class Seats:
    """The threads of this process that requests may wait in. The others stay free for requests that do not wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.taken = 0
        self.refused = 0  # waits without a free seat since the process started
        self._refused_at = float("-inf")
        # Called after each change, with the number of taken seats and whether a wait found none.
        self.observer: Callable[[int, bool], object] = lambda taken, is_refused: None

    @property
    def all(self) -> int:
        """Return the number of seats. A process with few threads gives half of them."""
        threads: int = settings.WEB_THREADS
        return max(threads - max(LEAST_FREE, threads // SHARE_FREE), threads // 2)

    def has_refused_within(self, seconds: float) -> bool:
        """Whether a wait found no free seat lately."""
        return time.monotonic() - self._refused_at <= seconds

    @contextmanager
    def seat(self) -> Iterator[bool]:
        """Hold a seat for the block. Yield whether one was free."""
        with self._lock:
            is_free = self.taken < self.all
            self.taken += is_free
            if not is_free:
                self.refused += 1
                self._refused_at = time.monotonic()
            self.observer(self.taken, not is_free)
        try:
            yield is_free
        finally:
            with self._lock:
                self.taken -= is_free
                self.observer(self.taken, False)


seats = Seats()
