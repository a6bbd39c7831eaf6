"""The state of the hub now: the figures of the overview, read in one query, and the ages of its leases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from dashboard.figures import thresholds
from dashboard.figures.plots import Bar
from dashboard.figures.thresholds import COUNTED_TO, Count
from mailbox.inspection.statistics import standing
from mailbox.words import json_text, times

EDGES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 360))  # of the ages of leases


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Leases at least ``least`` old and younger than ``most``. None is no bound."""

    least: timedelta
    most: timedelta | None

    @property
    def label(self) -> str:
        if self.most is None:
            return f"≥ {_short(self.least)}"
        return f"< {_short(self.most)}" if not self.least else f"{_short(self.least)}-{_short(self.most)}"

    @property
    def edge(self) -> str:
        return _short(self.least) if self.least else "0"

    @property
    def query(self) -> str:
        least = f"min_age={self.least // timedelta(seconds=1)}s" if self.least else ""
        most = f"max_age={self.most // timedelta(seconds=1)}s" if self.most else ""
        return "&".join(filter(None, (least, most)))


def bands_of(stale_after: timedelta) -> list[Band]:
    """Return the age bands. The stale threshold is an edge, so the stale bars are the stale leases."""
    edges = [timedelta(0), *sorted({*EDGES, stale_after} - {timedelta(0)})]
    return [Band(least=least, most=most) for least, most in zip(edges, [*edges[1:], None], strict=True)]


def histogram(counts: Sequence[tuple[Band, int]], stale_after: timedelta, *, height: float = 100) -> list[Bar]:
    """Return a bar for each band. A band with any lease has a visible bar."""
    top = max((count for _, count in counts), default=0) or 1
    found = []
    for place, (band, count) in enumerate(counts):
        tall = max(2.0, round(height * count / top, 1)) if count else 0.0
        kind = "stale" if band.least >= stale_after else "leased"
        x = 6.0 + 60 * place
        found.append(
            Bar(
                x=x,
                y=28 + height - tall,
                width=48,
                height=tall,
                kind=kind,
                label=band.label,
                count=count,
                query=band.query,
                edge=band.edge,
                is_first_stale=band.least == stale_after,
            )
        )
    return found


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
        bands = bands_of(stale_after)
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


def _short(span: timedelta) -> str:
    return times.write(span).replace(" ", "")
