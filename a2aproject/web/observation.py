"""The observation of every request: its id, its time, its route and its caller, for the metrics and the log.

The requests and waits of the web processes are counted here, and `a2aproject.web.metrics` shows them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from a2aproject.serving import shared_counts
from a2aproject.web import log
from mailbox.access import audit
from mailbox.database import waiting
from mailbox.dialects.base import authentication

if TYPE_CHECKING:
    from a2aproject.web.traces import Spans

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds; a receive may wait 50

MOST_KEPT = 4096  # series at hand, because the library's look-up takes longer than the count

registry = CollectorRegistry()  # of this process
_requests = Counter("a2a_http_requests", "Answered requests.", ["route", "method", "status"], registry=registry)
_seconds = Histogram(
    "a2a_http_request_seconds",
    "The time until a request was answered, with its wait for a task or a result.",
    ["route", "method"],
    buckets=BUCKETS,
    registry=registry,
)
_waits = Gauge(
    "a2a_waits", "Requests that wait for a task, a result or an event.", registry=registry, multiprocess_mode="livesum"
)
_seats = Gauge("a2a_wait_seats", "Requests that may wait at once.", registry=registry, multiprocess_mode="livesum")
_refused = Counter("a2a_waits_refused", "Requests that found no seat to wait in.", registry=registry)
ADMIN = "/admin/"  # the route of all pages of Django's admin, which has hundreds


def count_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count an answered request. ``route`` is the pattern of its path, so that the number of series has a bound.

    A process without memory for a new series leaves it out: the answer does not change with its count.
    """
    with suppress(MemoryError, OSError, IndexError):  # the library raises `IndexError` once a file could not grow
        requests, durations = _series(route, method if method in log.METHODS else "other", status)
        requests.inc()
        durations.observe(seconds)


@lru_cache(MOST_KEPT)
def _series(route: str, method: str, status: int) -> tuple[Counter, Histogram]:
    return _requests.labels(route, method, str(status)), _seconds.labels(route, method)


def follow_waits() -> None:
    """Count the waits of this process from now on."""
    _seats.set(waiting.seats.all)
    waiting.seats.observer = _note_wait


def _note_wait(taken: int, is_refused: bool) -> None:
    _waits.set(taken)
    if is_refused:
        _refused.inc()


def collect() -> Iterable[Metric]:
    """Return the counts of all web processes, or of this process if it counts alone."""
    folder = os.environ.get(shared_counts.VARIABLE)
    if folder is None:
        return registry.collect()
    for process, is_alive in shared_counts.processes().items():
        if not is_alive:
            mark_process_dead(process, folder)  # type: ignore[no-untyped-call]
    together = CollectorRegistry()
    MultiProcessCollector(together, folder)  # type: ignore[no-untyped-call]
    return together.collect()


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
        with audit.noted_tasks() as tasks:
            return self._answer(request, tasks)

    def _answer(self, request: HttpRequest, tasks: Collection[UUID] | None) -> HttpResponseBase:
        """Return the hub's response to the request, and observe both.

        ``tasks`` gets the ids of the tasks that the request changes. None: the hub makes no spans.
        """
        began = time.perf_counter()
        request_id = authentication.request_id(request.META)
        token = log.request_id.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            log.request_id.reset(token)
        response.headers.setdefault("X-Request-Id", request_id)
        route, method, status = _route(request), request.method or "", response.status_code
        seconds = time.perf_counter() - began
        count_request(route, method, status, seconds)
        if tasks is None and not log.has_lines_of_requests():
            return response
        caller = _caller(request)
        answered = log.Answered(
            request_id=request_id,
            route=route,
            method=method,
            status=status,
            seconds=seconds,
            caller=caller,
            is_known=caller != "" and not request.META.get(authentication.STRANGER, False),
        )
        self._tell(answered, request, tasks)
        return response

    def _tell(self, answered: log.Answered, request: HttpRequest, tasks: Collection[UUID] | None) -> None:
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
        return log.NO_ROUTE
    route = f"/{match.route}"
    return ADMIN if route.startswith(ADMIN) else route


def _caller(request: HttpRequest) -> str:
    """Return the name of the agent or person, as far as the request was authenticated."""
    named: str | None = request.META.get(authentication.CALLER)
    if named is not None:
        return named
    person = getattr(request, "_cached_user", None)  # what Django has read of the session; no query is made for it
    return f"user:{person.get_username()}" if person is not None and person.is_authenticated else ""
