"""The counts of requests and waits of the web processes. `a2aproject.web.metrics` tells them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from a2aproject.serving import shared_counts
from mailbox.database import waiting

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
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


def count_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count an answered request. ``route`` is the pattern of its path, so that the number of series has a bound."""
    requests, durations = _series(route, method if method in METHODS else "other", status)
    requests.inc()
    durations.observe(seconds)


@lru_cache(MOST_KEPT)
def _series(route: str, method: str, status: int) -> tuple[Counter, Histogram]:
    return _requests.labels(route, method, str(status)), _seconds.labels(route, method)


def follow_waits() -> None:
    """Count the waits of this process from now on."""
    _seats.set(waiting.seats.all)
    waiting.seats.told = _note_wait


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
