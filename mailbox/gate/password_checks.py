"""Bounds the checks of passwords: each costs a quarter of a second of CPU, and needs no account."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST_AT_ONCE = 4  # in one process

_slots = threading.BoundedSemaphore(MOST_AT_ONCE)


class NotYetError(Exception):
    """The password was not checked. It can be sent again after ``retry_after`` seconds.

    ``is_busy``: the hub has no capacity; otherwise too many checks failed.
    """

    def __init__(self, message: str, *, retry_after: int, is_busy: bool = False) -> None:
        self.message = message
        self.retry_after = retry_after
        self.is_busy = is_busy
        super().__init__(message)


@contextmanager
def admitted() -> Iterator[None]:
    """Check a password in the block; raise `NotYetError` instead if `MOST_AT_ONCE` blocks run in this process."""
    if not _slots.acquire(blocking=False):
        raise NotYetError("The hub is busy with other sign-ins. Try again in a moment.", retry_after=1, is_busy=True)
    try:
        yield
    finally:
        _slots.release()
