"""The topics that the threads of other processes wait for, as those processes announce. PostgreSQL only.

While no announcement covers a topic, its rings stay in this process.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from mailbox.database.bell import topics as words

RENEWED_EVERY = 1.5  # seconds between two announcements of a process with waiters
LASTS = 5.0  # seconds after which an announcement runs out, since its process may have crashed
COMPLETE_AFTER = 2.5  # seconds of hearing after which each process with waiters has announced its topics
MOST_NAMED = 50  # topics of one announcement; beyond, it names their kinds


class _Elsewhere:
    def __init__(self) -> None:
        self.topics: frozenset[str] | None = None  # None: unknown, so every ring is sent
        self.complete_at: float | None = None  # None: this process hears no announcements
        self.processes: dict[str, tuple[set[str], float]] = {}  # by name: the topics, and when they run out


_here = _Elsewhere()
os.register_at_fork(after_in_child=_here.__init__)  # type: ignore[misc] # a new process hears nothing yet


def begin(now: float) -> None:
    """Note that announcements are heard from this monotonic time on."""
    _here.complete_at = now + COMPLETE_AFTER


def lose() -> None:
    """Note that announcements may be lost from now on."""
    _here.__init__()  # type: ignore[misc]


def note(process: str, announced: Iterable[str], now: float, *, is_whole: bool) -> None:
    """Note an announcement. ``is_whole``: the earlier topics of the process no longer hold."""
    before: Iterable[str] = () if is_whole else _here.processes.get(process, ((), 0.0))[0]
    _here.processes[process] = {*before, *announced}, now + LASTS
    refresh(now)


def refresh(now: float) -> float | None:
    """Forget the announcements that have run out; return the seconds until the next change, None if there is none."""
    _here.processes = {name: held for name, held in _here.processes.items() if held[0] and held[1] > now}
    ends = [ends_at for _, ends_at in _here.processes.values()]
    if _here.complete_at is not None and _here.complete_at <= now:
        _here.topics = frozenset().union(*(held for held, _ in _here.processes.values()))
    elif _here.complete_at is not None:
        ends.append(_here.complete_at)
    return min(ends) - now if ends else None


def is_unknown() -> bool:
    """Whether this process cannot know all topics that other processes wait for."""
    return _here.topics is None


def is_nobody() -> bool:
    """Whether it is known that no thread of another process waits."""
    return _here.topics is not None and not _here.topics


def wanted(counts: Mapping[str, int]) -> Mapping[str, int]:
    """Return the part of these topics that other processes may wait for."""
    known = _here.topics
    if known is None:
        return counts
    return {topic: count for topic, count in counts.items() if covers(known, topic)} if known else {}


def covers(announced: Collection[str], topic: str) -> bool:
    """Whether an announcement of these topics asks for the rings of ``topic``."""
    return topic in announced or words.kind(topic) in announced


def announcement(waited: Iterable[str]) -> frozenset[str]:
    """Return the topics that announce these. A task is announced by its kind, since each wait has another task."""
    named = frozenset(words.kind(topic) if words.is_task(topic) else topic for topic in waited)
    named = named if len(named) <= MOST_NAMED else frozenset(map(words.kind, named))
    return named | {words.ROUND} if named else named
