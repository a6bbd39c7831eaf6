"""The metrics of the hub, in the text format of Prometheus (`/metrics`)."""

import logging
from collections.abc import Iterable, Iterator
from datetime import timedelta

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from a2aproject.serving import shared_counts
from a2aproject.web import errors, middleware, observation, probes
from dashboard.figures import thresholds
from mailbox.inspection.health import gauges
from mailbox.words.latencies import PER_DOUBLING, Latencies

DOUBLINGS = range(0, 30, 2)  # buckets from 1 ms to three days, each four times as wide as the one before
LEAST_OF_ALL = ("process_start_time_seconds", "process_max_fds")  # the other numbers of processes are added up

_logger = logging.getLogger(__name__)


@probes.read_only
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer the metrics to clients that ``A2A_METRICS_TOKEN`` or ``A2A_METRICS_ALLOW`` admits."""
    if (refusal := _refusal(request)) is not None:
        return refusal
    registry = CollectorRegistry()
    registry.register(_Hub())
    response = HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
    response["Cache-Control"] = "no-store"
    return response


def _refusal(request: HttpRequest) -> HttpResponse | None:
    """Return the answer to a client that may not read the metrics; None: the client may."""
    scheme, _, credentials = request.headers.get("Authorization", "").partition(" ")
    token = settings.A2A_METRICS_TOKEN
    if token and scheme.lower() == "bearer" and constant_time_compare(credentials.strip(), token):
        return None
    address = middleware.address_in(request.META.get("REMOTE_ADDR", ""))
    if address is not None and any(address in network for network in settings.A2A_METRICS_ALLOW):
        return None
    if not token:
        return errors.error(403, "forbidden", "A2A_METRICS_TOKEN and A2A_METRICS_ALLOW say who may read the metrics.")
    response = errors.error(401, "unauthenticated", "The metrics need the token of A2A_METRICS_TOKEN as a bearer.")
    response["WWW-Authenticate"] = "Bearer"
    return response


class _Hub(Collector):
    """All metrics: of the web processes together, and of the database."""

    def collect(self) -> Iterator[Metric]:
        yield from observation.collect()
        yield from _processes()
        yield GaugeMetricFamily("a2a_web_processes", "Web processes that run.", value=len(_living()))
        try:
            now = timezone.now()
            values = gauges.read(now, stale_after=thresholds.stale_after(), most_agents=settings.A2A_METRICS_AGENTS)
        except Error as failure:
            _logger.warning("the metrics lack those of the database: %s", failure)
            yield GaugeMetricFamily("a2a_database_up", "Whether the database answers.", value=0)
            return
        yield GaugeMetricFamily("a2a_database_up", "Whether the database answers.", value=1)
        yield from _queues(values)
        yield from _numbers(values)
        yield from _sums(values)


def _processes() -> Iterable[Metric]:
    """Return the memory, processor time and open files of all web processes together."""
    together: dict[str, Metric] = {}
    for family in (family for process in _living() for family in _process(process)):
        if family.name not in together:
            together[family.name] = family
            continue
        (before,), (sample,) = together[family.name].samples, family.samples
        merge = min if sample.name in LEAST_OF_ALL else _add
        together[family.name].samples = [before._replace(value=merge(before.value, sample.value))]
    return together.values()


def _process(number: int) -> Iterable[Metric]:
    return ProcessCollector(pid=lambda: number, registry=None).collect()


def _living() -> list[int]:
    return [process for process, is_alive in shared_counts.processes().items() if is_alive]


def _add(first: float, second: float) -> float:
    return first + second


def _queues(values: gauges.Gauges) -> Iterator[Metric]:
    queued = GaugeMetricFamily("a2a_queue_tasks", "Queued tasks of one of the busiest agents.", labels=["agent"])
    leased = GaugeMetricFamily("a2a_queue_leases", "Live leases of one of the busiest agents.", labels=["agent"])
    oldest = GaugeMetricFamily(
        "a2a_queue_oldest_seconds", "The time for which the oldest task of the agent waits.", labels=["agent"]
    )
    for queue in values.queues:
        queued.add_metric([queue.agent], queue.queued)
        leased.add_metric([queue.agent], queue.leased)
        oldest.add_metric([queue.agent], _seconds(queue.oldest))
    yield from (queued, leased, oldest)


def _numbers(values: gauges.Gauges) -> Iterator[Metric]:
    metrics: tuple[tuple[str, str, float], ...] = (
        ("a2a_agents", "Agents of the hub.", values.agents),
        ("a2a_tasks_queued", "Queued tasks.", values.queued),
        ("a2a_tasks_interrupted", "Tasks with an open question.", values.interrupted),
        ("a2a_leases_live", "Leases in flight.", values.leased),
        ("a2a_leases_stale", "Leases in flight that are so old that an operator may requeue them.", values.stale),
        ("a2a_lease_oldest_seconds", "The age of the oldest lease in flight.", _seconds(values.oldest_lease)),
        ("a2a_results_pending", "Results that their sender has not drained.", values.pending),
        ("a2a_result_oldest_seconds", "The age of the oldest pending result.", _seconds(values.oldest_result)),
        ("a2a_callbacks_pending", "Callbacks to come or to repeat.", values.callbacks),
        ("a2a_callbacks_failing", "Those of them whose last attempt failed.", values.failing),
        ("a2a_callbacks_given_up", "Callbacks whose every attempt failed.", values.given_up),
        (
            "a2a_callback_overdue_seconds",
            "The time for which the first callback to come is due.",
            max(0.0, _seconds(values.oldest_callback)),
        ),
        ("a2a_journal_rows", "The number of the newest row of the journal.", values.journal),
        ("a2a_sweep_age_seconds", "The time since the last sweep ended.", _seconds(values.swept)),
    )
    for name, text, value in metrics:
        yield GaugeMetricFamily(name, text, value=value)


def _sums(values: gauges.Gauges) -> Iterator[Metric]:
    """Yield what is counted once a minute has ended and can no longer change, about three minutes later."""
    sums = values.sums
    results = CounterMetricFamily("a2a_results", "Results by status.", labels=["status"])
    for status, count in (("ok", sums.ok), ("partial", sums.partial), ("error", sums.error)):
        results.add_metric([status], count)
    yield results
    yield CounterMetricFamily("a2a_results_replayed", "Those of them from the cache.", value=sums.replayed)
    yield CounterMetricFamily("a2a_tasks_sent", "Tasks that were sent.", value=sums.queued_in)
    yield CounterMetricFamily("a2a_leases_begun", "Leases that began.", value=sums.leased)
    yield _histogram("a2a_task_wait_seconds", "How long a task was queued before its lease.", sums.waits)
    yield _histogram("a2a_lease_seconds", "How long a lease lasted until its result.", sums.runs)


def _histogram(name: str, text: str, counts: str) -> Metric:
    latencies = Latencies(counts)
    buckets = [(str(2**doubling / 1000), float(latencies.under(doubling * PER_DOUBLING))) for doubling in DOUBLINGS]
    buckets.append(("+Inf", float(len(latencies))))
    return HistogramMetricFamily(name, text, buckets=buckets, sum_value=latencies.sum().total_seconds())


def _seconds(span: timedelta | None) -> float:
    """Return the seconds of a duration, 0 without one."""
    return span.total_seconds() if span else 0.0
