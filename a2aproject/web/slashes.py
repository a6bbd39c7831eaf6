"""Addresses of clients that append a path to a base URL with a slash at its end."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from rest_framework.views import APIView

from mailbox.dialects.base import public_routes


class LeadingSlashesMiddleware:
    """Reads several slashes at the start of an API path as one, without a redirect.

    Paths of pages for people keep theirs: a proxy may guard these paths by their spelling.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith("//"):
            path = "/" + request.path_info.lstrip("/")
            if path.startswith(public_routes.PREFIX) or _is_api(path):
                public_routes.readdress(request, path)
        return self.get_response(request)


def _is_api(path: str) -> bool:
    try:
        view = getattr(resolve(path).func, "cls", None)
    except Resolver404:
        return False
    return isinstance(view, type) and issubclass(view, APIView)
