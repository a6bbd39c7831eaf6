"""Starts the threads of the bell with the first waiter of a process. They end with the process."""

from __future__ import annotations

import os
import threading

from mailbox.database.bell.watch import Watch


class _Attendance:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.has_begun = False


_here = _Attendance()
os.register_at_fork(after_in_child=_here.__init__)  # type: ignore[misc] # a new process has none of the threads


def begin() -> None:
    """Start the threads unless they run."""
    if _here.has_begun:
        return
    with _here.lock:
        if not _here.has_begun:
            threading.Thread(target=Watch().run, name="watch", daemon=True).start()
            _here.has_begun = True
