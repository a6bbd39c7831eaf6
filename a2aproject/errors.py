"""What the hub answers when no view did: JSON for machines, Django's own pages for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import DisallowedHost
from django.http import JsonResponse
from django.views import defaults

from dashboard import unheeded

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase

PAGES_FOR_PEOPLE = ("/ops/", "/admin/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if request.path.startswith(PAGES_FOR_PEOPLE):
        return defaults.bad_request(request, exception, _within("400.html", request))
    return error(400, "invalid_request", _malformed(exception))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if request.path.startswith(PAGES_FOR_PEOPLE):
        return defaults.permission_denied(request, exception, _within("403.html", request))
    return error(403, "forbidden", "This is not allowed.")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponseBase:
    if request.path.startswith(PAGES_FOR_PEOPLE):
        return unheeded.answer(request)
    return error(403, "forbidden", "A form was sent without this site's token.")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if request.path.startswith(PAGES_FOR_PEOPLE):
        return defaults.page_not_found(request, exception, _within("404.html", request))
    return error(404, "not_found", "There is no such route. /api/docs/ lists them.")


def server_error(request: HttpRequest) -> HttpResponseBase:
    if request.path.startswith(PAGES_FOR_PEOPLE):
        return defaults.server_error(request)
    return error(500, "internal_error", "The hub failed to answer. Whether the change was made is unknown; repeat it.")


def _within(template: str, request: HttpRequest) -> str:
    """Return of a page for people only the panel when it goes into another page."""
    return f"{template}#panel" if request.headers.get("HX-Request") == "true" else template


def _malformed(exception: Exception) -> str:
    if isinstance(exception, DisallowedHost):
        return "The request's Host is not one this hub answers to; ALLOWED_HOSTS names more."
    return "The request is malformed."


def error(status: int, code: str, message: str) -> HttpResponse:
    return JsonResponse({"kind": "error", "code": code, "message": message}, status=status)
