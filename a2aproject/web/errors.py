"""Answers to requests that no view answered: JSON for programs, pages for people."""

import sys

from django.core.exceptions import DisallowedHost
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, JsonResponse
from django.template import loader
from django.urls import is_valid_path
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from django.views import defaults
from django_htmx.middleware import HtmxDetails

from dashboard.base import lost_form
from dashboard.base.frame import HtmxRequest
from mailbox.database import outages
from mailbox.words.errors import RateLimitedError

PAGES_FOR_PEOPLE = ("/ops/", "/admin/")
MANUAL, REFERENCE = "/docs/", "/api/docs/"
_UNAVAILABLE = (OperationalError, InterfaceError)
_TYPES = ["text/html", "application/json"]


class UnavailableMiddleware(MiddlewareMixin):
    """Answers 503 with `Retry-After` on pages for people when the database is gone or locked, as the API does."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        is_for_people = request.path.startswith(PAGES_FOR_PEOPLE)
        return _unavailable(request, exception) if is_for_people and isinstance(exception, _UNAVAILABLE) else None


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if request.path.startswith(PAGES_FOR_PEOPLE):
        return defaults.bad_request(request, exception, _within("400.html", request))
    return error(400, "invalid_request", _malformed(exception))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if request.path.startswith(PAGES_FOR_PEOPLE):
        return defaults.permission_denied(request, exception, _within("403.html", request))
    return error(403, "forbidden", "This is not allowed.")


def csrf_failure(request: HtmxRequest, reason: str = "") -> HttpResponseBase:
    if request.path.startswith(PAGES_FOR_PEOPLE):
        return lost_form.answer(request)
    return error(403, "forbidden", "The request lacks this site's form token.")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    if request.path_info == "/":
        return _root(request)
    if meant := _meant(request):
        return HttpResponseRedirect(meant)
    if request.path.startswith(PAGES_FOR_PEOPLE):
        return defaults.page_not_found(request, exception, _within("404.html", request))
    return _no_route()


def too_many_requests(request: HttpRequest, refusal: RateLimitedError) -> HttpResponseBase:
    if request.path.startswith((*PAGES_FOR_PEOPLE, MANUAL, REFERENCE)):
        page = loader.render_to_string(_within("429.html", request), {"request": request})
        response = HttpResponse(page, status=429)
    else:
        response = error(429, "rate_limited", str(refusal))
    response["Retry-After"] = str(refusal.retry_after)
    return response


def server_error(request: HttpRequest) -> HttpResponseBase:
    if request.path.startswith(PAGES_FOR_PEOPLE):
        # Saving the session may fail after the view has answered.
        failure = sys.exception()
        return _unavailable(request, failure) if isinstance(failure, _UNAVAILABLE) else defaults.server_error(request)
    return error(500, "internal_error", "The hub failed. Whether it made the change is unknown; repeat the request.")


def _unavailable(request: HttpRequest, exception: Exception) -> HttpResponse:
    outages.note(exception)
    # The page has no panel: a dialog without a new panel keeps its form and the text typed there.
    page = loader.render_to_string("503.html", {"request": request})
    return HttpResponse(page, status=503, headers={"Retry-After": "1"})


def _root(request: HttpRequest) -> HttpResponse:
    """Redirect browsers to the dashboard. Answer 404 to programs, which could not use its pages."""
    wants_page = request.method in ("GET", "HEAD") and request.get_preferred_type(_TYPES) == "text/html"
    response = HttpResponseRedirect("/ops/") if wants_page else _no_route()
    patch_vary_headers(response, ["Accept"])
    return response


def _meant(request: HttpRequest) -> str:
    """Return the address with the missing last slash if that is a page for people, else ""."""
    meant = f"{request.path_info}/"
    is_page = (
        meant.startswith((*PAGES_FOR_PEOPLE, MANUAL)) and not request.path_info.endswith("/") and is_valid_path(meant)
    )
    return request.get_full_path(force_append_slash=True) if is_page and request.method in ("GET", "HEAD") else ""


def _within(template: str, request: HttpRequest) -> str:
    """Return the template's name. htmx requests get only the page's panel, as it goes into another page."""
    # Not request.htmx: a middleware may fail before HtmxMiddleware has run.
    return f"{template}#panel" if HtmxDetails(request) else template


def _malformed(exception: Exception) -> str:
    if isinstance(exception, DisallowedHost):
        return "The hub does not answer to the Host of this request. Operators can add it to ALLOWED_HOSTS."
    return "The request is malformed."


def _no_route() -> HttpResponse:
    return error(404, "not_found", "There is no such route. /api/docs/ lists all routes.")


def error(status: int, code: str, message: str) -> HttpResponse:
    """Return an error in the hub's own JSON shape: kind, code, message."""
    return JsonResponse({"kind": "error", "code": code, "message": message}, status=status)
