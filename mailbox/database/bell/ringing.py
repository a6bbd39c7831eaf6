"""Rings for the changes that a transaction has committed, and the threads that carry them between processes.

The threads begin with the first waiter or the first rings of a process. They end with the process.
"""

import itertools
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections

from mailbox.database.bell import topics as topics_module
from mailbox.database.bell import waiters
from mailbox.database.bell.watch import Watch

FEW = 10  # rings; a process with more hears the announcements of the others. A short command need not connect for them.
_logger = logging.getLogger(__name__)
_rings = itertools.count(1)


class _Attendance:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.watches = self.hears = False


_here = _Attendance()
os.register_at_fork(after_in_child=_here.__init__)  # type: ignore[misc] # a new process has none of the threads


def begin() -> None:
    """Start the threads unless they run. Raises `MemoryError` if the watch cannot be started."""
    if _here.watches:
        return
    hear()
    with _here.lock:
        if not _here.watches:
            waiters.start(Watch().run, "bell")
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
                    waiters.start(run, "bell")
            except MemoryError as error:
                _logger.warning("the bell hears no rings, since no thread can be started: %s", error)
            else:
                _here.hears = True


def listeners() -> Sequence[Callable[[], None]]:
    """Return the thread that hears the rings of other processes, and none if A2A_WAKE_UPS is ``poll``."""
    if settings.A2A_WAKE_UPS == waiters.POLL:
        return []
    if connection.vendor == "sqlite":
        from mailbox.database.bell.sqlite import follower

        return [follower.run]
    from mailbox.database.bell.postgresql import Listener, ringer

    return [Listener(ringer).run]


def ring(topics: Sequence[str]) -> None:
    """Wake the threads that wait for these topics. A topic that is given twice stands for two things that came.

    Call this after the commit, and never within a transaction. It raises nothing and reads no row.
    """
    try:
        _ring(topics)
    except Exception:  # the change is stored, so its caller must not fail
        _logger.exception("the bell failed to ring")


def _ring(topics: Sequence[str]) -> None:
    if (
        not topics
        or settings.A2A_WAKE_UPS == waiters.POLL
        or (topics_module.is_nobody() and not waiters.is_anyone_here())
    ):
        return
    if _vendor() == "sqlite" and waiters.is_hearing():
        from mailbox.database.bell.sqlite import follower

        follower.tell()
    elif left := waiters.wake(Counter(topics)):
        ring_elsewhere(left)


def ring_elsewhere(counts: Mapping[str, int]) -> None:
    """Wake the waiters of other processes, on PostgreSQL. On SQLite they follow the journal."""
    if not _notifies():
        return
    from mailbox.database.bell.postgresql import ringer

    if topics := topics_module.wanted(counts):
        ringer.add(topics)
    if topics_module.is_unknown() and next(_rings) > FEW:
        hear()


def announce(topics: Sequence[str]) -> None:
    """Let other processes ring for these topics, on PostgreSQL."""
    if _notifies():
        from mailbox.database.bell.postgresql import ringer

        ringer.announce(topics)


def _notifies() -> bool:
    return _vendor() == "postgresql" and settings.A2A_WAKE_UPS != waiters.POLL


def _vendor() -> str:
    return connections[DEFAULT_DB_ALIAS].vendor


waiters.when_nobody_is_here(ring_elsewhere)
waiters.before_each_wait(announce)
