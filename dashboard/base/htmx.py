from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """A request behind HtmxMiddleware. ``htmx`` is true for a request that htmx made for a part of a page."""

    htmx: HtmxDetails
