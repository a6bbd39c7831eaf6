"""Measure the operator pages over a week of a busy hub: python -m tools.bench.dashboard [--help]."""

import argparse
import json
import os
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.load.cast import pairs
from tests.support.hub import Hub, served
from tools.bench import crowd, cycles, record
from tools.bench.hubs import apart, database_url
from tools.bench.report import aligned

OVERVIEW, LIST, TASK, TREE, EXPORT = 120, 120, 80, 250, 300  # budgets in milliseconds, for the 95th percentile
WARM_UP = 3
LOADING = 3600  # seconds for the roll-ups and the seals of the whole week
FLOWING = 2  # clients that send and do tasks meanwhile, each with a pair of its own


def main() -> None:
    options = parsed()
    found: dict[str, Any] = {"options": vars(options)}
    with (
        tempfile.TemporaryDirectory() as folder,
        database_url("postgresql", Path(folder)) as url,
        served(Path(folder), services="all", migrates=True, database_url=url, workers=2) as hub,  # the default
    ):
        found["stamp"] = record.stamp(url)
        found |= measure(hub, url, options)
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-dashboard.json"
    file.write_text(json.dumps(found, indent=2, default=str))
    print(f"{table(found)}\nWritten to {file}")  # noqa: T201


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.dashboard", description="Measure the operator pages.")
    parser.add_argument("--tasks", type=int, default=1_000_000, help="tasks of the week; one in 100 is in flight")
    parser.add_argument("--pairs", type=int, default=25, help="pairs of agents, all of which send to each other")
    parser.add_argument("--looks", type=int, default=40, help="requests of each page")
    parser.add_argument(
        "--flow", type=float, default=200, help="full cycles a second beside the looks; 0 leaves it out"
    )
    parser.add_argument("--output", type=Path, default=Path("var/bench"), help="folder of the JSON files")
    return parser.parse_args()


def measure(hub: Hub, url: str, options: argparse.Namespace) -> dict[str, Any]:
    """Load the week, roll it up, and request every page, first without load and then under load."""
    pairs(hub, options.pairs)
    begun = time.perf_counter()
    crowd.load(url, _keys(url), options.tasks)
    loaded = time.perf_counter()
    minutes = apart(roll_up, url, hub.log.parent, patience=LOADING)
    found: dict[str, Any] = {
        "seconds to load": loaded - begun,
        "seconds to roll up": time.perf_counter() - loaded,
        "minutes rolled up": minutes,
    }
    with closing(signed_in(hub)) as browser:
        pages = pages_of(url)
        found["at rest"] = looks(browser, pages, options.looks)
        if options.flow:
            with ThreadPoolExecutor(1) as beside:
                # Long enough for all requests, which are slower under load.
                seconds = 2 + 1.5 * options.looks * sum(page["mean"] for page in found["at rest"].values()) / 1000
                jobs = [((hub.url, pair), options.flow / FLOWING) for pair in pairs(hub, FLOWING)]
                flowing = beside.submit(cycles.in_processes, cycles.paced, jobs, seconds)
                time.sleep(3)
                found["under load"] = looks(browser, pages, options.looks)
                found["cycles per second"] = flowing.result().per_second
    return found


def roll_up(url: str, folder: Path) -> int:
    """Do what the cluster would do for a week, in a new process; return how many minutes were rolled up."""
    os.environ.update(DJANGO_SETTINGS_MODULE="a2aproject.settings", DATABASE_URL=url, A2A_VAR=str(folder))
    import django

    django.setup()
    from mailbox.upkeep import failure_filing, rollups, sealing

    minutes = rollups.roll()
    while failure_filing.file_failures() or rollups.count_pairs() or sealing.seal():
        continue
    return minutes


def pages_of(url: str) -> dict[str, tuple[str, int]]:
    """Return the path and the budget of each page, by its name."""
    with psycopg.connect(url) as postgresql:
        task, key, name = _row(
            postgresql,
            "SELECT task.uuid, idempotency_key, display FROM mailbox_task task"
            " JOIN mailbox_agent agent ON agent.id = recipient_id WHERE idempotency_key IS NOT NULL LIMIT 1",
        )
        (root,) = _row(postgresql, "SELECT parent FROM mailbox_task WHERE parent IS NOT NULL ORDER BY id DESC LIMIT 1")
        (failure,) = _row(postgresql, "SELECT fingerprint FROM mailbox_failure LIMIT 1")
    yesterday = datetime.now(UTC) - timedelta(days=1)
    finished = f"{yesterday:%Y-%m-%dT%H:%MZ}..{yesterday + timedelta(minutes=20):%Y-%m-%dT%H:%MZ}"
    lists = {
        "tasks": "tasks/",
        **{f"tasks {state}": f"tasks/?state={state}" for state in ("queued", "in_flight", "stale", "error", "partial")},
        "tasks to an agent": f"tasks/?q=to:{name}",
        "tasks queued for it": f"tasks/?q=to:{name}&state=queued",
        "tasks of an agent": f"tasks/?q=agent:{name}",
        "tasks by key": f"tasks/?q=key:{key}",
        "tasks by key, prefix": "tasks/?q=key:inv-99*",
        "tasks of a kind": "tasks/?q=kind:book",
        "tasks older than 5 d": "tasks/?q=age:>5d",
        "tasks of a bar": f"tasks/?finished={finished}",
        "tasks by words": "tasks/?q=Lisbon",
        "tasks by rare words": "tasks/?q=%22number+777777%22",
        "tasks by no such word": "tasks/?q=Reykjavik",
        "leases": "leases/",
        "leases stale": "leases/?state=stale",
        "leases of an agent": f"leases/?agent={name}",
        "results": "results/",
        "results, 1 h, error": "results/?delivery=all&status=error&within=1h",
        "audit": "audit/",
        "audit of an agent": f"audit/?q=actor:{name}",
        "audit of a person": "audit/?q=actor:user:ana",
        "audit, repairs": "audit/?q=kind:a2a_repair_*",
        "audit, 1 h": "audit/?q=since:1h",
        "audit of a task": f"audit/?q=task:{task}",
        "audit by words": "audit/?q=restarted",
        "agents": "agents/",
        "agents quiet": "agents/?state=quiet",
        "agent": f"agents/{name}/",
        "failures": "failures/",
        "failures, 7 d": "failures/?range=7d",
        "failure": f"failures/{failure}/",
        "charts": "charts/",
        "charts, 7 d": "charts/?range=7d",
        "charts of an agent": f"charts/?agent={name}&range=7d",
        "map": "map/",
        "map, 24 h": "map/?range=24h",
        "trees": "trees/",
        "trees with failures": "trees/?state=failed",
        "deliveries": "deliveries/",
        "deliveries failed": "deliveries/?state=disabled",
        "idempotency": "idempotency/",
        "repairs": "repairs/",
        "access": "access/",
        "health": "health/",
        "search suggestions": f"go/suggest/?q={name[:4]}",
    }
    others = {
        "overview": ("", OVERVIEW),
        "overview, 7 d": ("?range=7d", OVERVIEW),
        "task": (f"tasks/{task}/", TASK),
        "comparison": (f"tasks/{task}/diff/", TASK),
        "tree": (f"trees/{root}/", TREE),
        "tasks.csv": ("tasks.csv", EXPORT),
        "audit.jsonl": ("audit.jsonl", EXPORT),
    }
    return others | {name: (path, LIST) for name, path in lists.items()}


def looks(browser: httpx.Client, pages: Mapping[str, tuple[str, int]], number: int) -> dict[str, dict[str, float]]:
    """Request each page that many times; return the milliseconds until the first byte."""
    found = {}
    for name, (path, budget) in pages.items():
        times = sorted([_look(browser, path) for _ in range(WARM_UP + number)][WARM_UP:])
        found[name] = {
            "p50": times[len(times) // 2],
            "p95": times[min(len(times) - 1, int(len(times) * 0.95))],
            "mean": sum(times) / len(times),
            "budget": budget,
        }
    return found


def _look(browser: httpx.Client, path: str) -> float:
    begun = time.perf_counter()
    with browser.stream("GET", f"/ops/{path}") as answer:
        next(answer.iter_raw())
        took = time.perf_counter() - begun
        assert answer.status_code == 200, (path, answer.status_code)
    if not path.endswith((".csv", ".jsonl")):
        return took * 1000
    browser.get("/ops/favicon.svg")  # opens a new connection: the cut-off download has closed its own
    return took * 1000


def signed_in(hub: Hub) -> httpx.Client:
    """Return a client that is signed in as the operator of the hub's first start."""
    browser = httpx.Client(base_url=hub.url, follow_redirects=True, timeout=60)
    token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get("/ops/sign-in/").text)[0]
    kept = (hub.log.parent / "first-run.txt").read_text()
    name, password = (re.findall(rf"^ +{word} +(\S+)$", kept, re.MULTILINE)[0] for word in ("name", "password"))
    answer = browser.post(
        "/ops/sign-in/", data={"username": name, "password": password, "csrfmiddlewaretoken": token, "next": "/ops/"}
    )
    assert answer.url.path == "/ops/", answer.text
    return browser


def table(found: Mapping[str, Any]) -> str:
    """Return the figures page by page. A star marks figures over their budget."""
    rest, load = found["at rest"], found.get("under load", {})
    lines: list[tuple[str, ...]] = [("ms to the first byte", "budget", "p50", "p95", "", "p50, load", "p95, load", "")]
    for name, page in rest.items():
        lines.append((name, f"{page['budget']:.0f}", *_figures(page), *_figures(load.get(name))))
    flow = f"{found['cycles per second']:.0f} full cycles/s" if load else "no load"
    return f"Operator pages over {found['options']['tasks']} tasks, at rest and under {flow}\n{aligned(lines)}"


def _figures(page: Mapping[str, float] | None) -> tuple[str, str, str]:
    if page is None:
        return "-", "-", ""
    return f"{page['p50']:.0f}", f"{page['p95']:.0f}", "*" if page["p95"] > page["budget"] else ""


def _keys(url: str) -> list[int]:
    with psycopg.connect(url) as postgresql:
        rows = postgresql.execute("SELECT id FROM mailbox_agent WHERE display LIKE '%@load' ORDER BY id").fetchall()
    return [row[0] for row in rows]


def _row(postgresql: psycopg.Connection[Any], sql: str) -> Sequence[Any]:
    row = postgresql.execute(sql.encode()).fetchone()
    assert row is not None
    return tuple(row)


if __name__ == "__main__":
    main()
