"""The cost of a cycle at growing numbers of tasks in the tables, beside a hub that does not grow (PostgreSQL)."""

import argparse
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.load.cast import Pair, pairs
from tests.support.databases import database_of_its_own
from tests.support.hub import Hub, served
from tools.bench import crowd, cycles, shares
from tools.bench.cycles import VERBS
from tools.bench.hubs import apart, postgresql_processes, web_processes
from tools.bench.markdown import number, table
from tools.bench.sections.section import Figures, Section

CROWD = 25  # pairs, which have most of the tasks
OWN = 10  # one task in so many is an ended one of the measured pairs
MANY = 100_000  # more tasks are loaded without indexes


def measure(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    """Fill the tables in steps, and measure cycles of some pairs after each step. The timed jobs do not run.

    A second hub, which keeps the smallest size, is measured in turns with it, since a machine's speed changes.
    """
    small, *larger = sorted(options.sizes)
    with (
        database_of_its_own() as other,
        _filled(other, folder / "other", small, options) as same,
        _filled(url, folder / "growing", small, options) as growing,
    ):
        filled, figures = small, {str(small): _cycles(growing, same, options)}
        for size in larger:
            _fill(growing, size - filled)
            filled = size
            figures[str(size)] = _cycles(growing, same, options)
    costs = [one["by the other"] for one in figures.values()]
    return {"sizes": figures, "dearest by cheapest": max(costs) / min(costs)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A hub, the keys of the agents that its tables are filled for, and its measured pairs with their keys."""

    hub: Hub
    others: Sequence[int]
    measured: list[Pair]
    own: Sequence[int]


@contextlib.contextmanager
def _filled(url: str, folder: Path, size: int, options: argparse.Namespace) -> Iterator[Filled]:
    """Yield a hub with so many tasks in its tables."""
    folder.mkdir(mode=0o700)
    with served(folder, migrates=True, database_url=url, workers=options.workers) as hub:
        others, measured = pairs(hub, CROWD), pairs(hub, options.clients)
        filled = Filled(hub=hub, others=_keys(url, others), measured=measured, own=_keys(url, measured))
        _fill(filled, size)
        yield filled


def _fill(filled: Filled, count: int) -> None:
    url = filled.hub.database_url
    with crowd.without_indexes(url) if count > MANY else contextlib.nullcontext():
        crowd.add(url, filled.own, count // OWN, settled=True)
        crowd.add(url, filled.others, count - count // OWN)
    crowd.vacuum(url)


def _cycles(growing: Filled, same: Filled, options: argparse.Namespace) -> Figures:
    """Measure runs of both hubs in turns. Return the figures of the growing hub's run with the lowest cost."""
    turns = [[_run(one, options) for one in (growing, same)] for _ in range(options.runs)]
    best, of_other = (min(runs, key=_cost) for runs in zip(*turns, strict=True))
    parts = apart(shares.of_requests, growing.hub.database_url, growing.measured[0])
    statements = sum(share.look_up + share.statements for share in parts.values())
    return {
        **best,
        "statements ms": statements,
        "other ms": _cost(of_other),
        "by the other": _cost(best) / _cost(of_other),
    }


def _run(filled: Filled, options: argparse.Namespace) -> Figures:
    hub, url = filled.hub, filled.hub.database_url
    before = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
    run = cycles.in_processes(cycles.over_http, [(hub.url, pair) for pair in filled.measured], options.seconds)
    after = cycles.cpu_seconds(web_processes(hub)), cycles.cpu_seconds(postgresql_processes(url))
    web, database = (1000 * seconds / run.cycles for seconds in map(cycles.spent, before, after))
    lease_p99 = run.percentile(VERBS.index("lease"), 99)
    return {"cycles per second": run.per_second, "web ms": web, "database ms": database, "lease p99": lease_p99}


def _cost(run: Figures) -> float:
    """Return the milliseconds of processor time of one cycle."""
    return float(run["web ms"] + run["database ms"])


def _keys(url: str, agents: Sequence[Pair]) -> list[int]:
    names = [party.display for pair in agents for party in pair]
    with psycopg.connect(url) as postgresql:
        rows = postgresql.execute("SELECT id FROM mailbox_agent WHERE display = ANY (%s) ORDER BY id", [names])
        return [row[0] for row in rows.fetchall()]


def tables(figures: Mapping[str, Figures]) -> str:
    (found,) = figures.values()
    columns = {"cycles per second": 0, "web ms": 2, "database ms": 2, "other ms": 2, "by the other": 2}
    columns |= {"statements ms": 2, "lease p99": 1}
    sizes = sorted(found["sizes"].items(), key=lambda one: int(one[0]))
    rows = [(number(int(size)), *(number(one[name], columns[name]) for name in columns)) for size, one in sizes]
    head = (
        *("tasks", "cycles a second", "web ms", "database ms", "other hub ms", "by the other"),
        *("statements ms, alone", "lease p99 ms"),
    )
    spread = number(100 * (found["dearest by cheapest"] - 1))
    return f"{table(head, rows)}\nBy the other hub, the dearest cycle costs {spread} % more than the cheapest.\n"


SECTION = Section(
    measure=measure,
    tables=tables,
    options=("sizes", "clients", "seconds", "runs", "workers"),
    databases=("postgresql",),
)
