"""The signals that stop a worker."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class StopSignals:
    """The number of stop signals. A plain number, as a signal handler must not wait for a lock of its own thread."""

    count: int = 0


@contextlib.contextmanager
def stop_signals() -> Iterator[StopSignals]:
    """Count stop signals within the block, and restore the earlier handlers after it."""
    signals = StopSignals()

    def hear(*_: object) -> None:
        signals.count += 1

    earlier = {number: signal.signal(number, hear) for number in STOP_SIGNALS}
    try:
        yield signals
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
