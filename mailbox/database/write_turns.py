"""Turns at SQLite's one write lock, which has no queue of its own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from functools import cache

from django.db import connection

LONGEST_WAIT = 10.0  # seconds; then the writer tries SQLite's own lock, which may raise that the database is locked
PAUSE = 0.001

_threads = threading.Lock()


@contextlib.contextmanager
def turn() -> Iterator[None]:
    """Run the block when it is this writer's turn among the threads and processes that take turns.

    A writer that meets SQLite's lock sleeps up to 100 ms before it tries again. With eight writers the lock is free
    most of that time. Only speed depends on turns: a writer without a turn still waits for the lock. On PostgreSQL
    and within a transaction the block runs at once.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    give_up_at = time.monotonic() + LONGEST_WAIT
    if not _threads.acquire(timeout=LONGEST_WAIT):
        yield
        return
    try:
        file = _opened()
        if file is None:
            yield
            return
        while not _try_lock(file) and time.monotonic() < give_up_at:
            time.sleep(PAUSE)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        _threads.release()


def _opened() -> int | None:
    """Return the file of the turns; None if it cannot be opened. SQLite then reports why by errors of its own."""
    try:
        return _file(f"{connection.settings_dict['NAME']}-turn", os.getpid())
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
