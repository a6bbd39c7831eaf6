"""The feeds of this process: one reader for all streams of one task, which renders each event once."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from mailbox.inspection import lives
from mailbox.models import Task
from mailbox.words.a2a.fold import EventPosition, Fold, TaskEvent, TaskSnapshot

Render = Callable[[TaskEvent], bytes]


class Feed:
    """The events of a task since the first stream of this process began to follow it. `following` makes it."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._reading = threading.Lock()
        self._begun = 0  # reads
        self._fold: Fold = lives.fold_before(task)
        self._rendered: dict[tuple[int, str], bytes] = {}
        self.events: list[TaskEvent] = []
        self.streams = 0

    def catch_up(self) -> None:
        """Read the rows that were committed before this call, unless another stream has read them since."""
        begun = self._begun
        with self._reading:
            if self._begun > begun:
                return
            self._begun += 1
            try:
                rows = lives.rows_after(self._task, self._fold.seq)
            except BaseException:
                self._begun -= 1  # a stream that waited for this read makes its own
                raise
            for row in rows:
                self.events += self._fold.add(row)

    def view(self) -> tuple[TaskSnapshot, int]:
        """Return the task as it was at the last read, and the number of its events up to then."""
        with self._reading:
            return self._fold.view(), len(self.events)

    def index_after(self, position: EventPosition) -> int:
        """Return the index of the first event after ``position``."""
        return bisect_right(self.events, position, key=lambda event: event.position)

    def rendered(self, index: int, form: str, render: Render) -> bytes:
        """Return an event in a form, which the first stream of this form renders for all."""
        key = index, form
        if key not in self._rendered:
            self._rendered[key] = render(self.events[index])
        return self._rendered[key]


_feeds: dict[UUID, Feed] = {}
_lock = threading.Lock()


@contextmanager
def following(task: Task) -> Iterator[Feed]:
    """Yield the feed of a task, shared with all of its streams in this process. The last stream drops it."""
    with _lock:
        feed = _feeds.setdefault(task.uuid, Feed(task))
        feed.streams += 1
    try:
        yield feed
    finally:
        with _lock:
            feed.streams -= 1
            if not feed.streams:
                del _feeds[task.uuid]
