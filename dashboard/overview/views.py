from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

from django.http import HttpRequest, HttpResponse

from dashboard import time_charts
from dashboard.agents import rows_of
from dashboard.base import frame
from dashboard.base.frame import Attention
from dashboard.base.page import DashboardView
from dashboard.figures import plots, thresholds
from dashboard.overview import decisions
from dashboard.wording.journal import in_words
from mailbox.inspection import journal
from mailbox.inspection.statistics import backlogs, series

AGENTS_SHOWN = 8
BUSIEST = 50  # agents that are read; those in trouble are mostly among them
ACTS_SHOWN = 5


class Trend(NamedTuple):
    """The results of the last hour beside those of the hour before."""

    last: series.Sum
    before: series.Sum
    minutes: float  # length of the last hour, whose newest minute still runs
    since: datetime

    @classmethod
    def of(cls, figures: series.Figures, now: datetime) -> Self:
        since = plots.HOUR.start(now)
        hour_before = since - timedelta(hours=1)
        return cls(
            last=series.Sum.of(point for point in figures.hub if point.minute >= since),
            before=series.Sum.of(point for point in figures.hub if hour_before <= point.minute < since),
            minutes=(now - since) / timedelta(minutes=1),
            since=since,
        )

    @property
    def per_minute(self) -> float:
        return self.last.results / self.minutes

    @property
    def change(self) -> int | None:
        """The growth of results over the hour before, in per cent; None if that hour had none."""
        return round(100 * (self.per_minute * 60 / self.before.results - 1)) if self.before.results else None

    @property
    def error_share(self) -> float | None:
        """The errors in per cent of the results; None without results."""
        return 100 * self.last.error / self.last.results if self.last.results else None


class Overview(DashboardView):
    """The start page: the state of the hub, and the decisions that wait for a person."""

    def get(self, request: HttpRequest) -> HttpResponse:
        hour = plots.HOUR.start(self.now)
        standing = decisions.OverviewFigures.read(self.now)
        busiest = backlogs.busiest(thresholds.limits(self.now), BUSIEST)
        agents = busiest[:AGENTS_SHOWN]
        figures = series.read(
            self.now,
            start=hour - timedelta(hours=1),
            runs_from=hour,
            agents=[agent.pk for agent in agents],
            agents_start=plots.SPARK.start(self.now),
        )
        acts = [in_words(event) for event in journal.newest_by_people(most=ACTS_SHOWN)]
        stale_after = thresholds.stale_after()
        bars = decisions.histogram(standing.ages, stale_after)
        context = {
            "stale_after": stale_after,
            "standing": standing,
            "attention": _attention(standing),
            "findings": decisions.find(standing, figures, self.now, busiest=busiest),
            "trend": Trend.of(figures, self.now),
            "figures": figures,
            "is_late": figures.is_late(self.now),
            **time_charts.context_of(request.GET.get("range"), self.now, names=time_charts.BESIDE),
            "histogram": bars,
            "histogram_width": 6 + 60 * len(bars),
            "rows": rows_of(agents, figures, self.now),
            "acts": acts,
        }
        return self.live("ops/overview.html", context, self._shown(context))

    def _shown(self, context: dict[str, Any]) -> object:
        """Return the figures that can change. Ages do not count: they tick in the browser."""
        standing: decisions.OverviewFigures = context["standing"]
        rows = [row.version for row in context["rows"]]
        figures = standing.figures
        since = figures.waits_since, figures.asks_since, figures.owed_since
        now = standing.ages, figures.stale_safe, figures.queued, figures.interrupted, figures.pending, since
        then = context["charts"], context["totals"].counts, context["peak"], context["links"]
        subjects = [(decision.subject, decision.count) for decision in context["findings"].decisions]
        return now, then, rows, subjects, [act.event.pk for act in context["acts"]]


def _attention(standing: decisions.OverviewFigures) -> Attention:
    """Take the counts of the navigation from the figures of the overview, which has read them."""
    stale, figures = min(standing.stale, thresholds.COUNTED_TO + 1), standing.figures
    return frame.attention_of({**figures._asdict(), "stale": stale})
