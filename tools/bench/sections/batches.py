"""Full cycles in batches over HTTP, beside single cycles of the hub and beside the bare single statements."""

import argparse
import itertools
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Barrier
from uuid import UUID

from a2a_hub_client import Answer, Hub, NewTask, TaskHandle
from tests.load.cast import Pair, pairs
from tests.support.hub import served
from tools.bench import cycles
from tools.bench.batch_worker import echo
from tools.bench.cycles import Steps, Timings
from tools.bench.hubs import postgresql_processes, web_processes
from tools.bench.markdown import DATABASES, number, table
from tools.bench.sections.full_cycles import bare
from tools.bench.sections.section import Figures, Section

REQUESTS = ("send", "lease", "drain")


def measure(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    """Run all three in turns, so that each run has the same load beside it. Return the best run of each."""
    single, raw, batched = [], [], []
    with served(folder, services="all", migrates=True, database_url=url, workers=options.workers) as hub:
        agents, others = pairs(hub, options.clients), pairs(hub, options.clients)
        jobs = [(hub.url, pair, options.batch) for pair in others]
        for _ in range(options.runs):
            single.append(cycles.in_processes(cycles.over_http, [(hub.url, pair) for pair in agents], options.seconds))
            raw += bare(url, agents, options.seconds)
            before = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
            run = cycles.in_processes(in_batches, jobs, options.seconds)
            after = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
            spent = [1000 * used / (run.cycles * options.batch) for used in map(cycles.spent, before, after)]
            batched.append((run, spent))
    best, (web, database) = max(batched, key=lambda one: one[0].per_second)
    rate = best.per_second * options.batch
    rates = {name: max(run.per_second for run in runs) for name, runs in (("single", single), ("bare", raw))}
    return {
        "tasks per second": rate,
        **rates,
        "by bare": rate / rates["bare"],
        "by single": rate / rates["single"],
        "cpu ms per task": {"web": web, "database": database},
        "p99": {request: best.percentile(place, 99) for place, request in enumerate(REQUESTS)},
        "batch": options.batch,
    }


def in_batches(job: tuple[str, Pair, int], barrier: Barrier, seconds: float) -> Timings:
    """Run the cycles of one pair in batches of ``job[2]`` tasks."""
    url, pair, size = job
    with Hub(url, pair.sender.key) as sender, Hub(url, pair.worker.key) as worker:
        return cycles.timed(_batches(sender, worker, pair, size), barrier, seconds)


def _batches(sender: Hub, worker: Hub, pair: Pair, size: int) -> Iterator[Steps]:
    """Yield the seconds of the three requests of each batch. A batch's results come with the lease of the next."""
    done: list[Answer] = []
    seen: list[UUID] = []
    for turn in itertools.count():
        times = [time.perf_counter()]
        sent = sender.send_many([NewTask(to=pair.worker.display, text=f"{turn} {place}") for place in range(size)])
        times.append(time.perf_counter())
        leased = worker.receive(most=size, wait=0, answers=done)
        times.append(time.perf_counter())
        drained = sender.drain(most=size, wait=0, ack=seen)
        times.append(time.perf_counter())
        assert len([one for one in sent if isinstance(one, TaskHandle)]) == len(leased.leases) == size
        assert len(drained.results) == len(done)
        seen = [result.task_id for result in drained.results]
        done = [echo(one) for one in leased.leases]
        yield tuple(after - before for before, after in itertools.pairwise(times))


def tables(figures: Mapping[str, Figures]) -> str:
    head = (
        *("", "tasks in a batch", "tasks a second", "single cycles", "bare statements", "by single", "by bare"),
        *("web, ms a task", "database", *(f"{request} p99 ms" for request in REQUESTS)),
    )
    rows = []
    for database, one in figures.items():
        counts = [number(one[name]) for name in ("batch", "tasks per second", "single", "bare")]
        ratios = [number(one[name], 1) for name in ("by single", "by bare")]
        spent = [number(one["cpu ms per task"][part], 2) for part in ("web", "database")]
        slowest = [number(one["p99"][request]) for request in REQUESTS]
        rows.append((DATABASES[database], *counts, *ratios, *spent, *slowest))
    return table(head, rows)


SECTION = Section(measure=measure, tables=tables, options=("batch", "clients", "seconds", "runs", "workers"))
