"""Rings the bell for the changes that a transaction has committed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from django.conf import settings
from django.db import connection

from mailbox.database.bell import hearing, waiters

POLL = "poll"  # the value of A2A_WAKE_UPS without rings: the watch alone wakes


def ring(topics: Iterable[str]) -> None:
    """Wake the threads that wait for these topics. A topic that is given twice stands for two things that came.

    Call this after the commit, and never within a transaction. It raises nothing and reads no row.
    """
    counts = Counter(topics)
    if not counts or settings.A2A_WAKE_UPS == POLL:
        return
    if connection.vendor == "sqlite" and hearing.is_on():
        from mailbox.database.bell.sqlite import follower

        follower.tell()
    elif elsewhere := waiters.wake(counts):
        ring_elsewhere(elsewhere)


def ring_elsewhere(counts: Mapping[str, int]) -> None:
    """Wake the waiters of other processes, on PostgreSQL. On SQLite they follow the journal."""
    if connection.vendor == "postgresql" and settings.A2A_WAKE_UPS != POLL:
        from mailbox.database.bell.postgresql import ringer

        ringer.add(counts)


waiters.when_nobody_is_here(ring_elsewhere)
