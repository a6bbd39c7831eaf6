"""Turns at SQLite's one write lock, which has no queue of its own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from functools import cache

from django.db import DEFAULT_DB_ALIAS, connections

LONGEST_WAIT = 10.0  # seconds; then the writer tries SQLite's own lock, which may raise that the database is locked
# Pauses between two tries, in seconds. A write mostly ends within HURRY, and the lock is idle during a pause.
PAUSE, LONG_PAUSE = 0.0001, 0.001
HURRY = 0.01


class _Process:
    """The lock of this process, which orders its threads."""

    def __init__(self) -> None:
        self.threads = threading.Lock()


_here = _Process()
os.register_at_fork(after_in_child=_here.__init__)  # type: ignore[misc] # a new process has no such threads


@contextlib.contextmanager
def turn() -> Iterator[None]:
    """Run the block when it is this writer's turn among the threads and processes that take turns.

    A writer that meets SQLite's lock sleeps up to 100 ms before it tries again. With eight writers the lock is free
    most of that time. Only speed depends on turns: a writer without a turn still waits for the lock. On PostgreSQL
    and within a transaction the block runs at once.
    """
    ours = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up for each attribute
    if ours.vendor != "sqlite" or ours.in_atomic_block:
        yield
        return
    give_up_at = time.monotonic() + LONGEST_WAIT
    threads = _here.threads
    if not threads.acquire(timeout=LONGEST_WAIT):
        yield
        return
    try:
        with _turn_of_process(ours.settings_dict["NAME"], give_up_at):
            yield
    finally:
        threads.release()


@contextlib.contextmanager
def _turn_of_process(database: str, give_up_at: float) -> Iterator[None]:
    """Hold the lock of the turns in the block. If it is not free before ``give_up_at``, run the block without it.

    A process takes the next place before it takes the lock. So a process with many writers alternates with the
    others: after its turn another process has the next place. Otherwise it would take turn after turn.
    """
    files = _opened(database)
    if files is None:
        yield
        return
    place, lock = files
    try:
        _wait_for(place, give_up_at)
        _wait_for(lock, give_up_at)
        fcntl.flock(place, fcntl.LOCK_UN)
        yield
    finally:
        fcntl.flock(place, fcntl.LOCK_UN)
        fcntl.flock(lock, fcntl.LOCK_UN)


def _wait_for(file: int, give_up_at: float) -> None:
    """Wait for the lock of ``file``, at most until ``give_up_at``."""
    hurry_until = time.monotonic() + HURRY
    while not _try_lock(file) and (now := time.monotonic()) < give_up_at:
        time.sleep(PAUSE if now < hurry_until else LONG_PAUSE)


def _opened(database: str) -> tuple[int, int] | None:
    """Return the files of the next place and of the turns, or None if they cannot be opened.

    SQLite then reports the reason by errors of its own.
    """
    try:
        return _file(f"{database}-next", os.getpid()), _file(f"{database}-turn", os.getpid())
    except OSError:
        return None


@cache
def _file(path: str, process: int) -> int:
    """Open the file whose lock orders processes. Each process opens its own, since a fork shares its parent's lock."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
