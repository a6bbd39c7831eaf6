"""Shares the interpreter among the threads of a web process.

A thread that wants the interpreter wakes once in each switch interval and requests it. If hundreds of threads do so
every half millisecond, the wake-ups alone use up the processors, and no thread gets on. That happens when the waits of
a crowd begin or end together. So the interval grows with the requests under way.
"""

from __future__ import annotations

import sys
import threading

# A thread that comes back from the database waits until another thread gives up the interpreter. Python's 5 ms are
# longer than most transactions, and SQLite's write lock is held meanwhile.
SHORTEST, LONGEST = 0.0005, 0.005  # seconds
FEW = 4  # requests under way, for which the shortest interval is the best

_answering: set[int] = set()  # the threads of the requests under way; no thread interrupts a change of a set


def begin() -> None:
    """Count the thread, which begins to answer a request."""
    _answering.add(threading.get_ident())
    _adapt()


def end() -> None:
    """Count the thread no more."""
    _answering.discard(threading.get_ident())
    _adapt()


def _adapt() -> None:
    sys.setswitchinterval(min(max(SHORTEST, SHORTEST * len(_answering) / FEW), LONGEST))
