"""The web process's own handler of requests."""

from __future__ import annotations

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.urls import ResolverMatch

MOST_KEPT = 512  # paths; the hub has fewer without parameters


class Handler(WSGIHandler):
    """Django's handler, except that it remembers the view of each path without parameters.

    Django would try the patterns of all routes again for each request.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, ResolverMatch] = {}

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        match = self._kept.get(request.path_info)
        if match is None:
            match = super().resolve_request(request)
            if not match.args and not match.kwargs and len(self._kept) < MOST_KEPT:
                self._kept[request.path_info] = match
        request.resolver_match = match
        return match
