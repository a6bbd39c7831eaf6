"""Counts by minute, for charts: from the roll-ups, and from the rows that have no roll-up yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from mailbox.database import compiled
from mailbox.models import Result, RollUp
from mailbox.models.rollup import FINE, MINUTE, floor
from mailbox.words.latencies import Latencies

SAMPLED = 2_000  # the newest results without a roll-up whose latencies are read
COUNTED = 100_000  # results without a roll-up that are counted, if the cluster has stopped
LATE = timedelta(minutes=5)  # more than a running cluster ever lags
STATUSES = ("ok", "partial", "error")


class Point(NamedTuple):
    """The counts of one agent in one minute. ``runs`` is the text of `Latencies`."""

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
    """The points of the hub and of the requested agents, by primary key, in no order.

    ``through`` is the moment up to which all rows are rolled up, None before the first roll-up. ``is_cut`` is whether
    the older results without a roll-up are missing, because there are more than `COUNTED`.
    """

    hub: Sequence[Point]
    agents: Mapping[int, Sequence[Point]]
    through: datetime | None
    is_cut: bool

    def is_late(self, now: datetime) -> bool:
        """Whether the cluster seems to have stopped making roll-ups."""
        return self.through is not None and now - self.through > LATE


@dataclass
class Sum:
    """The sum of points. ``texts`` are the latencies of each."""

    ok: int = 0
    partial: int = 0
    error: int = 0
    replayed: int = 0
    texts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, points: Iterable[Point]) -> Sum:
        total = cls()
        for point in points:
            total.count(point)
            total.texts.append(point.runs)
        return total

    def count(self, point: Point) -> None:
        """Add the counts, without the latencies."""
        self.ok += point.ok
        self.partial += point.partial
        self.error += point.error
        self.replayed += point.replayed

    @cached_property
    def runs(self) -> Latencies:
        return Latencies.of(self.texts)

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
    """Return the points of the hub from ``start``, and of ``agents`` from ``agents_start``, by default the same.

    Points before ``runs_from`` have no latencies, because reading them takes longest. Unless ``sampled``, points of
    rows without a roll-up have none either. One query, and one more for the sample.
    """
    agents_start = agents_start or start
    fine = max(start, runs_from - FINE)
    number, pks = compiled.many(list(agents))
    moments = {"start": start, "agents_start": agents_start, "runs_from": runs_from, "fine": fine}
    since = min(start, agents_start)
    hub: dict[datetime, Point] = {}  # a row can be in two parts of the query
    by_agent: dict[int, list[Point]] = {agent: [] for agent in agents}
    besides: list[tuple[int, Point]] = []
    through, mark, newest = None, 0, 0
    for agent, is_open, last_result, *told in _points(number, fine > start, COUNTED).rows(
        since=since, **moments, **pks
    ):
        point = Point._make(told)
        if is_open is not False:
            besides.append((agent, point))
            newest = max(newest, last_result) if is_open is None else newest
        elif agent is not None:
            by_agent[agent].append(point)
        else:
            hub[point.minute] = point
            if last_result is not None and (through is None or point.minute + MINUTE > through):
                through, mark = point.minute + MINUTE, last_result
    besides += _sample(since) if sampled else ()
    for agent, point in besides:
        if agent in by_agent:
            by_agent[agent].append(point)
    return Figures(
        hub=[*(point for minute, point in hub.items() if minute >= start), *(point for _, point in besides)],
        agents=by_agent,
        through=through,
        is_cut=newest - mark > COUNTED,
    )


@compiled.once
def _points(number: int, has_hours: bool, counted: int) -> Any:
    """Return the query of the roll-ups and of the results without one, for so many agents."""
    start, agents_start, runs_from, fine, since = (
        compiled.Parameter(name) for name in ("start", "agents_start", "runs_from", "fine", "since")
    )
    first, *parts = RollUp.objects.for_results(
        start, compiled.keys(number), agents_start, runs_from, fine if has_hours else None
    )
    return first.union(*parts, Result.objects.not_rolled_up(since, counted).by_minute(), all=True)


@compiled.once
def _sampled(most: int, counted: int) -> Any:
    return Result.objects.not_rolled_up(compiled.Parameter("since"), counted).for_series().order_by("-pk")[:most]


def _sample(since: datetime) -> list[tuple[int, Point]]:
    """Return the latencies of the newest results without a roll-up, in points whose counts are 0."""
    runs: defaultdict[tuple[int, datetime], Latencies] = defaultdict(Latencies)
    for _, posted_at, recipient, _, _, leased_at in _sampled(SAMPLED, COUNTED).rows(since=since):
        if leased_at is not None:
            runs[recipient, floor(posted_at)].note(posted_at - leased_at)
    return [(agent, Point(minute, runs=one.as_text())) for (agent, minute), one in runs.items()]
