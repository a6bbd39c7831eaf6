"""The waiting threads of this process by topic, and one look for many waits of the same kind, in a thread of its own.

The module also knows whether this process hears what other processes ring.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError, connection

from mailbox.database.bell import topics as topics_module

Value = TypeVar("Value")
_elsewhere: list[Callable[[Mapping[str, int]], object]] = []
_rounds: list[Callable[[], None]] = []
_announce: list[Callable[[Sequence[str]], object]] = []
GATHERED = 0.001  # seconds from a ring to the look, which answers all rings in between
MOST = 500  # waits of one look
Key = TypeVar("Key", bound=Hashable)
POLL = "poll"  # the value of A2A_WAKE_UPS without rings: the watch alone wakes


class Waiter:
    """One thread that waits for a ring of its topics. `waiting` makes it."""

    __slots__ = ("has_ended", "is_chained", "is_rung", "silence", "topics")

    def __init__(self, topics: Sequence[str]) -> None:
        self.topics = topics
        self.silence = threading.Lock()  # held until a ring; smaller than an event, and thousands may wait
        self.silence.acquire()
        self.is_rung = False  # a ring came since its last look began
        self.is_chained = False  # if that look finds something, there may be more for the next waiter
        self.has_ended = False  # no look forgets this, as it forgets a ring

    def ring(self) -> None:
        """Ask this waiter for a look."""
        with _here.lock:
            _here.ring(self, is_chained=False)

    def awake(self) -> None:
        """Let its thread go on. The caller holds the lock of all waiters, so this must not block."""
        self.silence.release()

    def end(self) -> None:
        """Let this wait and all later waits of this waiter return at once."""
        self.has_ended = True
        self.ring()

    def look(self, look: Callable[[], Value]) -> Value:
        """Return what ``look`` returns, which answers the rings that came before. Later rings ask for another look.

        If the look raises, another waiter of a shared topic gets the ring.
        """
        with _here.lock:
            was_rung, was_chained = self.is_rung, self.is_chained
            _here.forget_rings(self)
        try:
            value = look()
        except BaseException:
            if was_rung:
                self.pass_on(is_chained=was_chained)
            raise
        if value and was_chained:
            self.pass_on(is_chained=True)
        return value

    def wait(self, seconds: float | None) -> bool:
        """Wait for a ring, at most so many seconds, None without limit. Return whether another look is due."""
        if self._is_over():
            return False
        if not self.is_rung:
            announce(self.topics)
            _here.begun += 1  # without the lock, so one of two at once may be lost
        is_rung = self.is_rung or self.silence.acquire(timeout=-1 if seconds is None else seconds)
        return is_rung and not self._is_over()

    def _is_over(self) -> bool:
        return self.has_ended or _here.has_ended

    def wait_for(self, topics: Sequence[str]) -> None:
        """Wait for these topics from now on, instead of the earlier topics. A look must follow."""
        with _here.lock:
            _here.change(self, topics)

    def pass_on(self, *, is_chained: bool) -> None:
        """Ring another waiter of each shared topic, in another process if this one has none."""
        elsewhere = wake({topic: 1 for topic in self.topics if topics_module.any_of(topic)}, is_chained=is_chained)
        if elsewhere and not is_chained and not _here.has_ended:  # each process finds chained rings by its own watch
            for take in _elsewhere:
                take(elsewhere)


class _Waiters:
    """``idle`` holds, by topic, the waiters without an unanswered ring, and the longest idle one first."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.everyone: dict[Waiter, None] = {}
        self.idle: dict[str, dict[Waiter, None]] = {}
        self.anyone = threading.Event()  # set while there are waiters
        self.begun = 0  # waits, about
        self.has_ended = False

    def ring(self, waiter: Waiter, *, is_chained: bool) -> None:
        self._leave_idle(waiter)
        waiter.is_chained |= is_chained
        if not waiter.is_rung:
            waiter.is_rung = True
            waiter.awake()

    def ring_all_of(self, topic: str) -> None:
        for waiter in list(self.idle.get(topic, ())):
            self.ring(waiter, is_chained=False)

    def ring_some_of(self, topic: str, count: int, *, is_chained: bool) -> int:
        """Ring at most so many waiters of a shared topic; return how many it had."""
        waiting = list(islice(self.idle.get(topic, ()), count))
        for waiter in waiting:
            self.ring(waiter, is_chained=is_chained)
        return len(waiting)

    def forget_rings(self, waiter: Waiter) -> None:
        waiter.is_rung = waiter.is_chained = False
        waiter.silence.acquire(blocking=False)
        for topic in waiter.topics:
            self.idle.setdefault(topic, {})[waiter] = None

    def add(self, waiter: Waiter) -> None:
        self.everyone[waiter] = None
        self.forget_rings(waiter)
        self.anyone.set()

    def change(self, waiter: Waiter, topics: Sequence[str]) -> None:
        self._leave_idle(waiter)
        waiter.topics = topics
        for topic in topics if not waiter.is_rung else ():
            self.idle.setdefault(topic, {})[waiter] = None

    def remove(self, waiter: Waiter) -> None:
        self._leave_idle(waiter)
        del self.everyone[waiter]
        if not self.everyone:
            self.anyone.clear()

    def _leave_idle(self, waiter: Waiter) -> None:
        for topic in waiter.topics:
            waiters = self.idle.get(topic, {})
            waiters.pop(waiter, None)
            if not waiters:
                self.idle.pop(topic, None)


_here = _Waiters()
os.register_at_fork(after_in_child=_here.__init__)  # type: ignore[misc] # a new process has no waiters


@contextmanager
def waiting(topics: Sequence[str]) -> Iterator[Waiter]:
    """Yield a waiter that is rung by its topics from now on.

    A ring that it leaves unanswered goes to another waiter of a shared topic.
    """
    waiter = Waiter(topics)
    with present(waiter):
        yield waiter


@contextmanager
def present(waiter: Waiter) -> Iterator[None]:
    """Let a waiter be rung by its topics during the block, as `waiting` does."""
    with _here.lock:
        _here.add(waiter)
    try:
        yield
    finally:
        with _here.lock:
            _here.remove(waiter)
        if waiter.is_rung:
            waiter.pass_on(is_chained=waiter.is_chained)


def wake(counts: Mapping[str, int], *, is_chained: bool = False) -> Mapping[str, int]:
    """Ring the waiters of these topics: for a shared topic one for each thing that came, else all.

    Return the topics that concern other processes too: all but the things for which a waiter here was rung.
    ``is_chained``: the count is unknown. A waiter that finds something rings the next waiter.
    """
    if not _here.everyone:
        return counts
    left: dict[str, int] = {}
    with _here.lock:
        for topic, count in counts.items():
            everybody = topics_module.any_of(topic)
            _here.ring_all_of(everybody or topic)
            rung = _here.ring_some_of(topic, count, is_chained=is_chained) if everybody else 0
            if rung < count:
                left[topic] = count - rung
    if topics_module.ROUND in counts:
        for look in _rounds:
            look()
    return left


def wake_all() -> None:
    """Ring every waiter."""
    with _here.lock:
        for waiter in _here.everyone:
            _here.ring(waiter, is_chained=False)


def end() -> None:
    """End every wait of this process, and each wait that begins later."""
    _here.has_ended = True
    wake_all()


def has_ended() -> bool:
    return _here.has_ended


def waited() -> Sequence[str]:
    """Return the topics of all waiters, each once."""
    with _here.lock:
        return list(dict.fromkeys(topic for waiter in _here.everyone for topic in waiter.topics))


def is_any_waited(is_such: Callable[[str], bool]) -> bool:
    """Whether some waiter has a topic for which ``is_such`` is true."""
    with _here.lock:
        return any(is_such(topic) for waiter in _here.everyone for topic in waiter.topics)


def begun() -> int:
    """Return about how many waits of this process have begun. A wait for a ring that has already come is none."""
    return _here.begun


def is_anyone_here() -> bool:
    return bool(_here.everyone)


def when_nobody_is_here(take: Callable[[Mapping[str, int]], object]) -> None:
    """Let this function take the rings that a waiter leaves unanswered, if this process has no other waiter."""
    _elsewhere.append(take)


def when_a_round_is_due(look: Callable[[], None]) -> Callable[[], None]:
    """Let this function be called at a ring of `topics.ROUND`."""
    _rounds.append(look)
    return look


def before_each_wait(take: Callable[[Sequence[str]], object]) -> None:
    """Let this function know the topics of each waiter that is about to wait for a ring."""
    _announce.append(take)


def announce(topics: Sequence[str]) -> None:
    """Note that a waiter is about to wait for a ring of these topics."""
    for take in _announce:
        take(topics)


def forget_rings(rung: Iterable[Waiter]) -> None:
    """Count the rings of these waiters as answered, before one look for all of them. Later rings are new."""
    with _here.lock:
        for waiter in rung:
            if waiter in _here.everyone:
                _here.forget_rings(waiter)


def wait_for_anyone() -> None:
    """Wait until there is a waiter."""
    _here.anyone.wait()


def start(run: Callable[[], None], name: str) -> None:
    """Start a thread that ends with the process. Raises `MemoryError` if the system has none left."""
    try:
        threading.Thread(target=run, name=name, daemon=True).start()
    except RuntimeError as error:
        raise MemoryError(str(error)) from error


class AwaitedLook(Waiter, Generic[Key, Value]):
    """A wait for what the shared look finds for a key. Its rings wake no thread, but ask for the shared look."""

    def __init__(
        self, key: Key, topic: str, looks: queue.SimpleQueue[AwaitedLook[Key, Value]], wake: Callable[[], None]
    ):
        """``wake`` is called once there is something to read."""
        super().__init__([topic])
        self.key, self.wake = key, wake
        self.value: Value | None = None
        self.error: Exception | None = None
        self._looks = looks

    def awake(self) -> None:
        self._looks.put(self)

    def read(self) -> Value | None:
        """Return what was found; None if nothing was found yet. Raises the error of the last look."""
        if self.error is not None:
            raise self.error
        return self.value


class SharedLook(Generic[Key, Value]):
    """The look for all waits of a kind. ``look`` returns what it finds for some of the keys."""

    def __init__(self, look: Callable[[Sequence[Key]], Mapping[Key, Value]]) -> None:
        self._look = look
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock, self._is_running = threading.Lock(), False
        self._rung: queue.SimpleQueue[AwaitedLook[Key, Value]] = queue.SimpleQueue()

    @contextmanager
    def awaiting(self, key: Key, topic: str, wake: Callable[[], None]) -> Iterator[AwaitedLook[Key, Value]]:
        """Look for ``key`` at once and at each ring of ``topic`` during the block. Call ``wake`` once it is found."""
        self._run_in_background()
        awaited = AwaitedLook(key, topic, self._rung, wake)
        with present(awaited):
            announce(awaited.topics)
            awaited.awake()
            yield awaited

    def _run_in_background(self) -> None:
        with self._lock:
            if not self._is_running:
                start(self._run, "shared look")
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

    def _answer(self, rung: Sequence[AwaitedLook[Key, Value]]) -> None:
        forget_rings(rung)
        error: Exception | None = None
        values: Mapping[Key, Value] = {}
        try:
            values = self._look_reconnecting(list(dict.fromkeys(awaited.key for awaited in rung)))
        except Exception as failure:  # noqa: BLE001 (each waiting request reports it)
            error = failure
        for awaited in rung:
            awaited.error, awaited.value = error, values.get(awaited.key, awaited.value)
            if error is not None or awaited.value is not None:
                awaited.wake()

    def _look_reconnecting(self, keys: Sequence[Key]) -> Mapping[Key, Value]:
        """Look for the keys. If the connection is lost, look once more on another, since hundreds may wait."""
        try:
            return self._look_once(keys)
        except (OperationalError, InterfaceError):
            return self._look_once(keys)

    def _look_once(self, keys: Sequence[Key]) -> Mapping[Key, Value]:
        try:
            return self._look(keys)
        finally:
            connection.close()  # may fail, too


class _Hearing:
    is_hearing = False


_hearing = _Hearing()


def is_hearing() -> bool:
    return _hearing.is_hearing


def begin_hearing() -> None:
    """Note that rings are heard from now on, and ring every waiter, since rings may have been lost until now."""
    wake_all()
    _hearing.is_hearing = True


def lose_hearing() -> None:
    """Note that rings of other processes may be lost from now on."""
    _hearing.is_hearing = False
