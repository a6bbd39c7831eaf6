from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse

from dashboard import attention, charts, words
from dashboard.access import Page
from mailbox.models import Agent, AuditEvent, Lease, Result, Task

RESULTS_READ = 10_000  # the newest ones; what the chart is made of
HOUR = timedelta(hours=1)


class Overview(Page):
    """Is anything on fire, and what needs a decision."""

    def get(self, request: HttpRequest) -> HttpResponse:
        stale_after = attention.stale_after()
        bands = charts.bands(stale_after)
        ages, safe = Lease.objects.by_age([(band.least, band.most) for band in bands], self.now, stale_after)
        posted = list(Result.objects.order_by("-pk").values_list("posted_at", "status")[:RESULTS_READ])
        series = charts.per_minute(posted, self.now)
        stale = sum(count for band, count in zip(bands, ages, strict=True) if band.least >= stale_after)
        acts = AuditEvent.objects.by_people_lately().newest_first()[:5]
        histogram = charts.histogram(list(zip(bands, ages, strict=True)), stale_after)
        context = {
            "stale_after": stale_after,
            "stale_now": stale,
            "stale_safe": safe,
            "stale_unsafe": stale - safe,
            "in_flight": sum(ages),
            "queued": attention.counted(Task.objects.queued()),
            "pending": attention.counted(Result.objects.pending()),
            "series": series,
            "bars": charts.stacked(series),
            "totals": series.totals,
            "all_results": sum(series.totals.values()),
            "is_cut": len(posted) == RESULTS_READ and posted[-1][0] > self.now - HOUR,
            "results_read": RESULTS_READ,
            "histogram": histogram,
            "histogram_width": 6 + 60 * len(bands),
            "agents": Agent.objects.with_backlog().busiest_first()[:8],
            "acts": [words.in_words(event) for event in acts],
        }
        return self.live("ops/overview.html", context, (ages, str(context["queued"]), posted[:1], len(posted)))
