from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """A request as HtmxMiddleware hands it on. ``htmx`` is true when a part of a page asks, not the browser."""

    htmx: HtmxDetails
