"""Runs stories along one clock, whose time is now for the verbs of the hub."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import count
from typing import TypeVar

from django.utils import timezone

Acted = TypeVar("Acted")
Story = Iterator[float]  # acts at the hub, and yields the seconds until it acts again


class Timeline:
    """Stories that run side by side, in the order of their acts."""

    def __init__(self, start: datetime) -> None:
        self.now = start
        self._numbers = count()  # of two stories that are due at once, the earlier one is first
        self._due: list[tuple[datetime, int, Story]] = []

    def begin(self, story: Story, *, at: datetime | None = None) -> None:
        """Let the story act for the first time at that time, None for now."""
        heapq.heappush(self._due, (at or self.now, next(self._numbers), story))

    def act(self, act: Callable[[], Acted]) -> Acted:
        """Act at once, at the time of this clock, and return what that returns."""
        with self._ruling():
            return act()

    def run(self, until: datetime) -> None:
        """Run all stories up to that time. A story that goes on later stays as it is then."""
        with self._ruling():
            while self._due and self._due[0][0] <= until:
                self.now, _, story = heapq.heappop(self._due)
                pause = next(story, None)
                if pause is not None:
                    self.begin(story, at=self.now + timedelta(seconds=pause))
            self.now = until

    @contextmanager
    def _ruling(self) -> Iterator[None]:
        """Let Django's clock show the time of this one in the block."""
        true_now = timezone.now
        timezone.now = lambda: self.now
        try:
            yield
        finally:
            timezone.now = true_now
