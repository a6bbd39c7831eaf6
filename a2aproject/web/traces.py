"""Traces by OpenTelemetry: a span for each request, in the trace of the tree of tasks that the request changes.

The id of the root task is the id of the trace. So the sends, leases and results of one tree are in one trace. This
module needs the extra ``otel``.
"""

import logging
import threading
import time
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Link, SpanContext, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from a2aproject.web.log import METHODS, NO_ROUTE, Answered
from mailbox.inspection import trees as trees_module

MOST_TASKS = 100  # of one request; further tasks have no span
LONGEST_METHOD = 32  # characters
ALONE = trace.set_span_in_context(trace.INVALID_SPAN)  # the context of a span without a parent
HEADERS = {"traceparent": "HTTP_TRACEPARENT", "tracestate": "HTTP_TRACESTATE"}

_logger = logging.getLogger(__name__)


class _Ids(RandomIdGenerator):
    """Gives a new trace the id that this thread wants; a random one without a wish."""

    def __init__(self) -> None:
        self.wish = threading.local()

    def generate_trace_id(self) -> int:
        wanted: int | None = getattr(self.wish, "root", None)
        return super().generate_trace_id() if wanted is None else wanted


class Spans:
    """Sends the spans of this process to the collector at ``OTEL_EXPORTER_OTLP_ENDPOINT``, from a thread of its own."""

    def __init__(self, processor: SpanProcessor | None = None) -> None:
        self._ids = _Ids()
        resource = Resource.create(
            {"service.name": settings.OTEL_SERVICE_NAME, "service.version": settings.A2A_VERSION}
        )
        self._provider = TracerProvider(resource=resource, id_generator=self._ids)
        self._provider.add_span_processor(processor or BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint())))
        self._tracer = self._provider.get_tracer("a2aproject")

    def record(self, answered: Answered, meta: Mapping[str, Any], tasks: Collection[UUID]) -> None:
        """Record an answered request with the tasks that it changed, in the trace of each tree that they are of.

        The span of a request that changes no task is a child of the client's span, if an agent or a person names one.
        Such a client also chooses whether it is sampled. A stranger chooses neither, and the span of a tree has no
        parent: these spans have a link to the client's. Raises no error.
        """
        ended = time.time_ns()
        context = TraceContextTextMapPropagator().extract({name: meta.get(key, "") for name, key in HEADERS.items()})
        caller = trace.get_current_span(context).get_span_context()
        try:
            trees = trees_module.of(list(tasks)[:MOST_TASKS])
        except Error as error:
            _logger.warning("a span lacks its tree: %s", error)
            trees = []
        attributes = _attributes(answered, tasks)
        for root in trees:
            self._span(answered, attributes, ended, root=root, link=caller)
        if not trees and answered.is_known:
            self._span(answered, attributes, ended, context=context)
        elif not trees:
            self._span(answered, attributes, ended, link=caller)

    def _span(
        self,
        answered: Answered,
        attributes: Mapping[str, Any],
        ended: int,
        *,
        context: Context = ALONE,
        root: UUID | None = None,
        link: SpanContext | None = None,
    ) -> None:
        self._ids.wish.root = root and root.int
        try:
            span = self._tracer.start_span(
                _name(answered),
                context=context,
                kind=SpanKind.SERVER,
                attributes=attributes,
                links=[Link(link)] if link is not None and link.is_valid else (),
                start_time=ended - int(answered.seconds * 1e9),
            )
        finally:
            self._ids.wish.root = None
        if answered.status >= 500:
            span.set_status(StatusCode.ERROR)
        span.end(end_time=ended)


def endpoint() -> str:
    """Return the URL of the collector for traces."""
    return f"{settings.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces"


def _name(answered: Answered) -> str:
    """Return the name of a span. There are as many as routes and methods, no matter what clients send."""
    method = answered.method if answered.method in METHODS else "HTTP"
    return method if answered.route == NO_ROUTE else f"{method} {answered.route}"


def _attributes(answered: Answered, tasks: Collection[UUID]) -> dict[str, Any]:
    is_usual = answered.method in METHODS
    method = {} if is_usual else {"http.request.method_original": answered.method[:LONGEST_METHOD]}
    route = {} if answered.route == NO_ROUTE else {"http.route": answered.route}
    return {
        "http.request.method": answered.method if is_usual else "_OTHER",
        **method,
        **route,
        "http.response.status_code": answered.status,
        "a2a.agent": answered.caller,
        "a2a.request_id": answered.request_id,
        "a2a.tasks": [str(task) for task in list(tasks)[:MOST_TASKS]],
    }
