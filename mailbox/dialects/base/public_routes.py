"""``/p/<token>/...``: public routes, for clients that cannot authenticate but take any base URL.

This is the first middleware. All code after it sees the path without the token, or a path that no view answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, resolve

from mailbox.access.credentials import public_routes
from mailbox.database import outages
from mailbox.dialects.base.http_errors import UnavailableError
from mailbox.dialects.base.view import ROUTE_ATTRIBUTE, ROUTE_PATH_ATTRIBUTE, DialectView

_PREFIXED = re.compile(r"/p/([^/]*)(.*)", re.DOTALL)
PREFIX = "/p/"  # of a public route; no view answers at it
# A cache would keep the address, and would answer after the route's revocation.
HEADERS = {"Referrer-Policy": "no-referrer", "Cache-Control": "private, no-store", "Vary": "*"}
# Headers in which a client or a proxy may have left a copy of the address.
_COPIES = ("HTTP_REFERER", "HTTP_X_REQUEST_ID", "HTTP_X_ORIGINAL_URL", "HTTP_X_FORWARDED_URI", "RAW_URI", "REQUEST_URI")


class RouteMiddleware:
    """Take the token off the path and note its route on the request, for views that are open to public routes.

    An unknown token, a revoked token and a path that is not open all answer as a path that does not exist.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        prefixed = _PREFIXED.fullmatch(request.path_info)
        if prefixed is None:
            return self.get_response(request)
        token, path = prefixed[1], "/" + prefixed[2].lstrip("/")
        _forget(request, token)
        response = self._answer(request, token, path)
        for name, value in HEADERS.items():
            response[name] = value
        return response

    def _answer(self, request: HttpRequest, token: str, path: str) -> HttpResponse:
        try:
            route = public_routes.recognise(token)
        except (OperationalError, InterfaceError) as error:
            outages.note(error)
            return _unavailable()
        if route is None or not _is_open(path):
            readdress(request, PREFIX)
        else:
            readdress(request, path)
            setattr(request, ROUTE_ATTRIBUTE, route)
            setattr(request, ROUTE_PATH_ATTRIBUTE, f"{PREFIX}{token}")
        return self.get_response(request)


def _is_open(path: str) -> bool:
    try:
        view = getattr(resolve(path).func, "cls", None)
    except Resolver404:
        return False
    return isinstance(view, type) and issubclass(view, DialectView) and bool(view.open_to_routes)


def readdress(request: HttpRequest, path: str) -> None:
    """Let the request ask for ``path``, without a redirect."""
    request.path_info = request.META["PATH_INFO"] = path
    request.path = request.META.get("SCRIPT_NAME", "").rstrip("/") + path


def _forget(request: HttpRequest, token: str) -> None:
    for name in _COPIES:
        if token and token in request.META.get(name, ""):
            del request.META[name]


def _unavailable() -> HttpResponse:
    error = UnavailableError()
    body = {"kind": "error", "code": error.code, "message": error.message}
    return JsonResponse(body, status=503, headers={"Retry-After": "1"})
