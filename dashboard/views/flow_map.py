from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse

from dashboard.base.page import DashboardView
from dashboard.figures import flow_map
from dashboard.figures.charts import Range
from dashboard.forms import choices
from mailbox.inspection.statistics import pairs

RANGES = {
    "1h": Range(name="1h", span=timedelta(hours=1), step=timedelta(minutes=10)),
    "24h": Range(name="24h", span=timedelta(hours=24), step=timedelta(hours=1)),
}


class Map(DashboardView):
    """The volumes between agents, as a picture and as a table."""

    def get(self, request: HttpRequest) -> HttpResponse:
        scale = RANGES[choices.one_of("range", request.GET.get("range"), RANGES, "1h")]
        span = scale.step // timedelta(minutes=1)
        start = pairs.floor(self.now, span) - scale.step * (scale.bars - 1)
        found = pairs.read(start, span=span)
        drawn = flow_map.draw(found.pairs, pairs.with_backlog(flow_map.busiest(found.pairs)))
        context = {
            "map": drawn,
            "is_cut": found.is_cut,
            "since": start,
            "sent": sum(pair.sent for pair in found.pairs),
            "scale": scale,
            "ranges": RANGES.values(),
            "shows": choices.one_of("view", request.GET.get("view"), ["map", "table"], "map"),
            "most": flow_map.AGENTS,
        }
        return self.live("ops/map.html", context, drawn.version)
