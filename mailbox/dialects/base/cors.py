"""Pages of other origins: which of them may call a door. Source: Fetch, "CORS protocol"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from django.conf import settings
from django.http.response import HttpResponseBase


def admit(
    sent: Mapping[str, str], response: HttpResponseBase, *, methods: Iterable[str], headers: Iterable[str]
) -> None:
    """Let a browser show the response to a page of `A2A_CORS_ORIGINS`, and to no other page."""
    if settings.A2A_CORS_ORIGINS:
        response.headers["Vary"] = "Origin"
    origin = sent.get("Origin")
    if origin is not None and origin in settings.A2A_CORS_ORIGINS:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Allow-Headers"] = ", ".join(headers)
        response.headers["Access-Control-Allow-Methods"] = ", ".join(methods)


def is_foreign(sent: Mapping[str, str]) -> bool:
    """Whether a request comes from a page that is neither the hub's own nor one of `A2A_CORS_ORIGINS`."""
    origin = sent.get("Origin")
    own = urlsplit(settings.PUBLIC_URL)
    return origin is not None and origin not in (f"{own.scheme}://{own.netloc}", *settings.A2A_CORS_ORIGINS)
