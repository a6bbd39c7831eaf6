"""Charts and plots as plain geometry: pure functions, drawn as SVG by the templates.

The plane of a plot over time is `WIDTH` by `HEIGHT` and is stretched to the place on the page. Labels stand outside it,
so they keep their shape.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from mailbox.inspection.statistics.series import Point, Sum

WIDTH, HEIGHT = 720, 100
MOST_TICKS = 4  # of the y axis, without 0
ROUND = (1, 2, 2.5, 5, 10)
SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200)
DAY = timedelta(days=1)
TIMES = (*(timedelta(minutes=minutes) for minutes in (5, 10, 15, 30, 60, 120, 180, 240, 360, 720)), DAY)
SPIKE = 4  # times the value that nearly all stay under: a higher value is cut, so that it does not flatten the others
USUAL = 0.9
Values = Sequence[float | None]
MINUTE = timedelta(minutes=1)
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The ticks of an axis from 0, evenly spaced. Values above the last tick are cut if ``is_cut``."""

    ticks: Sequence[float]
    is_cut: bool = False

    @property
    def top(self) -> float:
        return self.ticks[-1]

    def height(self, value: float) -> int:
        """Return the height of a value in the plane. A value above 0 is visible."""
        return max(1, round(HEIGHT * min(1.0, value / self.top))) if value > 0 else 0

    def cuts(self, value: float | None) -> bool:
        return value is not None and value > self.top


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeTick:
    """A moment of the x axis at ``share`` percent of its length."""

    share: float
    label: str


def axis(values: Values, *, whole: bool = True) -> Axis:
    """Return the axis for these values: of whole numbers, or of seconds. Without a value it ends at 1."""
    known = sorted(value for value in values if value)
    most = known[-1] if known else 1.0
    usual = known[math.ceil(USUAL * len(known)) - 1] if known else most
    is_cut = len(known) > 1 and most > SPIKE * usual
    step = _step(1.5 * usual if is_cut else most, whole=whole)
    number = max(1, math.ceil((1.5 * usual if is_cut else most) / step - 1e-9))
    return Axis(ticks=[round(step * place, 6) for place in range(number + 1)], is_cut=is_cut)


def time_ticks(start: datetime, end: datetime, zone: tzinfo, *, most: int = 7) -> list[TimeTick]:
    """Return at most ``most`` round moments of the zone's clock, with the date at midnight.

    A clock that is changed makes one distance longer or shorter. No label is closer to an end than 3 percent.
    """
    span = end - start
    step = next((one for one in TIMES if span / one <= most), DAY * math.ceil(span / DAY / most))
    clock = start.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    ticks = []
    for _ in range(math.ceil((span + 2 * DAY) / step)):
        moment = clock.replace(tzinfo=zone).astimezone(UTC)
        share = round(100 * ((moment - start) / span), 2)
        if 3 <= share <= 97 and moment.astimezone(zone).replace(tzinfo=None) == clock:  # a clock may skip an hour
            ticks.append(
                TimeTick(share=share, label=f"{clock:%H:%M}" if clock.hour or clock.minute else f"{clock:%b %-d}")
            )
        clock += step
    return ticks


def bar_width(number: int) -> int:
    """Return the width of each of so many bars, with a small gap between them. It is the width of the path's stroke."""
    return max(1, round(0.85 * WIDTH / number))


def bars(values: Values, floors: Values, scale: Axis) -> str:
    """Return a path with an upright line for each value above 0. It stands on the sum ``floors`` of those below it."""
    wide, parts = WIDTH / max(1, len(values)), []
    for place, (value, floor) in enumerate(zip(values, floors, strict=True)):
        below = scale.height(floor or 0)
        tall = scale.height((floor or 0) + value) - below if value else 0
        if tall > 0:
            parts.append(f"M{_middle(place, wide)} {HEIGHT - below}v-{tall}")
    return "".join(parts)


def line(values: Values, scale: Axis) -> str:
    """Return a path through the values, in the middle of their slots. A None is a gap, and a lonely value is a dash."""
    wide = WIDTH / max(1, len(values))
    parts: list[str] = []
    x = y = None
    for place, value in enumerate(values):
        if value is None:
            x = y = None
            continue
        right, high = _middle(place, wide), HEIGHT - scale.height(value)
        if x is not None and y is not None:
            parts.append(f"l{right - x} {high - y}")
        elif place + 1 == len(values) or values[place + 1] is None:
            parts.append(f"M{round(place * wide)} {high}h{round(wide)}")
        else:
            parts.append(f"M{right} {high}")
        x, y = right, high
    return "".join(parts)


def area(values: Values, scale: Axis) -> str:
    """Return a closed path of steps under the values. A None is a gap."""
    wide = WIDTH / max(1, len(values))
    return "".join(
        f"M{round(place * wide)} {HEIGHT}v-{scale.height(value)}h{round(wide)}V{HEIGHT}z"
        for place, value in enumerate(values)
        if value
    )


def cuts(values: Values, scale: Axis) -> str:
    """Return a path with a small break across the top of each value that the axis cuts."""
    wide = WIDTH / max(1, len(values))
    return "".join(
        f"M{round(place * wide)} 9l{round(wide)}-4" for place, value in enumerate(values) if scale.cuts(value)
    )


def _step(most: float, *, whole: bool) -> float:
    """Return the least round distance of which `MOST_TICKS` reach ``most``."""
    least = most / MOST_TICKS
    if not whole and (seconds := next((step for step in SECONDS if step >= least > 0.5), None)):
        return float(seconds)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(one * power for one in ROUND if one * power >= least * (1 - 1e-9))
    return max(1.0, float(math.ceil(step))) if whole else step


def _middle(place: int, wide: float) -> int:
    return round((place + 0.5) * wide)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A rectangle of a chart. ``query`` is the filter of the list with the rows that it counts."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    count: int
    label: str = ""
    query: str = ""
    edge: str = ""  # label of its left end, if it has one
    is_first_stale: bool = False

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


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
RANGES = {
    "1h": HOUR,
    "6h": Range(name="6h", span=timedelta(hours=6), step=timedelta(minutes=5)),
    "24h": Range(name="24h", span=timedelta(hours=24), step=timedelta(minutes=20)),
    "7d": Range(name="7d", span=timedelta(days=7), step=timedelta(hours=2)),
}
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
