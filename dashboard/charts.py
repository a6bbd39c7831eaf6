"""Pictures as plain geometry: pure functions, drawn as SVG by the templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mailbox import spans

MINUTE = timedelta(minutes=1)
EDGES = (MINUTE, timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1), timedelta(hours=6))
STATUSES = ("ok", "partial", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A rectangle with what it stands for; ``query`` is the filter of the list it counts."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    label: str
    count: int
    query: str = ""

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Leases at least ``least`` old and younger than ``most``; None is no bound."""

    least: timedelta
    most: timedelta | None

    @property
    def label(self) -> str:
        if self.most is None:
            return f"≥ {_short(self.least)}"
        return f"< {_short(self.most)}" if not self.least else f"{_short(self.least)}-{_short(self.most)}"

    @property
    def query(self) -> str:
        least = f"min_age={self.least // timedelta(seconds=1)}s" if self.least else ""
        most = f"max_age={self.most // timedelta(seconds=1)}s" if self.most else ""
        return "&".join(filter(None, (least, most)))


def bands(stale_after: timedelta) -> list[Band]:
    """Return the age bands; the threshold is one of their edges, so that the stale bars are the stale leases."""
    edges = [timedelta(0), *sorted({*EDGES, stale_after} - {timedelta(0)})]
    return [Band(least=least, most=most) for least, most in zip(edges, [*edges[1:], None], strict=True)]


def histogram(counts: Sequence[tuple[Band, int]], stale_after: timedelta, *, height: float = 100) -> list[Bar]:
    """Return a bar for each band; a band with any lease in it can be seen."""
    top = max((count for _, count in counts), default=0) or 1
    found = []
    for place, (band, count) in enumerate(counts):
        tall = max(2.0, round(height * count / top, 1)) if count else 0.0
        kind = "stale" if band.least >= stale_after else "leased"
        x = 6.0 + 60 * place
        found.append(
            Bar(
                x=x,
                y=14 + height - tall,
                width=48,
                height=tall,
                kind=kind,
                label=band.label,
                count=count,
                query=band.query,
            )
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Results of each of the last minutes, oldest first; ``counts`` has a number for each status."""

    minutes: Sequence[datetime]
    counts: Sequence[dict[str, int]]

    @property
    def totals(self) -> dict[str, int]:
        return {status: sum(one[status] for one in self.counts) for status in STATUSES}

    @property
    def rows(self) -> list[tuple[datetime, dict[str, int]]]:
        """The minutes in which there was anything, for the table beside the picture."""
        return [(at, one) for at, one in zip(self.minutes, self.counts, strict=True) if any(one.values())]


def per_minute(found: Iterable[tuple[datetime, str]], now: datetime, minutes: int = 60) -> Series:
    """Count (moment, status) pairs by minute; what is older than ``minutes`` is left out."""
    last = now.replace(second=0, microsecond=0)
    starts = [last - MINUTE * back for back in reversed(range(minutes))]
    seen = Counter((moment.replace(second=0, microsecond=0), status) for moment, status in found)
    return Series(minutes=starts, counts=[{status: seen[start, status] for status in STATUSES} for start in starts])


def stacked(series: Series, *, width: float = 720, height: float = 140) -> list[Bar]:
    """Return the bars of each minute, one upon the other."""
    top = max((sum(one.values()) for one in series.counts), default=0) or 1
    step = width / max(1, len(series.minutes))
    bars = []
    for place, (at, one) in enumerate(zip(series.minutes, series.counts, strict=True)):
        floor = height
        for status in STATUSES:
            tall = (height - 8) * one[status] / top
            if one[status]:
                floor -= tall
                label = f"{at:%H:%M}: {one[status]} {status}"
                x = round(place * step, 1)
                bars.append(
                    Bar(
                        x=x,
                        y=round(floor, 1),
                        width=round(step - 1.5, 1),
                        height=round(tall, 1),
                        kind=status,
                        label=label,
                        count=one[status],
                    )
                )
    return bars


def _short(span: timedelta) -> str:
    return spans.write(span).replace(" ", "")
