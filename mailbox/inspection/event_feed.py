"""The feeds of this process: one reader for all streams of one task, which renders each event once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from mailbox.inspection.event_log import GrowingLife
from mailbox.models import Task
from mailbox.words.a2a.fold import TaskEvent

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
