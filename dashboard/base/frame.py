"""The frame of every page: the person, the hub, the counts that need attention, and the navigation."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django_htmx.middleware import HtmxDetails

from dashboard.base.preferences import Preferences
from dashboard.figures import thresholds
from mailbox.access.callers import Caller
from mailbox.access.people import passwords
from mailbox.inspection.statistics import standing

Attention = Mapping[str, thresholds.Count]  # the counts that need a person's attention, by the route of their place


class Place(NamedTuple):
    """A place of the navigation. ``route`` names its page, its icon and its count.

    The keys ``g`` and then ``key`` go there. ``counts`` is the filter of the rows that its count is of. ``counted`` is
    their number in `standing.Attention`, and ``word`` the word for them.
    """

    route: str
    name: str
    key: str = ""
    counts: str = ""
    counted: str = ""
    word: str = ""


PLACES = (
    Place("overview", "Overview", "o"),
    Place("charts", "Charts"),
    Place("leases", "Leases", "l", counts="state=stale", counted="stale", word="stale"),
    Place("tasks", "Tasks", "t"),
    Place("trees", "Trees"),
    Place("results", "Results", counts="delivery=pending", counted="pending", word="waiting"),
    Place("failures", "Failures", "f"),
    Place("map", "Map", "m"),
    Place("agents", "Agents", "a", counts="state=paused", counted="paused", word="paused"),
    Place("access", "Access"),
    Place("idempotency", "Idempotency"),
    Place("scheduler", "Scheduler"),
    Place("deliveries", "Deliveries", counts="state=disabled", counted="given_up", word="failed"),
    Place("repairs", "Repairs", "p"),
    Place("audit", "Audit", "u"),
    Place("send", "Send a task"),
    Place("health", "Health"),
    Place("settings", "Settings"),
)


class NavItem(NamedTuple):
    """A place as this page shows it. ``note`` is the count that needs attention, in words; "" for none."""

    place: Place
    url: str
    is_current: bool
    note: str


def attention(now: datetime) -> Attention:
    """Read the counts of the navigation in one query."""
    counts = standing.attention(now, stale_after=thresholds.stale_after(), most=thresholds.COUNTED_TO)
    return attention_of(counts._asdict())


def attention_of(numbers: Mapping[str, int]) -> Attention:
    """Return the counts of the navigation by route, from numbers that have the names of `standing.Attention`."""
    return {place.route: thresholds.Count(numbers[place.counted]) for place in PLACES if place.counted}


def notes_of(counts: Attention) -> dict[str, str]:
    """Return the counts in words, by route. A count of 0 has no words."""
    return {place.route: f"{counts[place.route]} {place.word}" for place in PLACES if counts.get(place.route)}


def page(
    request: HttpRequest,
    template: str,
    context: Mapping[str, Any],
    *,
    caller: Caller,
    now: datetime,
    status: int = 200,
) -> HttpResponse:
    """Render a page with its frame. For a part, ``name.html#part``, render the part alone.

    ``attention`` in the context are the counts of the navigation; without it, the frame reads them.
    """
    frame = {**look(request), "caller": caller, "now": now, "table": request.GET.get("table")}
    if "#" not in template:
        counts: Attention = context.get("attention") or attention(now)
        frame["has_first_password"] = isinstance(request.user, User) and passwords.is_first(request.user)
        frame |= {"stale": counts["leases"], "nav": list(_nav(request, notes_of(counts)))}
    return render(request, template, {**frame, **context}, status=status)


def look(request: HttpRequest) -> dict[str, Any]:
    """Return the context of pages without a signed-in person: the hub's name and the browser's preferences."""
    return {
        "hub": settings.A2A_HUB_NAME,
        "environment": settings.A2A_ENVIRONMENT,
        "preferences": Preferences.of(request),
    }


def _nav(request: HttpRequest, notes: Mapping[str, str]) -> Iterator[NavItem]:
    for place in PLACES:
        url = reverse(f"ops:{place.route}")
        is_current = request.path.startswith(url) if place.route != "overview" else request.path == url
        yield NavItem(place=place, url=url, is_current=is_current, note=notes.get(place.route, ""))


class HtmxRequest(HttpRequest):
    """A request behind HtmxMiddleware. ``htmx`` is true for a request that htmx made for a part of a page."""

    htmx: HtmxDetails
