"""Requests to Django's admin, which passes queries to the database unchecked and answers any method."""

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.utils.cache import add_never_cache_headers

from mailbox.words import json_text

PREFIX = "/admin/"
METHODS = ("GET", "HEAD", "POST")


class AdminMiddleware:
    """Answers 405 to other methods than those of a browser, and lets no cache keep a page.

    A query with text that PostgreSQL cannot store, such as NUL, is answered with 400: comparing it fails there.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(PREFIX):
            return self.get_response(request)
        if request.method not in METHODS:
            return HttpResponseNotAllowed(METHODS)
        if json_text.problem_in(dict(request.GET.lists())):
            raise BadRequest
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response
