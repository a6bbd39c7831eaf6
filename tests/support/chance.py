"""Keeps chance out of tests: no process, no socket, no pause, no clock that the test has not set.

A test of the marker `processes` may use all of them, and sees the real time. Every other test begins at `MOMENT`, far
from the end of a minute, an hour and a day. It waits for events: the suite's time-out is the only number of seconds.
"""

import asyncio
import queue
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine

MOMENT = datetime(2026, 3, 4, 10, 20, 10, tzinfo=UTC)
FOLDER = str(Path(__file__).resolve().parents[1])
PROCESSES = {"os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"}
SOCKETS = {"socket.bind", "socket.connect", "socket.sendto"}
FORBIDDEN = dict.fromkeys(PROCESSES, "starts a process") | dict.fromkeys(SOCKETS, "opens a socket")
# Waits that take a number of seconds: the place of the number, and its name. A lock of C cannot be guarded.
WAITS: tuple[tuple[Any, str, int, str], ...] = (
    (threading.Thread, "join", 1, "timeout"),
    (threading.Event, "wait", 1, "timeout"),
    (threading.Barrier, "wait", 1, "timeout"),
    (threading.Condition, "wait", 1, "timeout"),
    (threading.Condition, "wait_for", 2, "timeout"),
    (threading.Semaphore, "acquire", 2, "timeout"),
    (queue.Queue, "get", 2, "timeout"),
    (queue.Queue, "put", 3, "timeout"),
    (Future, "result", 1, "timeout"),
    (Future, "exception", 1, "timeout"),
    (asyncio, "sleep", 0, "delay"),
    (asyncio, "wait_for", 1, "timeout"),
    (asyncio, "wait", 1, "timeout"),
    (asyncio, "timeout", 0, "delay"),
)


class ChanceError(BaseException):
    """A test depends on chance. No `except Exception` of the product may hide it."""


class Guard:
    """Refuses what depends on chance while a test runs. ``faults`` are those of the test, without repetition.

    ``others`` are the threads that ran before the test began, such as that of the bell. They may do what they like.
    """

    def __init__(self) -> None:
        self.is_on = False
        self.faults: list[str] = []
        self.others: set[threading.Thread] = set()

    def begin(self) -> None:
        self.faults, self.is_on = [], True
        self.others = {*threading.enumerate()} - {threading.main_thread()}

    def refuse(self, fault: str) -> None:
        if threading.current_thread() in self.others:
            return
        if fault not in self.faults:
            self.faults.append(fault)
        raise ChanceError(f"The test {fault}. Mark it `processes`, or wait for an event and set the clock.")


guard = Guard()
GUARD = pytest.StashKey[Guard]()


@contextmanager
def permitted() -> Iterator[None]:
    """Let the run itself start a process within the block: what it makes once is no test's chance."""
    before, guard.is_on = guard.is_on, False
    try:
        yield
    finally:
        guard.is_on = before


def _on_event(event: str, _: tuple[Any, ...]) -> None:
    if guard.is_on and event in FORBIDDEN:
        guard.refuse(FORBIDDEN[event])


def _guarded(original: Callable[..., Any], fault: str, *, of_tests_alone: bool = True) -> Callable[..., Any]:
    """Return the function, which is refused while the guard is on. ``of_tests_alone``: if a test module calls it."""

    def call(*arguments: Any, **named: Any) -> Any:
        if guard.is_on and (not of_tests_alone or sys._getframe(1).f_code.co_filename.startswith(FOLDER)):
            guard.refuse(fault)
        return original(*arguments, **named)

    return call


def _guarded_wait(original: Callable[..., Any], place: int, name: str) -> Callable[..., Any]:
    """Return the function, whose waits for a number of seconds are refused in a test module.

    The seconds are its argument of this name, or the one at this place.
    """

    def call(*arguments: Any, **named: Any) -> Any:
        if guard.is_on and sys._getframe(1).f_code.co_filename.startswith(FOLDER):
            seconds = named.get(name, arguments[place] if len(arguments) > place else None)
            if seconds is not None and seconds > 0:
                guard.refuse("waits for a number of seconds")
        return original(*arguments, **named)

    return call


def install() -> None:
    sys.addaudithook(_on_event)
    time.sleep = _guarded(time.sleep, "sleeps", of_tests_alone=False)
    for name in ("monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"):
        setattr(time, name, _guarded(getattr(time, name), "reads a clock that it cannot set"))
    for owner, name, place, argument in WAITS:
        setattr(owner, name, _guarded_wait(getattr(owner, name), place, argument))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if item.get_closest_marker("processes"):
        return (yield)
    guard.begin()
    try:
        with time_machine.travel(MOMENT):
            return (yield)
    finally:
        guard.is_on = False


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Permit all at the end of a module, where fixtures of several tests end, too."""
    if nextitem is not None and nextitem.parent is item.parent:
        return (yield)
    with permitted():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test whose fault was hidden by an `except` or by another thread."""
    result = yield
    of_run = item.config.stash[GUARD]
    if of_run.is_on and of_run.faults:
        of_run.refuse(of_run.faults[0])
    return result


def pytest_configure(config: pytest.Config) -> None:
    config.stash[GUARD] = guard
    install()
