"""The migration of a full database from the version before, while that version's code goes on serving.

That version may lack routes which the client package needs, so the cycles beside it use the plain routes.
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg

from tests.load.cast import Pair, pairs
from tests.support.hub import ROOT, served
from tests.support.ports import lasting_port
from tests.support.raw_client import RawClient
from tools.bench import crowd, crowd_sqlite
from tools.bench.markdown import DATABASES, lines, number, table
from tools.bench.sections.section import Figures, Section
from tools.proof.scenarios.two_versions import checked_out

CROWD = 4  # pairs, which have all loaded tasks
APPLIED = re.compile(r"Applying (\S+)\.\.\. OK \(([\d.]+)s\)")
ALONE = 4.0  # seconds of cycles before the migration, and after it
SHOWN = 0.1  # seconds; the page leaves shorter migrations out
PAUSE = 0.02  # seconds between two cycles
SECRET = "one secret for both versions of the measurement"


def measure(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    """Fill a hub of the version before, migrate its database beside its cycles, and go on with that version."""
    code = checked_out(folder / "before", options.before)
    with served(
        folder,
        migrates=True,
        database_url=url,
        port=lasting_port(),  # the version before may not choose one
        workers=options.workers,
        code=code,
        SECRET_KEY=SECRET,
    ) as hub:
        keys = _fill(url, pairs(hub, CROWD), options.rows)
        (pair,) = pairs(hub, 1)
        with cycling(hub.url, pair) as steps:
            time.sleep(ALONE)
            begun = time.monotonic()
            applied = migrated(url, folder)
            ended = time.monotonic()
            time.sleep(ALONE)
    phases = {"before": (0.0, begun), "during": (begun, ended), "after": (ended, time.monotonic())}
    return {
        "tasks": options.rows,
        "agents": len(keys),
        "seconds": ended - begun,
        "migrations": applied,
        **{name: _phase(steps, *span) for name, span in phases.items()},
    }


def _fill(url: str, agents: Sequence[Pair], count: int) -> list[int]:
    if url.startswith("sqlite"):
        keys = crowd_sqlite.keys(url)
        crowd_sqlite.add(url, keys, count)
        return keys
    with psycopg.connect(url) as postgresql:
        names = [party.display for pair in agents for party in pair]
        rows = postgresql.execute("SELECT id FROM mailbox_agent WHERE display = ANY (%s) ORDER BY id", [names])
        keys = [row[0] for row in rows.fetchall()]
    with crowd.without_indexes(url):
        crowd.add(url, keys, count)
    crowd.vacuum(url)
    return keys


def migrated(url: str, folder: Path) -> dict[str, float]:
    """Migrate the database to this version; return the seconds of each migration."""
    environment = os.environ | {"DATABASE_URL": url, "A2A_VAR": str(folder), "SECRET_KEY": SECRET}
    command = [sys.executable, "-u", "manage.py", "migrate", "--no-color", "--verbosity", "2"]
    seconds = {}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if (applied := APPLIED.search(line)) is not None:
                seconds[applied[1]] = float(applied[2])
    assert process.returncode == 0, "the migration failed"
    return seconds


Step = tuple[float, float, str]  # when a request began, the seconds that it took, the answer if it failed


@contextmanager
def cycling(url: str, pair: Pair) -> Iterator[list[Step]]:
    """Run one cycle after the other during the block. Yield the list of its requests, which grows."""
    steps: list[Step] = []
    over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(_cycle, url, pair, steps, over)
        try:
            yield steps
        finally:
            over.set()
            running.result()


def _cycle(url: str, pair: Pair, steps: list[Step], over: threading.Event) -> None:
    with (
        closing(RawClient(url, pair.sender.key, timeout=120)) as sender,
        closing(RawClient(url, pair.worker.key)) as worker,
    ):

        def step(
            client: RawClient, method: str, path: str, body: Mapping[str, object] | None = None
        ) -> dict[str, object]:
            begun = time.monotonic()
            answer = client.post(path, body or {}) if method == "POST" else client.get(path)
            problem = "" if answer.status == 200 else f"{answer.status} {answer.body}"
            steps.append((begun, time.monotonic() - begun, problem))
            return {} if problem else answer.body

        while not over.wait(PAUSE):
            step(sender, "POST", "/a2a/tasks", {"recipient": pair.worker.display, "intent_text": "beside"})
            leased = step(worker, "GET", "/a2a/tasks/next")
            task, lease = leased.get("task"), leased.get("lease")
            if isinstance(task, dict) and isinstance(lease, dict):
                names = {"task_id": task["id"], "lease_id": lease["lease_id"], "status": "ok"}
                step(worker, "POST", "/a2a/results", names)
            step(sender, "GET", "/a2a/results/next")


def _phase(steps: Sequence[Step], begun: float, ended: float) -> Figures:
    """Return the figures of the requests that were under way between two moments."""
    own = [(seconds, problem) for at, seconds, problem in steps if at < ended and at + seconds > begun]
    problems = [problem for _, problem in own if problem]
    longest = max((seconds for seconds, _ in own), default=0.0)
    return {"requests": len(own), "longest ms": 1000 * longest, "failed": len(problems), "problems": problems[:3]}


def tables(figures: Mapping[str, Figures]) -> str:
    head = ("", "tasks", "seconds", "longest request before, ms", "beside", "after", "requests beside", "failed")
    rows, slow = [], []
    for database, one in figures.items():
        longest = [number(one[phase]["longest ms"]) for phase in ("before", "during", "after")]
        failed = sum(one[phase]["failed"] for phase in ("before", "during", "after"))
        beside = number(one["during"]["requests"])
        rows.append(
            (DATABASES[database], number(one["tasks"]), number(one["seconds"], 1), *longest, beside, number(failed))
        )
        for name, seconds in sorted((name, taken) for name, taken in one["migrations"].items() if taken >= SHOWN):
            slow.append(f"- {DATABASES[database]}, `{name}`: {seconds:.1f} s")
    return f"{table(head, rows)}\n{lines(slow)}"


SECTION = Section(measure=measure, tables=tables, options=("rows", "before", "workers"))
