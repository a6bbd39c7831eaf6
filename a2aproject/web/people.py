"""The sessions of people, on all pages for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2aproject.web.errors import PAGES_FOR_PEOPLE
from dashboard.base import sessions

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

ICON = "/ops/favicon.svg"


class PeopleMiddleware:
    """Ends sessions that are too old before any page reads them, on the dashboard and in Django's admin."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(PAGES_FOR_PEOPLE) and request.path != ICON:
            sessions.keep(request)
        return self.get_response(request)
