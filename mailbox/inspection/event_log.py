"""The event log of a task: its fold and all of its events, each row read once.

A reader that returns to the same tasks keeps their logs in a cache. All streams of a task in this process share one
feed, which renders each event once.
"""

import threading
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from mailbox.inspection import task_events
from mailbox.models import Task
from mailbox.words.a2a.fold import EventPosition, Fold, TaskEvent, TaskSnapshot

MOST_BYTES = 64 * 2**20  # of all cached logs; the log that was used last stays at any size
BYTES_OF_A_ROW = 1024  # that an event takes beside its texts
LONGEST_REST = 60.0  # seconds that an unused log is cached
Render = Callable[[TaskEvent], bytes]
_lock = threading.Lock()


class EventLog:
    """The events of a task from its first on, up to the newest row that was read. Any number of threads share it."""

    def __init__(self, task: Task) -> None:
        """Begin without a row."""
        self._task = task
        self._reading = threading.Lock()
        self._begun = 0  # reads
        self._fold: Fold = task_events.fold_before(task)
        self.events: list[TaskEvent] = []

    @property
    def seq(self) -> int:
        """The number of the newest row that was read."""
        return self._fold.seq

    def catch_up(self) -> None:
        """Read the rows that were committed before this call, unless another thread has read them since."""
        begun = self._begun
        with self._reading:
            if self._begun > begun:
                return
            self._begun += 1
            try:
                rows = task_events.rows_after(self._task, self._fold.seq)
            except BaseException:
                self._begun -= 1  # a thread that waited for this read makes its own
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


@dataclass(frozen=True, slots=True)
class _CachedLog:
    log: EventLog
    size: int  # of the task, by its row
    used_at: float

    @property
    def weight(self) -> int:
        return self.size + BYTES_OF_A_ROW * (1 + self.log.seq)


class EventLogCache:
    """The event logs that were used last, within `MOST_BYTES`. A log that was dropped is read again from its first row.

    One thread uses it.
    """

    def __init__(self) -> None:
        self._cached: OrderedDict[UUID, _CachedLog] = OrderedDict()  # the log used last is at the end
        self._weight = 0

    def of(self, task: Task) -> EventLog:
        """Return the log of a task with all rows that ``task`` counts. Only rows that it lacks are read.

        A task whose payload was erased is read again from its first row.
        """
        now = time.monotonic()
        while self._cached and next(iter(self._cached.values())).used_at < now - LONGEST_REST:
            self._drop(next(iter(self._cached)))
        cached = self._drop(task.uuid)
        log = EventLog(task) if cached is None or task.size < cached.size else cached.log
        if log.seq < task.journal_seq:
            log.catch_up()
        self._store(task.uuid, _CachedLog(log, task.size, now))
        return log

    def _store(self, task_id: UUID, cached: _CachedLog) -> None:
        self._cached[task_id] = cached
        self._weight += cached.weight
        while self._weight > MOST_BYTES and len(self._cached) > 1:
            self._drop(next(iter(self._cached)))

    def _drop(self, task_id: UUID) -> _CachedLog | None:
        cached = self._cached.pop(task_id, None)
        if cached is not None:
            self._weight -= cached.weight
        return cached


class Feed(EventLog):
    """The events of a task, for the streams of this process that follow it. `following` makes it."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._rendered: dict[tuple[int, str], bytes] = {}
        self.streams = 0

    def rendered(self, index: int, form: str, render: Render) -> bytes:
        """Return an event in a form, which the first stream of this form renders for all."""
        key = index, form
        if key not in self._rendered:
            self._rendered[key] = render(self.events[index])
        return self._rendered[key]


_feeds: dict[UUID, Feed] = {}


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
