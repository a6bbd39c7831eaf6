"""Charts as plain geometry: pure functions, drawn as SVG by the templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mailbox.inspection.statistics.series import Point, Sum
from mailbox.words import times

MINUTE = timedelta(minutes=1)
EDGES = (MINUTE, timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1), timedelta(hours=6))
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A rectangle of a chart. ``query`` is the filter of the list with the rows that it counts."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    label: str
    count: int
    query: str = ""
    edge: str = ""  # label of its left end, if it has one
    is_first_stale: bool = False

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


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


def bands(stale_after: timedelta) -> list[Band]:
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
class Range:
    """The time span of a chart, and the time of each bar."""

    name: str
    span: timedelta
    step: timedelta

    @property
    def words(self) -> str:
        return f"{self.name[:-1]} {self.name[-1]}"

    @property
    def bars(self) -> int:
        return self.span // self.step

    def start(self, now: datetime) -> datetime:
        """Return the beginning of the first bar. The last bar holds ``now``."""
        last = EPOCH + (now - EPOCH) // self.step * self.step
        return last - self.step * (self.bars - 1)


HOUR = Range(name="1h", span=timedelta(hours=1), step=MINUTE)
RANGES = (
    HOUR,
    Range(name="6h", span=timedelta(hours=6), step=timedelta(minutes=5)),
    Range(name="24h", span=timedelta(hours=24), step=timedelta(minutes=20)),
    Range(name="7d", span=timedelta(days=7), step=timedelta(hours=2)),
)
SPARK = Range(name="2h", span=timedelta(hours=2), step=timedelta(minutes=5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Results from ``start`` until before ``end``."""

    start: datetime
    end: datetime
    sum: Sum


def finished(start: datetime, end: datetime) -> str:
    """Return the filter of the tasks whose results were posted from ``start`` until before ``end``."""
    return f"finished={_minute(start)}..{_minute(end)}"


def posted(start: datetime, end: datetime | None = None) -> str:
    """Return the filter of the results from ``start`` until before ``end``. None is no bound."""
    return f"delivery=all&posted={_minute(start)}..{_minute(end) if end else ''}"


def _minute(moment: datetime) -> str:
    """Write a moment in UTC to the minute, several times faster than a format of `strftime`."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='minutes')}Z"


def buckets(points: Iterable[Point], scale: Range, now: datetime) -> list[Bucket]:
    """Add up the points bar by bar, oldest first. Points before the first bar are left out."""
    start = scale.start(now)
    sums = [Sum() for _ in range(scale.bars)]
    for point in points:
        place = (point.minute - start) // scale.step
        if 0 <= place < len(sums):
            sums[place].count(point)
    starts = [start + scale.step * place for place in range(scale.bars)]
    return [Bucket(start=at, end=at + scale.step, sum=one) for at, one in zip(starts, sums, strict=True)]


def _short(span: timedelta) -> str:
    return times.write(span).replace(" ", "")
