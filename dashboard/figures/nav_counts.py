"""The counts beside the places of the navigation: bounded, and read in one query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from dashboard.figures import thresholds
from dashboard.figures.standing import OverviewFigures
from dashboard.figures.thresholds import COUNTED_TO, Count
from mailbox.inspection.statistics import standing


@dataclass(frozen=True, slots=True, kw_only=True)
class NavCounts:
    """The counts that need a person's attention."""

    stale: Count
    pending: Count
    paused: Count
    given_up: Count

    @classmethod
    def read(cls, now: datetime) -> Self:
        """Read the counts in one query."""
        found = standing.attention(now, stale_after=thresholds.stale_after(), most=COUNTED_TO)
        stale, pending, paused, given_up = map(Count, found)
        return cls(stale=stale, pending=pending, paused=paused, given_up=given_up)

    @classmethod
    def of(cls, standing: OverviewFigures) -> Self:
        """Take the counts from the figures of the overview, which has read them."""
        stale = Count(min(standing.stale, COUNTED_TO + 1))
        return cls(stale=stale, pending=standing.pending, paused=standing.paused_in_all, given_up=standing.given_up)

    @property
    def notes(self) -> dict[str, str]:
        """The counts in words, by route. A count of 0 has no words."""
        notes = {
            "leases": f"{self.stale} stale" if self.stale else "",
            "results": f"{self.pending} waiting" if self.pending else "",
            "agents": f"{self.paused} paused" if self.paused else "",
            "deliveries": f"{self.given_up} failed" if self.given_up else "",
        }
        return {place: note for place, note in notes.items() if note}
