"""The frame around every page: who looks, as of when, what needs attention, and where one can go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.shortcuts import render
from django.urls import reverse

from dashboard import attention
from dashboard.attention import Count
from dashboard.preferences import Preferences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponse

    from mailbox.callers import Caller

PAGES = (
    ("ops:overview", "Overview"),
    ("ops:leases", "Leases"),
    ("ops:tasks", "Tasks"),
    ("ops:results", "Results"),
    ("ops:agents", "Agents"),
    ("ops:idempotency", "Idempotency"),
    ("ops:audit", "Audit"),
    ("ops:settings", "Settings"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NavItem:
    """One place to go; ``note`` is how much there needs attention, "" for nothing."""

    url: str
    name: str
    is_current: bool
    note: str = ""


def page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    caller: Caller,
    now: datetime,
    status: int = 200,
) -> HttpResponse:
    """Render a whole page with its frame."""
    stale = attention.counted(attention.stale_leases(now))
    frame = {
        **look(request),
        "caller": caller,
        "now": now,
        "stale": stale,
        "nav": _nav(request, stale),
    }
    return render(request, template, {**frame, **context}, status=status)


def look(request: HttpRequest) -> dict[str, Any]:
    """Return what also pages without a person behind them need: the hub's name and the browser's choices."""
    return {
        "hub": settings.A2A_HUB_NAME,
        "public_url": settings.PUBLIC_URL,
        "environment": settings.A2A_ENVIRONMENT,
        "preferences": Preferences.of(request),
    }


def _nav(request: HttpRequest, stale: Count) -> list[NavItem]:
    notes = {"ops:leases": f"{stale} stale" if stale else ""}
    items = []
    for route, name in PAGES:
        url = reverse(route)
        is_current = request.path.startswith(url) if route != "ops:overview" else request.path == url
        items.append(NavItem(url=url, name=name, is_current=is_current, note=notes.get(route, "")))
    return items
