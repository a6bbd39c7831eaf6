from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property

from dashboard.base.saved_views import SavablePage
from dashboard.figures import time_charts
from dashboard.figures.plots import WIDTH
from dashboard.figures.time_charts import Mark
from dashboard.figures.trends import range_named
from dashboard.templatetags.routes import path_of
from dashboard.wording.journal import in_words
from mailbox.access.agents import directory
from mailbox.inspection.statistics import history
from mailbox.models import Agent


class Charts(SavablePage):
    """The work of the hub, or of one agent, over time. Repairs, pauses and retries are marked."""

    name = "charts"

    def chosen_values(self) -> dict[str, str]:
        agent, values = self._agent, {"range": range_named(self.request.GET.get("range")).name}
        return {**values, "agent": agent.display} if agent else values

    @cached_property
    def _agent(self) -> Agent | None:
        name = self.request.GET.get("agent")
        return directory.typed(self.caller, name) if name else None

    def get(self, request: HttpRequest) -> HttpResponse:
        agent = self._agent
        context = time_charts.context(request.GET.get("range"), self.now, agent.pk if agent else None)
        context |= {
            "agent": agent,
            "among": f"q=to:{agent.display}&" if agent else "",
            "marks": self._marks(context, agent),
            **self.saved_views(),
        }
        hits = [[(hit.query, hit.words) for hit in chart.hits] for chart in context["charts"]]
        shown = context["ends"], hits, [(mark.url, mark.x) for mark in context["marks"]]
        return self.live("ops/charts.html", context, shown)

    def _marks(self, context: dict[str, Any], agent: Agent | None) -> list[Mark]:
        start, end = context["slots"][0].start, context["ends"]
        found = history.marks(start, self.now, agent.display if agent else None)
        return [
            Mark(
                x=round(WIDTH * ((event.at - start) / (end - start)), 1),
                words=in_words(event).what,
                url=path_of("ops:audit-event", event.pk),
            )
            for event in found
        ]
