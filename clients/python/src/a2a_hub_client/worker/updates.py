"""A queue of updates between the work and the hub."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

MAX_BATCH = 100  # updates; the hub takes no more at once
BATCH_BYTES = 200_000  # of JSON, far below the smallest body limit
MOST_WAITING = 4_000_000  # bytes of pressing updates that wait for the hub, beyond which the work has to wait


class Updates:
    """The updates of one attempt, in their order. One thread adds them, another takes them.

    A pressing update goes to the hub at once. The others may wait for more of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[tuple[Mapping[str, Any], int]] = deque()  # each with its bytes if it is pressing
        self._waiting = 0  # bytes of pressing updates in the queue
        self._is_closed = False
        self._stirred = threading.Condition(self._lock)

    @property
    def is_full(self) -> bool:
        """Whether nothing must be added until updates were taken."""
        return self._waiting > MOST_WAITING

    def close(self) -> None:
        """End the queue: no update comes any more."""
        with self._lock:
            self._is_closed = True
            self._stirred.notify_all()

    def add(self, update: Mapping[str, Any], *, size: int) -> None:
        """Queue a pressing update of ``size`` bytes."""
        with self._lock:
            self._queue.append((update, size))
            self._waiting += size
            self._stirred.notify_all()

    def await_update(self, seconds: float) -> bool:
        """Wait until a pressing update is queued, or the queue has ended; return whether that is so."""
        with self._lock:
            return self._stirred.wait_for(lambda: self._waiting > 0 or self._is_closed, seconds)

    def await_room(self, seconds: float) -> bool:
        """Wait until the queue is not full, or has ended; return whether that is so."""
        with self._lock:
            return self._stirred.wait_for(lambda: not self.is_full or self._is_closed, seconds)

    def take(self) -> list[Mapping[str, Any]]:
        """Remove and return the oldest updates, as many as go into one request."""
        batch: list[Mapping[str, Any]] = []
        size = 0
        with self._lock:
            while self._queue and len(batch) < MAX_BATCH and size < BATCH_BYTES:
                update, waited = self._queue.popleft()
                self._waiting -= waited
                batch.append(update)
                size += waited or json_bytes(update)
            self._stirred.notify_all()
        return batch


def json_bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())
