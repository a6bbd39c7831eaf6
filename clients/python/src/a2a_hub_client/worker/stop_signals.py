"""The signals that stop a worker."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass

STOP_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@dataclass(slots=True)
class StopSignals:
    """The number of stop signals. A plain number, as a signal handler must not wait for a lock of its own thread."""

    count: int = 0

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Count stop signals within the block, and restore the earlier handlers after it.

        Only the main thread can set handlers; in another one the block counts nothing.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        earlier = {number: signal.signal(number, self._hear) for number in heard_signals()}
        try:
            yield
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)

    def _hear(self, *_: object) -> None:
        self.count += 1


def heard_signals() -> list[signal.Signals]:
    """Return the signals that stop a worker. ``nohup`` ignores SIGHUP, and such a SIGHUP stays ignored."""
    is_ignored = {number: signal.getsignal(number) is signal.SIG_IGN for number in STOP_SIGNALS}
    return [number for number in STOP_SIGNALS if not (number.name == "SIGHUP" and is_ignored[number])]
