"""Every request: its id, its time, its route and its caller, for the metrics and the log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from a2aproject.web import counters, log
from a2aproject.web.log import NO_ROUTE, Answered
from mailbox.dialects.base import request_ids
from mailbox.gate import touched

if TYPE_CHECKING:
    from a2aproject.web.traces import Spans

ADMIN = "/admin/"  # the route of all pages of Django's admin, which has hundreds


class ObservationMiddleware:
    """Gives each request an id, and tells each answer to those who watch the hub.

    The id is that of ``X-Request-Id``, unless it is missing or unfit. The answer has it in the same header.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._spans = _spans()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if self._spans is None:
            return self._answer(request)[0]
        with touched.noted() as tasks:
            response, answered = self._answer(request)
        self._spans.record(answered, request.META, tasks)
        return response

    def _answer(self, request: HttpRequest) -> tuple[HttpResponseBase, Answered]:
        began = time.perf_counter()
        request.META[request_ids.META] = request_id = request_ids.chosen(request.META.get(request_ids.META, ""))
        with log.of_request(request_id):
            response = self.get_response(request)
        response.headers.setdefault("X-Request-Id", request_id)
        caller = _caller(request)
        answered = Answered(
            request_id=request_id,
            route=_route(request),
            method=request.method or "",
            status=response.status_code,
            seconds=time.perf_counter() - began,
            caller=caller,
            is_known=caller != "" and not request.META.get(request_ids.BY_ROUTE, False),
        )
        counters.count_request(answered.route, answered.method, answered.status, answered.seconds)
        log.write(answered)
        return response, answered


def _spans() -> Spans | None:
    """Return what records spans; None for a hub without traces, which does not load OpenTelemetry."""
    if not settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        return None
    from a2aproject.web.traces import Spans

    return Spans()


def _route(request: HttpRequest) -> str:
    match = request.resolver_match
    if match is None:
        return NO_ROUTE
    route = f"/{match.route}"
    return ADMIN if route.startswith(ADMIN) else route


def _caller(request: HttpRequest) -> str:
    """Return the name of the agent or person, as far as the request was authenticated."""
    named: str | None = request.META.get(request_ids.CALLER)
    if named is not None:
        return named
    person = getattr(request, "_cached_user", None)  # what Django has read of the session; no query is made for it
    return f"user:{person.get_username()}" if person is not None and person.is_authenticated else ""
