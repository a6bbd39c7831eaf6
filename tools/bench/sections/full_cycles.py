"""Full cycles over HTTP: send, lease, result, drain; beside the bare statements, and with the parts of a request."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from tests.load.cast import Pair, pairs
from tests.support.hub import Hub, served
from tools.bench import cycles, replay, shares
from tools.bench.cycles import VERBS, Run
from tools.bench.hubs import apart, postgresql_processes, web_processes
from tools.bench.markdown import DATABASES, number, table
from tools.bench.sections.section import Figures, Section

PARTS = {"look_up": "key, agent, grants", "statements": "statements", "rest": "Django, REST framework, verb"}
SPENDERS = ("web", "database", "clients")


def measure(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    with served(folder, services="all", migrates=True, database_url=url, workers=options.workers) as hub:
        agents = pairs(hub, options.clients)
        figures = _at_once(hub, url, agents, options)
        parts = apart(shares.of_requests, url, agents[0])
        figures["shares"] = {verb: {part: getattr(share, part) for part in PARTS} for verb, share in parts.items()}
        return figures


def _at_once(hub: Hub, url: str, agents: list[Pair], options: argparse.Namespace) -> Figures:
    """Run cycles over HTTP, and the same statements without the hub, in turns. Return the best run of each."""
    http, raw, cpu = [], [], []
    for _ in range(options.runs):
        web, server = web_processes(hub), postgresql_processes(url)
        before = cycles.cpu_seconds(web), cycles.cpu_seconds(server)
        run = cycles.in_processes(cycles.over_http, [(hub.url, pair) for pair in agents], options.seconds)
        after = cycles.cpu_seconds(web), cycles.cpu_seconds(postgresql_processes(url))
        http.append(run)
        cpu.append((*map(cycles.spent, before, after), run.client_cpu))
        raw += bare(url, agents, options.seconds)
    best, best_raw = max(http, key=rate), max(raw, key=rate)
    spent = cpu[http.index(best)]
    alone = cycles.in_processes(cycles.over_http, [(hub.url, agents[0])], options.seconds / 2)
    return {
        "hub": summary(best),
        "raw": summary(best_raw),
        "ratio": rate(best_raw) / rate(best),
        "every run": {"hub": [rate(run) for run in http], "raw": [rate(run) for run in raw]},
        "cpu ms per cycle": dict(zip(SPENDERS, (1000 * s / best.cycles for s in spent), strict=True)),
        "one client": summary(alone),
    }


def bare(url: str, agents: list[Pair], seconds: float) -> list[Run]:
    """Run the statements of cycles without the hub.

    One writer may be best for SQLite, which has one write lock. PostgreSQL is best with all clients.
    """
    crowds = {1, len(agents)} if url.startswith("sqlite") else {len(agents)}
    jobs = [(url, pair) for pair in agents]
    return [cycles.in_processes(replay.drive, jobs[:crowd], seconds) for crowd in crowds]


def summary(run: Run) -> Figures:
    steps = {
        verb: {f"p{percent}": run.percentile(step, percent) for percent in (50, 99)} for step, verb in enumerate(VERBS)
    }
    return {"cycles per second": rate(run), "clients": len(run.clients), **steps}


def rate(run: Run) -> float:
    return run.per_second


def tables(figures: Mapping[str, Figures]) -> str:
    head = ("", "cycles a second", "bare statements", "ratio", *SPENDERS, "lease p50", "lease p99")
    rows = []
    for database, one in figures.items():
        counts = [number(one[name]["cycles per second"]) for name in ("hub", "raw")]
        spent = [number(one["cpu ms per cycle"][part], 1) for part in SPENDERS]
        lease = [number(one["hub"]["lease"][percent], 1) for percent in ("p50", "p99")]
        rows.append((DATABASES[database], *counts, number(one["ratio"], 1), *spent, *lease))
    return "\n".join([table(head, rows), *(_parts(database, one) for database, one in figures.items())])


def _parts(database: str, one: Figures) -> str:
    """Return how one request spends its time, without other load."""
    head = (f"{DATABASES[database]}, ms", *PARTS.values(), "server and client", "total")
    rows = []
    for verb in VERBS:
        inside, total = [one["shares"][verb][part] for part in PARTS], one["one client"][verb]["p50"]
        rows.append((verb, *(number(part, 2) for part in (*inside, max(0.0, total - sum(inside)), total))))
    return table(head, rows)


SECTION = Section(measure=measure, tables=tables, options=("clients", "seconds", "runs", "workers"))
