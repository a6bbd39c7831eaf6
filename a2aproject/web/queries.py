"""Query strings of Django's admin, which it passes to the database unchecked."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from mailbox.words import json_text


class AdminQueryMiddleware:
    """Answers 400 to admin queries with text that PostgreSQL cannot store, such as NUL: comparing it fails there."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith("/admin/") and json_text.problem_in(dict(request.GET.lists())):
            raise BadRequest
        return self.get_response(request)
