"""The window of time that a tree shows: the moves to other windows, and the map of all of the tree with the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.figures.waterfall import FAILED, LEAST, WIDTH, TaskBar, Window

LANES = 24  # of the map
HEIGHT = 48
TALLEST = 6.0  # of a bar
MOST_BARS = 300
NEAREST = 8  # milliseconds; a shorter window is not halved
Span = tuple[int, int]  # milliseconds since the start of the tree


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
    total, x, found = sum(count for _, count in counts), 0.0, []
    for state, count in counts:
        width = 100 * count / total
        found.append(Share(state=state, count=count, x=round(x, 1), width=round(width, 1)))
        x += width
    return found


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
    for number, bar in enumerate(sorted(bars, key=lambda one: one.sent_at)[:MOST_BARS]):
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
    return sorted(drawn, key=lambda one: one.state in FAILED)
