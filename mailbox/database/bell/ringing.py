"""Rings the bell for what a transaction has committed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from mailbox.database.bell import waiters


def ring(topics: Iterable[str]) -> None:
    """Wake those who wait for these topics. A topic that is given twice stands for two things that came.

    Call this after the commit, and never within a transaction. It raises nothing and reads no row.
    """
    counts = Counter(topics)
    if counts:
        waiters.wake(counts)
