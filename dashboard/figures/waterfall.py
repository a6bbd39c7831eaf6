"""The waterfall of a task tree as geometry: pure functions, in permille of the tree's time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from mailbox.words import times

WIDTH = 1000
LEAST = 2.0  # permille; so even a very short lease is visible
TICKS = 5
ASKED = "asked"  # the end of a lease whose holder put a question to the sender
ENDINGS = {"": ", still held", "result": "", ASKED: ", then asked its sender"}  # others are in the lease's own word
FAILED = ("error", "rejected", "expired")


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
    parent: UUID | None
    name: str
    sender: str
    recipient: str
    kind: str
    state: str
    sent_at: datetime
    resolved_at: datetime | None
    attempts: Sequence[LeaseSpan]
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

    The marks ``forced`` and ``replayed`` have no width.
    """

    kind: str
    x: float
    width: float = 0.0

    @property
    def right(self) -> float:
        return round(self.x + self.width, 1)

    @property
    def arrow(self) -> float:
        """The left end of the arrow of an open end."""
        return max(self.x, self.right - 14)

    @property
    def before(self) -> float:
        return round(self.x - 7, 1)

    @property
    def after(self) -> float:
        return round(self.x + 7, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The time that the picture shows: from the first send to the last end, or to now if a task is open."""

    start: datetime
    end: datetime

    @classmethod
    def around(cls, bars: Iterable[TaskBar], now: datetime) -> Window:
        bars = list(bars)
        start = min((bar.sent_at for bar in bars), default=now)
        end = max((bar.ends_at(now) for bar in bars), default=now)
        return cls(start=start, end=max(end, start + timedelta(milliseconds=1)))

    @property
    def length(self) -> timedelta:
        return self.end - self.start

    def place(self, moment: datetime) -> float:
        """Return the place of ``moment``, from 0 to 1000.

        Clocks may differ, so a moment outside the window is placed at the nearer edge.
        """
        return round(min(1.0, max(0.0, (moment - self.start) / self.length)) * WIDTH, 1)

    def ticks(self) -> list[str]:
        """Return the labels of the axis, from left to right."""
        return [duration(self.length * tick / (TICKS - 1)) for tick in range(TICKS)]


def segments(bar: TaskBar, window: Window, now: datetime) -> list[Segment]:
    """Return the parts of a bar from left to right, then its mark. All lie within the window."""
    if bar.replayed_from is not None:
        return [Segment(kind="replayed", x=min(WIDTH - 7, max(7.0, window.place(bar.ends_at(now)))))]
    found: list[Segment] = []
    since, idle = bar.sent_at, "waiting"
    for attempt in bar.attempts:
        found += _part(idle, since, attempt.leased_at, window)
        until = attempt.ended_at or now
        found += _part("leased", attempt.leased_at, until, window, least=LEAST)
        if attempt.ended_at is None:
            found += _part("open", attempt.leased_at, until, window, least=LEAST)
        since, idle = until, "asked" if attempt.end == ASKED else "gap"
    if bar.resolved_at is None and (not bar.attempts or bar.attempts[-1].ended_at is not None):
        found += _part("asked" if bar.state == "interrupted" else "waiting", since, now, window, least=LEAST)
        found += _part("open", since, now, window, least=LEAST)
    elif bar.resolved_at is not None and idle != "gap":
        found += _part(idle, since, bar.resolved_at, window, least=LEAST)
    if bar.attempts and bar.attempts[-1].end == "force_error" and bar.resolved_at is not None:
        found.append(Segment(kind="forced", x=min(WIDTH - 7, max(7.0, window.place(bar.resolved_at)))))
    return found


def _part(kind: str, since: datetime, until: datetime, window: Window, *, least: float = 0.0) -> list[Segment]:
    left, right = window.place(since), window.place(until)
    width = max(least, round(right - left, 1))
    if width <= 0:
        return []
    return [Segment(kind=kind, x=round(min(left, WIDTH - width), 1), width=width)]


def story(bar: TaskBar, now: datetime) -> str:
    """Describe the bar in words, for people who do not see it."""
    if bar.replayed_from is not None:
        return f"answered from the cache, key {bar.key}" if bar.key else "answered from the cache"
    told = []
    since, waiting = bar.sent_at, "waited"
    for attempt in bar.attempts:
        if attempt.leased_at > since:
            told.append(f"{waiting} {duration(attempt.leased_at - since)}")
        until = attempt.ended_at or now
        ending = ENDINGS.get(attempt.end, f", {attempt.end.replace('_', ' ')}")
        by = f" by {attempt.by}" if attempt.by else ""
        told.append(f"attempt {attempt.number} took {duration(until - attempt.leased_at)}{ending}{by}")
        since, waiting = until, "waited for an answer" if attempt.end == ASKED else "waited"
    if bar.resolved_at is None and (not bar.attempts or bar.attempts[-1].ended_at is not None):
        told.append(f"waits {'for its answer ' if bar.state == 'interrupted' else ''}for {duration(now - since)}")
    return "; ".join(told) or "never leased"


def duration(span: timedelta) -> str:
    """Write a duration as exactly as an eye needs it. Clocks may differ, so a negative duration counts as 0."""
    seconds = max(0.0, span.total_seconds())
    if seconds == 0:
        return "0 s"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else times.write(span)
