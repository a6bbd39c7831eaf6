from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse

from dashboard.base.frame import NavCounts
from dashboard.base.page import DashboardView
from dashboard.figures import charts, decisions, thresholds, time_charts
from dashboard.figures.charts import HOUR, SPARK
from dashboard.figures.standing import OverviewFigures
from dashboard.figures.thresholds import COUNTED_TO, Count
from dashboard.figures.trends import Trend, rows_of
from dashboard.wording.journal import in_words
from mailbox.inspection import journal
from mailbox.inspection.statistics import backlogs, series

AGENTS_SHOWN = 8
BUSIEST = 50  # agents that are read; those in trouble are mostly among them
ACTS_SHOWN = 5


class Overview(DashboardView):
    """The start page: the state of the hub, and the decisions that wait for a person."""

    def get(self, request: HttpRequest) -> HttpResponse:
        hour = HOUR.start(self.now)
        standing = OverviewFigures.read(self.now)
        busiest = backlogs.busiest(thresholds.limits(self.now), BUSIEST)
        agents = busiest[:AGENTS_SHOWN]
        figures = series.read(
            self.now,
            start=hour - timedelta(hours=1),
            runs_from=hour,
            agents=[agent.pk for agent in agents],
            agents_start=SPARK.start(self.now),
        )
        acts = [in_words(event) for event in journal.newest_by_people(most=ACTS_SHOWN)]
        stale_after = thresholds.stale_after()
        histogram = charts.histogram(standing.ages, stale_after)
        context = {
            "stale_after": stale_after,
            "standing": standing,
            "attention": _attention(standing),
            "findings": decisions.find(standing, figures, self.now, busiest=busiest),
            "trend": Trend.of(figures, self.now),
            "figures": figures,
            "is_late": figures.is_late(self.now),
            **time_charts.context(request.GET.get("range"), self.now, names=time_charts.BESIDE),
            "histogram": histogram,
            "histogram_width": 6 + 60 * len(histogram),
            "rows": rows_of(agents, figures, self.now),
            "acts": acts,
        }
        return self.live("ops/overview.html", context, self._shown(context))

    def _shown(self, context: dict[str, Any]) -> object:
        """Return the figures that can change. Ages do not count: they tick in the browser."""
        found: OverviewFigures = context["standing"]
        rows = [row.version for row in context["rows"]]
        since = (found.waits_since, found.asks_since, found.owed_since)
        now = (found.ages, found.stale_safe, found.queued, found.interrupted, found.pending, since)
        then = context["charts"], context["totals"], context["links"]
        subjects = [(decision.subject, decision.count) for decision in context["findings"].decisions]
        return now, then, rows, subjects, [act.event.pk for act in context["acts"]]


def _attention(standing: OverviewFigures) -> NavCounts:
    """Take the counts of the navigation from the figures of the overview, which has read them."""
    stale = Count(min(standing.stale, COUNTED_TO + 1))
    return NavCounts(stale=stale, pending=standing.pending, paused=standing.paused_in_all, given_up=standing.given_up)
