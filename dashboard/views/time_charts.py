from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from dashboard.base.page import DashboardView
from dashboard.figures import time_charts
from dashboard.figures.plots import WIDTH
from dashboard.wording.journal import in_words
from mailbox.inspection import history
from mailbox.models import Agent
from mailbox.verbs.agents import finding


class Charts(DashboardView):
    """The work of the hub, or of one agent, over time. Repairs, pauses and retries are marked."""

    def get(self, request: HttpRequest) -> HttpResponse:
        name = request.GET.get("agent")
        agent = finding.typed(self.caller, name) if name else None
        context = time_charts.context(request.GET.get("range"), self.now, agent.pk if agent else None)
        context |= {
            "agent": agent,
            "among": f"q=to:{agent.display}&" if agent else "",
            "marks": self._marks(context, agent),
        }
        shown = context["charts"], [(event.pk, x) for event, x, _ in context["marks"]]
        return self.live("ops/charts.html", context, shown)

    def _marks(self, context: dict[str, Any], agent: Agent | None) -> list[tuple[Any, float, str]]:
        """Return the marked events with their places in the plane and their words."""
        start, end = context["slots"][0].start, context["ends"]
        found = history.marks(start, self.now, agent.display if agent else None)
        return [(one, round(WIDTH * ((one.at - start) / (end - start)), 1), in_words(one).what) for one in found]
