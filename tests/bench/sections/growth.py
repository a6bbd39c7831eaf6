"""The cost of a cycle at growing numbers of tasks in the tables (PostgreSQL)."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import psycopg

from tests.bench import crowd, cycles, shares
from tests.bench.cycles import VERBS
from tests.bench.hubs import apart, postgresql_processes, web_processes
from tests.bench.markdown import number, table
from tests.bench.sections.section import Figures, Section
from tests.load.cast import Pair, pairs
from tests.support.hub import Hub, served

CROWD = 25  # pairs, which have most of the tasks
OWN = 10  # one task in so many is an ended one of the measured pairs
MANY = 100_000  # more tasks are loaded without indexes


def measure(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    """Fill the tables in steps, and measure cycles of some pairs after each step. The timed jobs do not run."""
    with served(folder, "--only", "web", database_url=url, workers=options.workers) as hub:
        crowd_keys = _keys(url, pairs(hub, CROWD))
        measured = pairs(hub, options.clients)
        keys, filled, figures = _keys(url, measured), 0, {}
        for size in sorted(options.sizes):
            _fill(url, crowd_keys, keys, size - filled)
            filled = size
            figures[str(size)] = _cycles(hub, url, measured, options)
    costs = [one["web ms"] + one["database ms"] for one in figures.values()]
    return {"sizes": figures, "dearest by cheapest": max(costs) / min(costs)}


def _fill(url: str, others: Sequence[int], own: Sequence[int], count: int) -> None:
    with crowd.without_indexes(url) if count > MANY else contextlib.nullcontext():
        crowd.add(url, own, count // OWN, settled=True)
        crowd.add(url, others, count - count // OWN)
    crowd.vacuum(url)


def _cycles(hub: Hub, url: str, agents: list[Pair], options: argparse.Namespace) -> Figures:
    """Measure runs of cycles. Return the figures of the run with the lowest cost."""
    runs = []
    for _ in range(options.runs):
        before = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
        run = cycles.in_processes(cycles.over_http, [(hub.url, pair) for pair in agents], options.seconds)
        after = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
        web, database = (1000 * seconds / run.cycles for seconds in map(cycles.spent, before, after))
        runs.append({"cycles per second": run.per_second, "web ms": web, "database ms": database})
        runs[-1]["lease p99"] = run.percentile(VERBS.index("lease"), 99)
    best = min(runs, key=lambda one: one["web ms"] + one["database ms"])
    parts = apart(shares.of_requests, url, agents[0])
    return {**best, "statements ms": sum(share.look_up + share.statements for share in parts.values())}


def _keys(url: str, agents: Sequence[Pair]) -> list[int]:
    names = [party.display for pair in agents for party in pair]
    with psycopg.connect(url) as postgresql:
        rows = postgresql.execute("SELECT id FROM mailbox_agent WHERE display = ANY (%s) ORDER BY id", [names])
        return [row[0] for row in rows.fetchall()]


def tables(figures: Mapping[str, Figures]) -> str:
    (found,) = figures.values()
    columns = {"cycles per second": 0, "web ms": 2, "database ms": 2, "statements ms": 2, "lease p99": 1}
    sizes = sorted(found["sizes"].items(), key=lambda one: int(one[0]))
    rows = [(number(int(size)), *(number(one[name], columns[name]) for name in columns)) for size, one in sizes]
    head = ("tasks", "cycles a second", "web ms", "database ms", "statements ms, alone", "lease p99 ms")
    spread = number(100 * (found["dearest by cheapest"] - 1))
    return f"{table(head, rows)}\nThe dearest cycle costs {spread} % more than the cheapest.\n"


SECTION = Section(
    measure=measure,
    tables=tables,
    options=("sizes", "clients", "seconds", "runs", "workers"),
    databases=("postgresql",),
)
