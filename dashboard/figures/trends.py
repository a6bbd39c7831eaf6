"""How the hub and its agents did lately, as pages tell it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dashboard.figures import charts
from dashboard.figures.charts import HOUR, RANGES, SPARK, Bar, Bucket, Range
from dashboard.forms import choices
from mailbox.inspection import series
from mailbox.inspection.series import Figures, Point, Sum
from mailbox.models import Agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """The results of the last hour beside those of the hour before."""

    last: Sum
    before: Sum
    minutes: float  # that the last hour has lasted so far: its newest minute still runs
    since: datetime

    @classmethod
    def of(cls, figures: Figures, now: datetime) -> Trend:
        since = HOUR.start(now)
        hour_before = since - timedelta(hours=1)
        return cls(
            last=Sum.of(point for point in figures.hub if point.minute >= since),
            before=Sum.of(point for point in figures.hub if hour_before <= point.minute < since),
            minutes=(now - since) / timedelta(minutes=1),
            since=since,
        )

    @property
    def per_minute(self) -> float:
        return self.last.results / self.minutes

    @property
    def change(self) -> int | None:
        """By how many per cent there are more results than in the hour before; None when there were none."""
        return round(100 * (self.per_minute * 60 / self.before.results - 1)) if self.before.results else None

    @property
    def error_share(self) -> float | None:
        """The errors in per cent of the results; None when there are none."""
        return 100 * self.last.error / self.last.results if self.last.results else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRow:
    """An agent with how it did in the last hour, and its results of the last two as small bars."""

    agent: Any
    hour: Sum
    buckets: Sequence[Bucket]
    posted: str  # the filter of the last hour's results

    @property
    def bars(self) -> Sequence[Bar]:
        return charts.sparkline(self.buckets)

    @property
    def results(self) -> int:
        """How many results the bars stand for."""
        return sum(bucket.sum.results for bucket in self.buckets)

    @property
    def version(self) -> object:
        """What changes when the row looks different, but for the ages, which tick by themselves."""
        agent, hour = self.agent, self.hour
        standing = (agent.pk, agent.queued, agent.leased, agent.waits_since, agent.is_quiet, agent.holds_stale)
        return standing, agent.paused_at, hour.results, hour.error, self.results, agent.last_called_at()

    @property
    def error_share(self) -> float | None:
        return 100 * self.hour.error / self.hour.results if self.hour.results else None


def rows_of(agents: Sequence[Agent], figures: Figures, now: datetime) -> list[AgentRow]:
    """Return the agents with their figures."""
    since = HOUR.start(now)
    return [
        AgentRow(
            agent=agent,
            hour=Sum.of(point for point in points if point.minute >= since),
            buckets=charts.buckets(points, SPARK, now),
            posted=charts.posted(since),
        )
        for agent in agents
        for points in [figures.agents[agent.pk]]
    ]


def throughput(points: Iterable[Point], asked: str | None, now: datetime) -> dict[str, Any]:
    """Return what the chart of results shows, over the range of this name, an hour for none."""
    scale = range_named(asked)
    buckets = charts.buckets(points, scale, now)
    return {
        "scale": scale,
        "ranges": RANGES,
        "buckets": buckets,
        "posted": charts.posted(buckets[0].start),
        "totals": Sum.of(bucket.sum for bucket in buckets),
        "peak": max(bucket.sum.results for bucket in buckets),
        "chart": list(zip(buckets, charts.stacked(buckets), strict=True)),
        "counted": series.COUNTED,
    }


def range_named(asked: str | None) -> Range:
    """Return the range of this name, an hour for none; raise `InvalidRequestError`."""
    named = {one.name: one for one in RANGES}
    return named[choices.one_of("range", asked, named, HOUR.name)]
