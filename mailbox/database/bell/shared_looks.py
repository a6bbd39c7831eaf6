"""One look for many waits of the same kind, in one thread of this process."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError, connection

from mailbox.database.bell import waiters
from mailbox.database.bell.waiters import Waiter

GATHERED = 0.001  # seconds from a ring to the look, which answers all rings in between
MOST = 500  # waits of one look

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


class AwaitedLook(Waiter, Generic[Key, Found]):
    """A wait for what the shared look finds for a key. Its rings wake no thread, but ask for the shared look."""

    def __init__(
        self, key: Key, topic: str, looks: queue.SimpleQueue[AwaitedLook[Key, Found]], wake: Callable[[], None]
    ):
        """``wake`` is called once there is something to read."""
        super().__init__([topic])
        self.key, self.wake = key, wake
        self.found: Found | None = None
        self.error: Exception | None = None
        self._looks = looks

    def awake(self) -> None:
        self._looks.put(self)

    def read(self) -> Found | None:
        """Return what was found; None if nothing was found yet. Raises the error of the last look."""
        if self.error is not None:
            raise self.error
        return self.found


class SharedLook(Generic[Key, Found]):
    """The look for all waits of a kind. ``look`` returns what it finds for some of the keys."""

    def __init__(self, look: Callable[[Sequence[Key]], Mapping[Key, Found]]) -> None:
        self._look = look
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock, self._is_running = threading.Lock(), False
        self._rung: queue.SimpleQueue[AwaitedLook[Key, Found]] = queue.SimpleQueue()

    @contextmanager
    def awaiting(self, key: Key, topic: str, wake: Callable[[], None]) -> Iterator[AwaitedLook[Key, Found]]:
        """Look for ``key`` at once and at each ring of ``topic`` during the block. Call ``wake`` once it is found."""
        self._run_in_background()
        awaited = AwaitedLook(key, topic, self._rung, wake)
        with waiters.present(awaited):
            waiters.announce(awaited.topics)
            awaited.awake()
            yield awaited

    def _run_in_background(self) -> None:
        with self._lock:
            if not self._is_running:
                threading.Thread(target=self._run, name="shared look", daemon=True).start()
                self._is_running = True

    def _run(self) -> None:
        """Look after each ring. Never returns."""
        while True:
            rung = [self._rung.get()]
            time.sleep(GATHERED)
            while len(rung) < MOST:
                try:
                    rung.append(self._rung.get_nowait())
                except queue.Empty:
                    break
            self._answer(rung)

    def _answer(self, rung: Sequence[AwaitedLook[Key, Found]]) -> None:
        waiters.forget_rings(rung)
        error: Exception | None = None
        found: Mapping[Key, Found] = {}
        try:
            found = self._found(list(dict.fromkeys(awaited.key for awaited in rung)))
        except Exception as failure:  # noqa: BLE001 (each waiting request reports it)
            error = failure
        for awaited in rung:
            awaited.error, awaited.found = error, found.get(awaited.key, awaited.found)
            if error is not None or awaited.found is not None:
                awaited.wake()

    def _found(self, keys: Sequence[Key]) -> Mapping[Key, Found]:
        """Look for the keys. If the connection is lost, look once more on another, since hundreds may wait."""
        try:
            return self._look_once(keys)
        except (OperationalError, InterfaceError):
            return self._look_once(keys)

    def _look_once(self, keys: Sequence[Key]) -> Mapping[Key, Found]:
        try:
            return self._look(keys)
        finally:
            connection.close()  # may fail, too
