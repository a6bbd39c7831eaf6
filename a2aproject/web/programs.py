"""The requests of programs, which need no middleware made for people. This module alone decides which they are.

Sessions, form tokens, messages, htmx and sign-ins serve people's browsers. An API key authenticates a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from csp.middleware import CSPMiddleware
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware

Handler = Callable[[HttpRequest], HttpResponseBase]

# How the paths of programs begin. Every other path has all middlewares, also a path of no view.
PATHS = (
    *("/a2a/", "/capabilities/", "/audit/", "/.well-known/", "/api/agents", "/api/tasks", "/api/v1/"),
    *("/agents/", "/tenants/", "/mcp"),
    *("/healthz", "/readyz", "/metrics"),
)


class ProgramsMiddleware:
    """Takes a program's request past all later middlewares, straight to its view.

    The answer carries the headers that these middlewares add to every answer. A request with a foreign ``Host`` takes
    the whole way, where it is refused. ``process_view`` and ``process_exception`` of all middlewares still run.
    """

    def __init__(self, get_response: Handler) -> None:
        self._through_all = get_response
        self._view = _innermost(get_response)
        self._headers: dict[bool, Mapping[str, tuple[str, str]]] = {}  # by whether the request came over https

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(PATHS) or not _is_for_this_host(request):
            return self._through_all(request)
        response = self._view(request)
        if isinstance(response, HttpResponse):  # no stream
            response.headers.setdefault("Content-Length", str(len(response.content)))
        # The class of headers would check and decode each value again.
        response.headers._store = {**self._headers_for(request), **response.headers._store}
        return response

    def _headers_for(self, request: HttpRequest) -> Mapping[str, tuple[str, str]]:
        is_secure = request.is_secure()
        if is_secure not in self._headers:
            self._headers[is_secure] = _common_headers(request)
        return self._headers[is_secure]


def _innermost(handler: Handler) -> Handler:
    """Return the handler that runs the view, behind all middlewares of ``handler``."""
    while hasattr(middleware := handler.__wrapped__, "get_response"):  # type: ignore[attr-defined]
        handler = middleware.get_response
    return handler


def _is_for_this_host(request: HttpRequest) -> bool:
    try:
        request.get_host()
    except DisallowedHost:
        return False
    return True


def _common_headers(request: HttpRequest) -> Mapping[str, tuple[str, str]]:
    """Return the headers that the later middlewares add to an empty answer, as the answer holds them."""
    handler: Any = _empty
    for middleware in (CSPMiddleware, XFrameOptionsMiddleware, SecurityMiddleware):
        handler = middleware(handler)
    return dict(handler(request).headers._store)


def _empty(request: HttpRequest) -> HttpResponse:
    response = HttpResponse()
    del response.headers["Content-Type"]
    return response
