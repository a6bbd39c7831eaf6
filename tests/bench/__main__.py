"""Measure the hub on both databases: python -m tests.bench [--help]."""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.bench import backlog, cycles, replay, shares
from tests.bench.cycles import Run
from tests.bench.report import tables
from tests.load.cast import Pair, Worker, must, pairs
from tests.support import postgres
from tests.support.databases import database_of_its_own
from tests.support.hub import Hub, served


def main() -> None:
    options = parsed()
    found: dict[str, Any] = {"at": datetime.now(UTC).isoformat(), "machine": machine(), "options": vars(options)}
    for database in options.databases:
        print(f"Measuring on {database} ...", flush=True)  # noqa: T201
        found[database] = measure(database, options)
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.json"
    file.write_text(json.dumps(found, indent=2, default=str))
    print(f"{tables(found)}\nWritten to {file}")  # noqa: T201


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure full cycles and a long queue.")
    parser.add_argument("--clients", type=int, default=8, help="client processes, each with a sender and a worker")
    parser.add_argument("--seconds", type=float, default=5, help="length of each run")
    parser.add_argument("--runs", type=int, default=3, help="runs of each kind; the best counts")
    parser.add_argument("--queued", type=int, default=1_000_000, help="tasks in the long queue; 0 leaves it out")
    parser.add_argument("--lessees", type=int, default=4, help="client processes at the long queue")
    parser.add_argument("--databases", nargs="+", choices=["postgresql", "sqlite"], default=["postgresql", "sqlite"])
    parser.add_argument("--output", type=Path, default=Path("var/bench"), help="folder of the JSON files")
    return parser.parse_args()


def measure(database: str, options: argparse.Namespace) -> dict[str, Any]:
    """Serve a hub on a new database and measure it."""
    with tempfile.TemporaryDirectory() as folder, database_url(database, Path(folder)) as url:
        with served(Path(folder), database_url=url, workers=2) as hub:  # the default
            agents = pairs(hub, options.clients + 1)
            found = full_cycles(hub, url, agents[:-1], options)
            found["shares"] = {
                verb: vars_of(share) for verb, share in apart(shares.of_requests, url, agents[0]).items()
            }
            found["alone"] = {verb: found["one client"][verb]["p50"] for verb in cycles.VERBS}
            if options.queued:
                found["long queue"] = long_queue(hub, url, agents[-1], options)
        return found


def full_cycles(hub: Hub, url: str, agents: list[Pair], options: argparse.Namespace) -> dict[str, Any]:
    """Run cycles over HTTP, and the same statements without the hub, in turns. Return the best run of each."""
    http, raw, cpu = [], [], []
    for _ in range(options.runs):
        web, server = web_processes(hub), postgresql_processes(url)
        before = cycles.cpu_seconds(web), cycles.cpu_seconds(server)
        run = cycles.in_processes(cycles.over_http, [(hub.url, pair) for pair in agents], options.seconds)
        after = cycles.cpu_seconds(web), cycles.cpu_seconds(postgresql_processes(url))
        http.append(run)
        cpu.append((*map(cycles.spent, before, after), run.client_cpu))
        # One writer may be best for SQLite, which has one write lock. PostgreSQL is best with all clients.
        crowds = {1, len(agents)} if url.startswith("sqlite") else {len(agents)}
        jobs = [(url, pair) for pair in agents]
        raw += [cycles.in_processes(replay.drive, jobs[:crowd], options.seconds) for crowd in crowds]
    best, best_raw = max(http, key=rate), max(raw, key=rate)
    spent = cpu[http.index(best)]
    alone = cycles.in_processes(cycles.over_http, [(hub.url, agents[0])], options.seconds / 2)
    return {
        "hub": summary(best),
        "raw": summary(best_raw),
        "ratio": rate(best_raw) / rate(best),
        "every run": {"hub": [rate(run) for run in http], "raw": [rate(run) for run in raw]},
        "cpu ms per cycle": dict(
            zip(("web", "database", "clients"), (1000 * s / best.cycles for s in spent), strict=True)
        ),
        "one client": summary(alone),
    }


def long_queue(hub: Hub, url: str, pair: Pair, options: argparse.Namespace) -> dict[str, Any]:
    """Measure leases from a long queue that several clients share."""
    worker = Worker(hub.url, pair)
    body = {"recipient": pair.worker.display, "intent_text": "one of many"}
    task_id = must(worker.sender.post("/a2a/tasks", body))["task_id"]
    worker.close()
    backlog.load(url, task_id, options.queued)
    jobs = [(hub.url, pair)] * options.lessees
    runs = [cycles.in_processes(cycles.leases_over_http, jobs, options.seconds) for _ in range(options.runs)]
    best = min(runs, key=lambda run: run.percentile(0, 99))
    return {
        "queued": options.queued,
        "leases per second": rate(best),
        **{f"p{percent}": best.percentile(0, percent) for percent in (50, 99)},
        "every p99": [run.percentile(0, 99) for run in runs],
    }


def summary(run: Run) -> dict[str, Any]:
    steps = {
        verb: {f"p{percent}": run.percentile(step, percent) for percent in (50, 99)}
        for step, verb in enumerate(cycles.VERBS)
    }
    return {"cycles per second": rate(run), "clients": len(run.clients), **steps}


def rate(run: Run) -> float:
    return run.per_second


def apart(work: Any, *arguments: Any, patience: float = cycles.PATIENCE) -> Any:
    """Call ``work`` in a new process: a process can set Django up for one database only."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result(timeout=patience)


def vars_of(share: shares.Share) -> dict[str, float]:
    return {"look_up": share.look_up, "statements": share.statements, "rest": share.rest}


@contextmanager
def database_url(database: str, folder: Path) -> Any:
    """Yield the URL of a new database."""
    if database == "sqlite":
        os.environ["DATABASE_URL"] = ""
        yield f"sqlite:///{folder / 'hub.sqlite3'}"
        return
    given = os.environ.get("TEST_DATABASE_URL")
    with nullcontext(given) if given else postgres.server() as server:
        os.environ["DATABASE_URL"] = str(server)
        with database_of_its_own() as url:
            yield url


def web_processes(hub: Hub) -> list[psutil.Process]:
    return [hub.web_server(), *hub.web_workers()]


def postgresql_processes(url: str) -> list[psutil.Process]:
    """Return the server's processes if it runs on this machine, else []."""
    if not url.startswith("postgres"):
        return []
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        try:  # the backend's process ends with the connection
            main = psutil.Process(row[0] if row else 0).parent()
        except psutil.NoSuchProcess:
            return []
    if main is None or main.name() != "postgres":
        return []
    return [main, *main.children()]


def machine() -> dict[str, object]:
    return {"cores": psutil.cpu_count(), "load before": os.getloadavg(), "python": platform.python_version()}


if __name__ == "__main__":
    main()
