"""The savings of the idempotency cache, read in one query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from dashboard.figures.thresholds import COUNTED_TO, Count
from mailbox.inspection.statistics import standing
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.models.task_queries import TaskQuerySet


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """``hits`` sums the hits of ``entries``, as far as these are counted. ``waiting`` duplicates wait now."""

    entries: Count
    hits: int
    waiting: Count

    @classmethod
    def read(cls, found: ReplayEntryQuerySet, waiting: TaskQuerySet) -> Self:
        """Read the three figures in one query."""
        saved = standing.savings(found, waiting, most=COUNTED_TO)
        return cls(entries=Count(saved.entries), hits=saved.hits, waiting=Count(saved.waiting))
