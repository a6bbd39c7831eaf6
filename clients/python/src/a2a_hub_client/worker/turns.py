"""Turns to work, when a worker holds more tasks than it works on at once."""

from __future__ import annotations

import threading


class Turn:
    """The turn of one job. ``free`` counts the jobs that may start, and none may once ``stopping`` is set."""

    def __init__(self, free: threading.Semaphore, stopping: threading.Event) -> None:
        self._free = free
        self._stopping = stopping
        self._is_taken = False

    @property
    def is_lost(self) -> bool:
        """Whether the job must not start any more."""
        return self._stopping.is_set()

    def take(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for the turn. Return whether it is the job's turn."""
        self._is_taken = self._free.acquire(timeout=seconds)
        return self._is_taken

    def end(self) -> None:
        """Let another job start. A second call changes nothing, and so does a call without a turn."""
        if self._is_taken:
            self._is_taken = False
            self._free.release()
