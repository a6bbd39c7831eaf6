"""The routes that the hub serves, as the URL configuration lists them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.urls import URLResolver, get_resolver

from mailbox.dialects.base.view import DialectView

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
_CONVERTER = re.compile(r"<\w+:(\w+)>")
_GROUP = re.compile(r"\(\?P(<\w+>)[^)]*\)")
_PUBLIC_FILE = "/static/<file>"  # WhiteNoise serves static files before any route


def _walk(patterns: Iterable[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for entry in patterns:
        route = prefix + _GROUP.sub(r"\1", _CONVERTER.sub(r"<\1>", str(entry.pattern)))
        if isinstance(entry, URLResolver):
            yield from _walk(entry.url_patterns, route)
        else:
            yield route.replace("^", "").removesuffix("$"), entry.callback


def served() -> dict[str, str]:
    """Return the section of the table that holds each route: ``api``, ``pages``, ``admin`` or ``public``."""
    found = {_PUBLIC_FILE: "public"}
    for route, callback in _walk(get_resolver().url_patterns, "/"):
        view = getattr(callback, "cls", None)
        if view is not None and issubclass(view, DialectView):
            found[route] = "api"
        else:
            found[route] = {"ops": "pages", "admin": "admin"}.get(route.split("/")[1], "public")
    return found


def open_to_tokens() -> set[str]:
    """Return the routes that also answer under ``/p/<token>/``."""
    views = {route: getattr(callback, "cls", None) for route, callback in _walk(get_resolver().url_patterns, "/")}
    return {route for route, view in views.items() if getattr(view, "open_to_routes", None)}
