"""Starts the threads of the bell, with the first waiter or the first rings of a process. They end with the process."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence

from django.conf import settings
from django.db import connection

from mailbox.database.bell import hearing
from mailbox.database.bell.watch import Watch

_logger = logging.getLogger(__name__)


class _Attendance:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.watches = self.hears = False


_here = _Attendance()
os.register_at_fork(after_in_child=_here.__init__)  # type: ignore[misc] # a new process has none of the threads


def begin() -> None:
    """Start the threads unless they run."""
    if _here.watches:
        return
    hear()
    with _here.lock:
        if not _here.watches:
            _start(Watch().run)
            _here.watches = True


def hear() -> None:
    """Start the thread that hears the rings of other processes, unless it runs.

    If no thread can be started, this process is deaf until the next call, and the watch looks more often.
    """
    if _here.hears:
        return
    with _here.lock:
        if not _here.hears:
            try:
                for run in listeners():
                    _start(run)
            except RuntimeError as error:
                _logger.warning("the bell hears no rings, since no thread can be started: %s", error)
            else:
                _here.hears = True


def _start(run: Callable[[], None]) -> None:
    threading.Thread(target=run, name="bell", daemon=True).start()


def listeners() -> Sequence[Callable[[], None]]:
    """Return the thread that hears the rings of other processes, and none if A2A_WAKE_UPS is ``poll``."""
    if settings.A2A_WAKE_UPS == hearing.POLL:
        return []
    if connection.vendor == "sqlite":
        from mailbox.database.bell.sqlite import follower

        return [follower.run]
    from mailbox.database.bell.postgresql import Listener, ringer

    return [Listener(ringer).run]
