"""Waits for an arrival, which hold no transaction and no database connection meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from django.db import connection

Found = TypeVar("Found")

SHORTEST, LONGEST = 0.02, 0.5  # seconds between two looks

_ending = threading.Event()


def end() -> None:
    """Let every wait of this process return after its next look, since the process is about to stop."""
    _ending.set()


def until(look: Callable[[], Found], timeout: timedelta | None) -> Found:
    """Call ``look`` less and less often until it returns a true value or the time is up; return its last value.

    ``timeout`` None waits for ever; zero looks once. `end` ends every wait early.
    """
    end = None if timeout is None else time.monotonic() + timeout.total_seconds()
    pause = SHORTEST
    while True:
        found = look()
        left = None if end is None else end - time.monotonic()
        if found or (left is not None and left <= 0) or _ending.is_set():
            return found
        if not connection.in_atomic_block:
            connection.close()
        _ending.wait(pause if left is None else min(pause, left))
        pause = min(pause * 1.5, LONGEST)
