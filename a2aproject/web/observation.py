"""Every request: its id, its time, its route and its caller, for the metrics and the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from a2aproject.web import counters, log
from a2aproject.web.log import NO_ROUTE, Answered
from mailbox.dialects.base import request_headers
from mailbox.journal import changed_tasks

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
            return self._answer(request, None)
        with changed_tasks.noted() as tasks:
            return self._answer(request, tasks)

    def _answer(self, request: HttpRequest, tasks: Collection[UUID] | None) -> HttpResponseBase:
        """Return the hub's response to the request, and observe both.

        ``tasks`` gets the ids of the tasks that the request changes. None: the hub makes no spans.
        """
        began = time.perf_counter()
        request_id = request_headers.request_id(request.META)
        token = log.request_id.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            log.request_id.reset(token)
        response.headers.setdefault("X-Request-Id", request_id)
        route, method, status = _route(request), request.method or "", response.status_code
        seconds = time.perf_counter() - began
        counters.count_request(route, method, status, seconds)
        if tasks is None and not log.has_lines_of_requests():
            return response
        caller = _caller(request)
        answered = Answered(
            request_id=request_id,
            route=route,
            method=method,
            status=status,
            seconds=seconds,
            caller=caller,
            is_known=caller != "" and not request.META.get(request_headers.STRANGER, False),
        )
        self._tell(answered, request, tasks)
        return response

    def _tell(self, answered: Answered, request: HttpRequest, tasks: Collection[UUID] | None) -> None:
        if log.has_lines_of_requests():
            log.write(answered)
        if self._spans is not None:
            self._spans.record(answered, request.META, tasks or ())


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
    named: str | None = request.META.get(request_headers.CALLER)
    if named is not None:
        return named
    person = getattr(request, "_cached_user", None)  # what Django has read of the session; no query is made for it
    return f"user:{person.get_username()}" if person is not None and person.is_authenticated else ""
