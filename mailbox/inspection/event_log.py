"""The life of one task as it grows: its fold and all of its events, each row read once.

The lives of tasks that a reader returns to often, kept in its memory, so that it reads each row once.

The feeds of this process: one reader for all streams of one task, which renders each event once.
"""

from __future__ import annotations

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


class GrowingLife:
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


MOST_BYTES = 64 * 2**20  # of all kept lives; the life that was used last stays at any size
BYTES_OF_A_ROW = 1024  # that an event takes beside its texts
LONGEST_REST = 60.0  # seconds that an unused life is kept


@dataclass(frozen=True, slots=True)
class _KeptLife:
    life: GrowingLife
    size: int  # of the task, by its row
    used_at: float

    @property
    def weight(self) -> int:
        return self.size + BYTES_OF_A_ROW * (1 + self.life.seq)


class KeptLives:
    """The lives that were used last, within `MOST_BYTES`. A life that was dropped is read again from its first row.

    One thread uses it.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, _KeptLife] = OrderedDict()  # the one used last is at the end
        self._weight = 0

    def of(self, task: Task) -> GrowingLife:
        """Return the life of a task with all rows that ``task`` counts. Only rows that it lacks are read.

        A task whose payload was erased is read again from its first row.
        """
        now = time.monotonic()
        while self._kept and next(iter(self._kept.values())).used_at < now - LONGEST_REST:
            self._drop(next(iter(self._kept)))
        kept = self._drop(task.uuid)
        life = GrowingLife(task) if kept is None or task.size < kept.size else kept.life
        if life.seq < task.journal_seq:
            life.catch_up()
        self._keep(task.uuid, _KeptLife(life, task.size, now))
        return life

    def _keep(self, task_id: UUID, kept: _KeptLife) -> None:
        self._kept[task_id] = kept
        self._weight += kept.weight
        while self._weight > MOST_BYTES and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, task_id: UUID) -> _KeptLife | None:
        kept = self._kept.pop(task_id, None)
        if kept is not None:
            self._weight -= kept.weight
        return kept


Render = Callable[[TaskEvent], bytes]


class Feed(GrowingLife):
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
