"""Turns at SQLite's one write lock, which by itself makes nobody wait in line."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from functools import cache

from django.db import connection

LONGEST_WAIT = 10.0  # seconds; then SQLite's own lock decides, and says that the database is locked
PAUSE = 0.001

_threads = threading.Lock()


@contextlib.contextmanager
def turn() -> Iterator[None]:
    """Hold the block back until it is this writer's turn, among the threads and processes that take turns.

    Whoever finds SQLite locked sleeps up to 100 ms before it looks again, while the lock lies idle: with eight
    writers that is most of the time. Turns only order those that take them, so nothing but speed rests on them.
    On PostgreSQL, and within a transaction, there is nothing to wait for.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    give_up_at = time.monotonic() + LONGEST_WAIT
    if not _threads.acquire(timeout=LONGEST_WAIT):
        yield
        return
    try:
        file = _file(f"{connection.settings_dict['NAME']}-turn", os.getpid())
        while not _try_lock(file) and time.monotonic() < give_up_at:
            time.sleep(PAUSE)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        _threads.release()


@cache
def _file(path: str, process: int) -> int:
    """Open the file whose lock orders processes, anew in each: a forked one would share its parent's turn."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
