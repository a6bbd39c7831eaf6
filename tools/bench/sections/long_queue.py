"""Leases from a long queue that several clients share."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from a2a_hub_client import Hub
from tests.load.cast import pairs
from tests.support.hub import served
from tools.bench import backlog, cycles
from tools.bench.markdown import DATABASES, number, table
from tools.bench.sections.section import Figures, Section


def measure(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    with served(folder, services="all", migrates=True, database_url=url, workers=options.workers) as hub:
        (pair,) = pairs(hub, 1)
        with Hub(hub.url, pair.sender.key) as sender:
            task_id = str(sender.send(pair.worker.display, "one of many").id)
        backlog.load(url, task_id, options.queued)
        jobs = [(hub.url, pair)] * options.lessees
        runs = [cycles.in_processes(cycles.leases_over_http, jobs, options.seconds) for _ in range(options.runs)]
    best = min(runs, key=lambda run: run.percentile(0, 99))
    return {
        "queued": options.queued,
        "clients": options.lessees,
        "leases per second": best.per_second,
        **{f"p{percent}": best.percentile(0, percent) for percent in (50, 99)},
        "every p99": [run.percentile(0, 99) for run in runs],
    }


def tables(figures: Mapping[str, Figures]) -> str:
    head = ("", "queued", "clients", "leases a second", "p50 ms", "p99 ms")
    return table(
        head,
        [
            (
                DATABASES[database],
                *(number(one[name]) for name in ("queued", "clients", "leases per second")),
                *(number(one[name], 1) for name in ("p50", "p99")),
            )
            for database, one in figures.items()
        ],
    )


SECTION = Section(measure=measure, tables=tables, options=("queued", "lessees", "seconds", "runs", "workers"))
