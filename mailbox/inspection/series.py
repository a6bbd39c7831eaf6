"""What happened when, minute by minute: the roll-ups, and the rows themselves where there is none yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from mailbox.models import Result, RollUp
from mailbox.models.result import ResultQuerySet
from mailbox.models.rollup import MINUTE, floor
from mailbox.words.latencies import Latencies

SAMPLED = 2_000  # the newest results not rolled up, read one by one: of these it is known how long they took
COUNTED = 100_000  # and this many are counted, should the cluster have stood still
LATE = timedelta(minutes=5)  # more than the cluster ever lags while it runs
STATUSES = ("ok", "partial", "error")


class Point(NamedTuple):
    """What became of the tasks of one agent in one minute; ``runs`` is the text of `Latencies`."""

    minute: datetime
    ok: int = 0
    partial: int = 0
    error: int = 0
    replayed: int = 0
    runs: str = "{}"

    @property
    def results(self) -> int:
        return self.ok + self.partial + self.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Points of the whole hub and of the agents that were asked for, by primary key, in no order.

    ``through`` is the moment up to which all is rolled up, None before the first roll-up. ``is_cut`` says that more
    than `COUNTED` results have not been rolled up, and that the older ones of these are missing.
    """

    hub: Sequence[Point]
    agents: Mapping[int, Sequence[Point]]
    through: datetime | None
    is_cut: bool

    def is_late(self, now: datetime) -> bool:
        """Whether the cluster seems to have stopped rolling up."""
        return self.through is not None and now - self.through > LATE


@dataclass(slots=True)
class Sum:
    """Points added up."""

    ok: int = 0
    partial: int = 0
    error: int = 0
    replayed: int = 0
    runs: Latencies = field(default_factory=Latencies)

    @classmethod
    def of(cls, parts: Iterable[Point | Sum]) -> Sum:
        found = cls()
        for part in parts:
            found += part
        return found

    def count(self, other: Point | Sum) -> None:
        """Add the numbers alone."""
        self.ok += other.ok
        self.partial += other.partial
        self.error += other.error
        self.replayed += other.replayed

    def __iadd__(self, other: Point | Sum) -> Self:
        self.count(other)
        if isinstance(other, Sum):
            self.runs += other.runs
        elif len(other.runs) > len("{}"):
            self.runs += Latencies(other.runs)
        return self

    @property
    def results(self) -> int:
        return self.ok + self.partial + self.error

    @property
    def p50(self) -> timedelta | None:
        return self.runs.quantile(0.5)

    @property
    def p95(self) -> timedelta | None:
        return self.runs.quantile(0.95)

    @property
    def p99(self) -> timedelta | None:
        return self.runs.quantile(0.99)


def read(
    now: datetime,
    *,
    start: datetime,
    runs_from: datetime,
    agents: Collection[int] = (),
    agents_start: datetime | None = None,
    sampled: bool = True,
) -> Figures:
    """Return the points of the hub from ``start`` and of ``agents`` from ``agents_start``, None for the same.

    Points before ``runs_from`` come without their latencies, which take longest to read; so do, unless ``sampled``,
    those that are not rolled up yet. One query, and one more for the sample.
    """
    agents_start = agents_start or start
    live = Result.objects.not_rolled_up(min(start, agents_start), COUNTED)
    first, *parts = RollUp.objects.for_results(start, agents, agents_start, runs_from)
    rolled: dict[tuple[int | None, datetime], Point] = {}
    besides: list[tuple[int, Point]] = []
    through, mark, newest = None, 0, 0
    for agent, is_open, last_result, *told in first.union(*parts, live.by_minute(), all=True):
        point = Point(*told)
        if is_open is None:
            newest = max(newest, last_result)
        if is_open is not False:
            besides.append((agent, point))
            continue
        rolled[agent, point.minute] = point
        if agent is None and last_result is not None and (through is None or point.minute + MINUTE > through):
            through, mark = point.minute + MINUTE, last_result
    besides += _sample(live) if sampled else ()
    return Figures(
        hub=[
            *(point for (agent, minute), point in rolled.items() if agent is None and minute >= start),
            *(point for _, point in besides),
        ],
        agents=_by_agent(agents, [*((agent, point) for (agent, _), point in rolled.items()), *besides]),
        through=through,
        is_cut=newest - mark > COUNTED,
    )


def _by_agent(agents: Collection[int], found: Iterable[tuple[int | None, Point]]) -> dict[int, list[Point]]:
    points: dict[int, list[Point]] = {agent: [] for agent in agents}
    for agent, point in found:
        if agent in points:
            points[agent].append(point)
    return points


def _sample(live: ResultQuerySet) -> list[tuple[int, Point]]:
    """Return how long the newest of these results took, in points that count nothing."""
    runs: defaultdict[tuple[int, datetime], Latencies] = defaultdict(Latencies)
    for _, posted_at, recipient, _, _, leased_at in live.for_series().order_by("-pk")[:SAMPLED]:
        if leased_at is not None:
            runs[recipient, floor(posted_at)].note(posted_at - leased_at)
    return [(agent, Point(minute, runs=one.as_text())) for (agent, minute), one in runs.items()]
