"""Rings the bell for the changes that a transaction has committed."""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from collections.abc import Mapping, Sequence

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from mailbox.database.bell import attendance, elsewhere, hearing, waiters

FEW = 10  # rings; a process with more hears the announcements of the others. A short command need not connect for them.

_logger = logging.getLogger(__name__)
_rings = itertools.count(1)


def ring(topics: Sequence[str]) -> None:
    """Wake the threads that wait for these topics. A topic that is given twice stands for two things that came.

    Call this after the commit, and never within a transaction. It raises nothing and reads no row.
    """
    try:
        _ring(topics)
    except Exception:  # the change is stored, so its caller must not fail
        _logger.exception("the bell failed to ring")


def _ring(topics: Sequence[str]) -> None:
    if not topics or settings.A2A_WAKE_UPS == hearing.POLL or (elsewhere.is_nobody() and not waiters.is_anyone_here()):
        return
    if _vendor() == "sqlite" and hearing.is_on():
        from mailbox.database.bell.sqlite import follower

        follower.tell()
    elif left := waiters.wake(Counter(topics)):
        ring_elsewhere(left)


def ring_elsewhere(counts: Mapping[str, int]) -> None:
    """Wake the waiters of other processes, on PostgreSQL. On SQLite they follow the journal."""
    if not _notifies():
        return
    from mailbox.database.bell.postgresql import ringer

    if wanted := elsewhere.wanted(counts):
        ringer.add(wanted)
    if elsewhere.is_unknown() and next(_rings) > FEW:
        attendance.hear()


def announce(topics: Sequence[str]) -> None:
    """Let other processes ring for these topics, on PostgreSQL."""
    if _notifies():
        from mailbox.database.bell.postgresql import ringer

        ringer.announce(topics)


def _notifies() -> bool:
    return _vendor() == "postgresql" and settings.A2A_WAKE_UPS != hearing.POLL


def _vendor() -> str:
    return connections[DEFAULT_DB_ALIAS].vendor


waiters.when_nobody_is_here(ring_elsewhere)
waiters.before_each_wait(announce)
