from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from dashboard.base.page import DashboardView
from mailbox.inspection.health import checks, report


class HealthPage(DashboardView):
    """The health of the hub: every check with its own status, so no check hides another."""

    def get(self, request: HttpRequest) -> HttpResponse:
        seen = report.look(self.now)
        has_sizes = any(table.size is not None for table in seen.tables)
        return self.live("ops/health.html", {"seen": seen, "sentence": _sentence(seen), "has_sizes": has_sizes}, seen)


class HealthText(DashboardView):
    """The health of the hub as plain text, to paste into a report."""

    def get(self, request: HttpRequest, *args: Any) -> HttpResponseBase:
        lines = _lines(report.look(self.now))
        stamp = f"{timezone.localtime(self.now):%Y-%m-%d %H:%M:%S %Z}"
        text = "\n".join([f"As of {stamp}", *lines, ""])
        return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _sentence(seen: report.Health) -> str:
    bad = [check.name for check in seen.checks if check.word is not checks.HealthStatus.OK]
    if not bad:
        return f"All {len(seen.checks)} checks passed"
    return f"{len(bad)} of {len(seen.checks)} checks need attention: {', '.join(bad)}"


def _lines(seen: report.Health) -> Iterator[str]:
    yield f"The hub is {seen.word}."
    yield ""
    for check in seen.checks:
        yield f"{check.word:<9} {check.name:<19} {check.saw}{f' ({check.note})' if check.note else ''}"
    yield ""
    yield from (f"{name:<10} {version}" for name, version in seen.versions.items())
    yield ""
    yield f"Database, in bytes: {seen.size}"
    for table in seen.tables:
        yield f"{table.name:<30} rows about {table.rows}, bytes {table.size}"
    yield ""
    yield "Changed settings:"
    yield from (f"{one.name}={'(secret)' if one.value is None else one.value}" for one in seen.changed)
