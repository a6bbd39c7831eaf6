"""Agents that wait: how soon a task reaches them, what many of them cost, and more of them than threads.

A raw client leaves answers unread, so that one thread sees each arrive.
"""

import argparse
import select
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.load.cast import Pair, pairs, parties
from tests.support.hub import Hub, served
from tests.support.raw_client import RawClient, must
from tools.bench import cycles, waiters
from tools.bench.idle import SETTLED, cost, settle
from tools.bench.markdown import DATABASES, number, table
from tools.bench.sections.section import Figures, Section
from tools.bench.short import percentiles, short_requests
from tools.bench.waiters import WAIT_MS

WORKERS = 8  # agents that wait at once for the sends
SHORTEST, SPREAD = 0.03, 0.06  # seconds between two sends: the shortest time, and how much longer it may be
WINDOW = 15.0  # seconds in which no wait ends
FLOWING = 2  # clients that run cycles beside the sends
FEW_THREADS = 64


def measure(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    waiters.admit_many_files()
    figures: Figures = {}
    with served(
        folder,
        services="all",
        migrates=True,
        database_url=url,
        workers=options.workers,
        A2A_LONGEST_WAIT_MS=str(WAIT_MS),
    ) as hub:
        figures["idle"] = sends(hub, pairs(hub, WORKERS), options.sends)
        agents, flow = pairs(hub, WORKERS), pairs(hub, FLOWING)
        with ThreadPoolExecutor(1) as beside:
            seconds = options.sends * (SHORTEST + SPREAD) + 10
            jobs = [((hub.url, pair), options.flow / FLOWING) for pair in flow]
            flowing = beside.submit(cycles.in_processes, cycles.paced, jobs, seconds)
            time.sleep(3)
            figures["under load"] = sends(hub, agents, options.sends)
            figures["under load"]["cycles per second"] = flowing.result().per_second
    threads = options.waiters * 8 // 7 + 64
    figures["many"] = _beside_waiters(url, folder, options, options.waiters, threads, is_watched=True)
    figures["more than threads"] = _beside_waiters(url, folder, options, 2 * FEW_THREADS, FEW_THREADS, is_watched=False)
    return figures


def sends(hub: Hub, agents: Sequence[Pair], count: int) -> Figures:
    """Send to workers in turn, each of which waits. Return the milliseconds until the worker has its task.

    Each worker's last wait goes on at the hub, so these agents serve once.
    """
    senders = [RawClient(hub.url, pair.sender.key) for pair in agents]
    workers = [RawClient(hub.url, pair.worker.key, timeout=120) for pair in agents]
    taken = []
    for worker in workers:
        worker.send("GET", f"/a2a/tasks/next?wait_ms={WAIT_MS}")
    for turn in range(count + len(agents)):
        time.sleep(SHORTEST + turn * 0.618 % 1 * SPREAD)  # so that the sends keep no step with the hub's looks
        place = turn % len(agents)
        seconds = _send(senders[place], workers[place], agents[place])
        taken.append(seconds * 1000)
        workers[place].send("GET", f"/a2a/tasks/next?wait_ms={WAIT_MS}")
    for client in (*senders, *workers):
        client.close()
    return percentiles(taken[len(agents) :])


def _send(sender: RawClient, worker: RawClient, pair: Pair) -> float:
    """Send one task and let the worker answer it; return the seconds from the send to the arrival."""
    begun = time.perf_counter()
    body = {"recipient": pair.worker.display, "intent_text": "for one that waits"}
    sender.begin("POST", "/a2a/tasks", body)
    assert select.select([worker.fileno()], [], [], 60)[0], "the task did not arrive"
    arrived = time.perf_counter() - begun
    must(sender.read())
    leased = must(worker.read())
    result = {"task_id": leased["task"]["id"], "status": "ok", "lease_id": leased["lease"]["lease_id"]}
    must(worker.post("/a2a/results", result))
    must(sender.get("/a2a/results/next"))
    return arrived


def _beside_waiters(
    url: str, folder: Path, options: argparse.Namespace, count: int, threads: int, *, is_watched: bool
) -> Figures:
    """Measure short requests of one web process without and with waiters, and the cost of watched waiters."""
    with served(
        folder,
        services="all",
        migrates=True,
        database_url=url,
        workers=1,
        WEB_THREADS=str(threads),
        A2A_LONGEST_WAIT_MS=str(WAIT_MS),
    ) as hub:
        (pair,) = pairs(hub, 1)
        keys = [party.key for party in parties(hub, count)]
        figures: Figures = {"waiters": count, "before": short_requests(hub, pair, options.flow, options.seconds)}
        begun = time.monotonic()
        with waiters.waiting(hub.url, keys) as counts:
            if is_watched:
                settle(hub)
                joined = time.monotonic() - begun
                figures["cost"] = cost(hub, url, WINDOW)
                figures["ended in the window"] = counts().whole + counts().early
                # Then each first wait ends and begins anew, as late as the joining took. Later waits end evenly.
                time.sleep(max(0.0, begun + WAIT_MS / 1000 + joined + SETTLED - time.monotonic()))
                figures["cost with renewals"] = cost(hub, url, WAIT_MS / 1000)
            figures["with"] = short_requests(hub, pair, options.flow, options.seconds)
            last = counts()
            figures["answers"] = {name: getattr(last, name) for name in ("whole", "early", "refused", "lost")}
    return figures


def tables(figures: Mapping[str, Figures]) -> str:
    head = ("send to its worker, ms", "idle p50", "idle p99", "under load p50", "under load p99", "cycles/s beside")
    rows = []
    for database, one in figures.items():
        found = [number(one[when][share], 1) for when in ("idle", "under load") for share in ("p50", "p99")]
        rows.append((DATABASES[database], *found, number(one["under load"]["cycles per second"])))
    return "\n".join([table(head, rows), _crowds(figures), _short(figures)])


def _crowds(figures: Mapping[str, Figures]) -> str:
    costs = ("web %", "database %", "memory MB")
    head = ("one process", "waiters", "web, % of a core", "database, %", "memory MB", "web, with renewals", "database")
    rows = []
    for database, one in figures.items():
        many = one["many"]
        found = [number(many["cost"][name], 1) for name in costs]
        renewed = [number(many["cost with renewals"][name], 1) for name in costs[:2]]
        rows.append((DATABASES[database], number(many["waiters"]), *found, *renewed))
    return table(head, rows)


def _short(figures: Mapping[str, Figures]) -> str:
    head = (
        "short requests, ms",
        "waiters",
        "threads",
        "p50 before",
        "p99 before",
        "p50 with",
        "p99 with",
        "unanswered",
    )
    rows = []
    for database, one in figures.items():
        for name, threads in (("many", "enough"), ("more than threads", str(FEW_THREADS))):
            crowd = one[name]
            found = [number(crowd[when][share], 1) for when in ("before", "with") for share in ("p50", "p99")]
            unanswered = f"{crowd['with']['unanswered']} of {crowd['with']['requests']}"
            rows.append((DATABASES[database], number(crowd["waiters"]), threads, *found, unanswered))
    return table(head, rows)


SECTION = Section(measure=measure, tables=tables, options=("waiters", "sends", "flow", "seconds", "workers"))
