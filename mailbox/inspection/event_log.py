"""The life of one task as it grows: its fold and all of its events, each row read once."""

from __future__ import annotations

import threading
from bisect import bisect_right

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
