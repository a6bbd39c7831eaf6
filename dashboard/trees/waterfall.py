"""The waterfall of a task tree as geometry: pure functions, in permille of the tree's time.

The window of time that a tree shows: the moves to other windows, and the map of all of the tree with the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from mailbox.words import times

WIDTH = 1000
LEAST = 2.0  # permille; so even a very short lease is visible
MOST_TICKS = 6
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
STEPS = (  # milliseconds between two ticks
    *(1, 2, 5, 10, 20, 50, 100, 200, 500),
    *(SECOND * number for number in (1, 2, 5, 10, 15, 30)),
    *(MINUTE * number for number in (1, 2, 5, 10, 15, 30)),
    *(HOUR * number for number in (1, 2, 3, 6, 12)),
    *(DAY * number for number in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)),
)
LOST = ("requeue", "auto_requeue", "force_error", "expired")  # ends of leases that brought no result
QUESTION = "asked"  # the end of a lease whose holder put a question to the sender
ENDINGS = {"": ", still held", "result": "", QUESTION: ", then asked its sender"}  # others are in the lease's own word
FAILED = ("error", "rejected", "expired")
IDLE = {"waiting": "queued", "gap": "between attempts", "asked": "waited for an answer"}
LANES = 24  # of the map
HEIGHT = 48
TALLEST = 6.0  # of a bar
MOST_BARS = 300
NEAREST = 8  # milliseconds; a shorter window is not halved
Span = tuple[int, int]  # milliseconds since the start of the tree


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseSpan:
    """A lease. ``end`` is the word for its end, "" while it lives; ``ended_at`` is None then."""

    number: int
    leased_at: datetime
    ended_at: datetime | None
    end: str
    by: str = ""
    repair: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBar:
    """The data of a task that is drawn. ``state`` is its word; ``resolved_at`` is None while it is open."""

    uuid: UUID
    state: str
    sent_at: datetime
    resolved_at: datetime | None
    parent: UUID | None = None
    name: str = ""
    sender: str = ""
    recipient: str = ""
    kind: str = ""
    attempts: Sequence[LeaseSpan] = ()
    replayed_from: UUID | None = None
    key: str = ""

    @property
    def has_failed(self) -> bool:
        return self.state in FAILED

    def ends_at(self, now: datetime) -> datetime:
        return max(self.sent_at, self.resolved_at or now)

    def lasts(self, now: datetime) -> timedelta:
        return self.ends_at(now) - self.sent_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a bar: ``waiting``, ``leased``, ``gap``, ``asked`` or ``open``.

    The marks ``forced`` and ``replayed`` have no width. ``tone`` says how a lease is drawn: as a state, or ``lost`` or
    ``released``. ``description`` is the part in words.
    """

    kind: str
    x: float
    width: float = 0.0
    tone: str = ""
    description: str = ""

    @property
    def right(self) -> float:
        return round(self.x + self.width, 1)

    @property
    def arrow(self) -> float:
        """The left end of the arrow of an open end."""
        return max(self.x, self.right - 14)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A mark of the axis: its place, and the time since the start of the tree in words."""

    x: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The time that the picture shows. The whole one is from the first send to the last end, or to now if one is open.

    ``origin`` is the start of the whole one, for a window that shows a part; None for a whole one.
    """

    start: datetime
    end: datetime
    origin: datetime | None = None

    @classmethod
    def around(cls, bars: Iterable[TaskBar], now: datetime) -> Window:
        bars = list(bars)
        start = min((bar.sent_at for bar in bars), default=now)
        end = max((bar.ends_at(now) for bar in bars), default=now)
        return cls(start=start, end=max(end, start + timedelta(milliseconds=1)))

    @property
    def length(self) -> timedelta:
        return self.end - self.start

    def part(self, since: int | None, until: int | None) -> Window:
        """Return the window between two moments of this whole one, in milliseconds since its start.

        A moment outside this window is moved to its edge. Without a length of a millisecond, this window is returned.
        """
        length = self.length // timedelta(milliseconds=1)
        left, right = min(length, max(0, since or 0)), length if until is None else min(length, max(0, until))
        if right - left < 1 or (left == 0 and right == length):
            return self
        start, end = (self.start + timedelta(milliseconds=moment) for moment in (left, right))
        return Window(start=start, end=end, origin=self.start)

    def span(self) -> tuple[int, int]:
        """Return the start and the end in milliseconds since the start of the whole window."""
        start, end = (moment - (self.origin or self.start) for moment in (self.start, self.end))
        return start // timedelta(milliseconds=1), -(-end // timedelta(milliseconds=1))

    def place(self, moment: datetime) -> float:
        """Return the place of ``moment``, from 0 to 1000.

        Clocks may differ, so a moment outside the window is placed at the nearer edge.
        """
        return round(min(1.0, max(0.0, (moment - self.start) / self.length)) * WIDTH, 1)

    def shows(self, since: datetime, until: datetime) -> bool:
        """Whether a part of a tree is in this window. A whole window shows all of it."""
        return self.origin is None or (until >= self.start and since <= self.end)

    def ticks(self) -> list[Tick]:
        """Return the round times of the axis, from left to right, at most `MOST_TICKS`."""
        start, end = self.span()
        step = next((one for one in STEPS if (end - start) / one <= MOST_TICKS - 1), STEPS[-1])
        moments = range(-(-start // step) * step, end + 1, step)
        places = [round((moment - start) / max(1, end - start) * WIDTH, 1) for moment in moments[:MOST_TICKS]]
        return [Tick(x=x, label=_label(moment, step)) for x, moment in zip(places, moments, strict=False)]


def _label(moment: int, step: int) -> str:
    """Write a moment of the axis in whole units, or in parts of a second if the steps are shorter than one."""
    if step >= SECOND or moment == 0:
        return times.write(timedelta(milliseconds=moment))
    return f"{moment} ms" if moment < SECOND else f"{moment / SECOND:g} s"


def segments(bar: TaskBar, window: Window, now: datetime) -> list[Segment]:
    """Return the parts of a bar from left to right, then its mark. All lie within the window."""
    if bar.replayed_from is not None:
        return _mark("replayed", bar.ends_at(now), window, story(bar, now))
    parts: list[Segment] = []
    since, idle = bar.sent_at, "waiting"
    for attempt in bar.attempts:
        parts += _part(idle, since, attempt.leased_at, window)
        until, tone = attempt.ended_at or now, _tone(attempt, bar)
        words = _outcome(attempt, until)
        parts += _part("leased", attempt.leased_at, until, window, least=LEAST, tone=tone, words=words)
        if attempt.ended_at is None:
            parts += _part("open", attempt.leased_at, until, window, least=LEAST, tone=tone, words=words)
        since, idle = until, "asked" if attempt.end == QUESTION else "gap"
    if bar.resolved_at is None and (not bar.attempts or bar.attempts[-1].ended_at is not None):
        parts += _part("asked" if bar.state == "interrupted" else "waiting", since, now, window, least=LEAST)
        parts += _part("open", since, now, window, least=LEAST, tone=bar.state)
    elif bar.resolved_at is not None and idle != "gap":
        parts += _part(idle, since, bar.resolved_at, window, least=LEAST)
    if bar.attempts and bar.attempts[-1].end == "force_error" and bar.resolved_at is not None:
        parts += _mark("forced", bar.resolved_at, window, "closed as an error by hand")
    return parts


def _tone(attempt: LeaseSpan, bar: TaskBar) -> str:
    """Return how an attempt is drawn: a result in the colour of the task's end, a lease that was lost as lost."""
    if attempt.end in LOST:
        return "lost"
    return {"release": "released", "cancel": "cancelled", QUESTION: "interrupted"}.get(attempt.end, bar.state)


def _outcome(attempt: LeaseSpan, until: datetime) -> str:
    ending = ENDINGS.get(attempt.end, f", {attempt.end.replace('_', ' ')}")
    by = f" by {attempt.by}" if attempt.by else ""
    return f"attempt {attempt.number} took {duration(until - attempt.leased_at)}{ending}{by}"


def _part(
    kind: str, since: datetime, until: datetime, window: Window, *, least: float = 0.0, tone: str = "", words: str = ""
) -> list[Segment]:
    left, right = window.place(since), window.place(until)
    width = max(least, round(right - left, 1))
    if width <= 0 or not window.shows(since, until):
        return []
    words = words or f"{IDLE.get(kind, 'still open')} {duration(until - since)}"
    return [Segment(kind=kind, x=round(min(left, WIDTH - width), 1), width=width, tone=tone, description=words)]


def _mark(kind: str, moment: datetime, window: Window, words: str) -> list[Segment]:
    if not window.shows(moment, moment):
        return []
    return [Segment(kind=kind, x=min(WIDTH - 7, max(7.0, window.place(moment))), description=words)]


def story(bar: TaskBar, now: datetime) -> str:
    """Describe the bar in words, for people who do not see it."""
    if bar.replayed_from is not None:
        return f"answered from the cache, key {bar.key}" if bar.key else "answered from the cache"
    words = []
    since, waiting = bar.sent_at, "waited"
    for attempt in bar.attempts:
        if attempt.leased_at > since:
            words.append(f"{waiting} {duration(attempt.leased_at - since)}")
        until = attempt.ended_at or now
        words.append(_outcome(attempt, until))
        since, waiting = until, "waited for an answer" if attempt.end == QUESTION else "waited"
    if bar.resolved_at is None and (not bar.attempts or bar.attempts[-1].ended_at is not None):
        words.append(f"waits {'for its answer ' if bar.state == 'interrupted' else ''}for {duration(now - since)}")
    return "; ".join(words) or "never leased"


def duration(span: timedelta) -> str:
    """Write a duration as exactly as an eye needs it. Clocks may differ, so a negative duration counts as 0."""
    seconds = max(0.0, span.total_seconds())
    if seconds == 0:
        return "0 s"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else times.write(span)


@dataclass(frozen=True, slots=True, kw_only=True)
class MapBar:
    """A task on the map, in a picture of 1000 by `HEIGHT`."""

    x: float
    y: float
    width: float
    height: float
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a bar of 100: the tasks of one state."""

    state: str
    count: int
    x: float
    width: float


def shares(counts: Sequence[tuple[str, int]]) -> list[Share]:
    """Return the parts of a bar, from left to right, as wide as their counts."""
    total, x, parts = sum(count for _, count in counts), 0.0, []
    for state, count in counts:
        width = 100 * count / total
        parts.append(Share(state=state, count=count, x=round(x, 1), width=round(width, 1)))
        x += width
    return parts


def moves(whole: Window, window: Window) -> Mapping[str, Span | None]:
    """Return the windows to which ``in``, ``out``, ``left`` and ``right`` lead; None where a move changes nothing."""
    end = whole.span()[1]
    start, until = window.span()
    width = until - start
    farther = min(start, width // 2), min(end - until, width // 2)
    wide = max(0, start - width // 2), min(end, until + width // 2)
    return {
        "in": (start + width // 4, until - width // 4) if width >= NEAREST else None,
        "out": wide if wide != (start, until) else None,
        "left": (start - farther[0], until - farther[0]) if farther[0] else None,
        "right": (start + farther[1], until + farther[1]) if farther[1] else None,
    }


def bars_of_map(bars: Sequence[TaskBar], whole: Window, now: datetime) -> list[MapBar]:
    """Return the tasks of the map, each in the first lane that is free at its start; failed tasks come last, on top."""
    free: list[float] = []
    placed: list[tuple[int, float, float, str]] = []
    for number, bar in enumerate(sorted(bars, key=lambda bar: bar.sent_at)[:MOST_BARS]):
        x, end = whole.place(bar.sent_at), whole.place(bar.ends_at(now))
        lane = next((lane for lane, until in enumerate(free) if until <= x), len(free))
        lane = lane if lane < LANES else number % LANES
        free[lane : lane + 1] = [end]
        placed.append((lane, x, end, bar.state))
    tall = min(TALLEST, HEIGHT / max(1, len(free)))
    drawn = [
        MapBar(
            x=min(x, WIDTH - LEAST),
            y=round(lane * tall, 1),
            width=max(LEAST, round(end - x, 1)),
            height=round(tall * 0.7, 1),
            state=state,
        )
        for lane, x, end, state in placed
    ]
    return sorted(drawn, key=lambda bar: bar.state in FAILED)
