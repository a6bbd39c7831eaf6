"""The state of the hub now: the figures of the overview, read in one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from dashboard.figures import charts, thresholds
from dashboard.figures.charts import Band
from dashboard.figures.thresholds import COUNTED_TO, Count
from mailbox.inspection.statistics import standing
from mailbox.words import json_text


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewFigures:
    """``ages`` counts the live leases of each band. A moment is None if there is no such row.

    ``scan`` is the data of the scheduler's newest pass of the retry gate.
    """

    ages: Sequence[tuple[Band, int]]
    stale_safe: int
    queued: Count
    interrupted: Count
    pending: Count
    given_up: Count
    quiet: Count
    unserved: Count
    failing: Count  # callbacks that are tried again and again
    paused: Count  # with tasks waiting
    paused_in_all: Count
    waits_since: datetime | None
    asks_since: datetime | None
    owed_since: datetime | None
    scanned_at: datetime | None
    scan: Mapping[str, Any]

    @classmethod
    def read(cls, now: datetime) -> Self:
        """Read the figures in one query."""
        stale_after = thresholds.stale_after()
        bands = charts.bands(stale_after)
        found = standing.read(
            now,
            bands=[(band.least, band.most) for band in bands],
            stale_after=stale_after,
            limits=thresholds.limits(now),
            most=COUNTED_TO,
        )
        return cls(
            ages=list(zip(bands, found.ages, strict=True)),
            stale_safe=found.stale_safe,
            queued=Count(found.queued),
            interrupted=Count(found.interrupted),
            pending=Count(found.pending),
            given_up=Count(found.given_up),
            quiet=Count(found.quiet),
            unserved=Count(found.unserved),
            failing=Count(found.failing),
            paused=Count(found.paused_with_work),
            paused_in_all=Count(found.paused),
            waits_since=found.waits_since,
            asks_since=found.asks_since,
            owed_since=found.owed_since,
            scanned_at=found.scanned_at,
            scan=json_text.loads(found.scan) if found.scan else {},
        )

    @property
    def in_flight(self) -> int:
        return sum(count for _, count in self.ages)

    @property
    def stale(self) -> int:
        """The number of leases in the bands at and above the threshold, which is an edge of the bands."""
        stale_after = thresholds.stale_after()
        return sum(count for band, count in self.ages if band.least >= stale_after)
