"""Served hubs for tests: `manage.py serve` in a process, with its own port and data."""

import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg

from tests.support.databases import template_of_sqlite

ROOT = Path(__file__).resolve().parents[2]
MAKE_THE_SWEEP_DUE = "UPDATE django_q_schedule SET next_run = '2001-01-01 00:00:00' WHERE func LIKE '%sweep_pass'"
LAST_SWEEP = "SELECT finished_at FROM mailbox_lastpass WHERE job LIKE '%.sweep_pass'"
# Tests are faster than clients, and queue more.
NO_RATES = {"A2A_AGENT_REQUESTS_PER_S": "0", "A2A_ADDRESS_REQUESTS_PER_S": "0"}
ENOUGH = {"A2A_QUOTA_QUEUED": "100000000", "A2A_QUOTA_QUEUED_TO_ONE": "100000000", "A2A_QUOTA_BYTES": str(10**15)}
NO_LIMITS = NO_RATES | ENOUGH
DATABASE = "hub.sqlite3"  # in the folder of a hub
PATIENCE = 100.0  # seconds that tests wait at most: less than the time-out of a test of the gate

_PORT = re.compile(r"^A2A Hub starts on port (\d+)\.", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A running hub. `printed` is its output so far."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path
    database_url: str

    @property
    def printed(self) -> str:
        return self.log.read_text()

    @property
    def first_run(self) -> str:
        """The text that the hub printed, and the secrets of its first start. An earlier version printed these."""
        kept = self.log.parent / "first-run.txt"
        return self.printed + (kept.read_text() if kept.exists() else "")

    def is_up(self) -> bool:
        with contextlib.closing(HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)) as client:
            try:
                client.request("GET", "/healthz")
                return client.getresponse().status == HTTPStatus.OK
            except (OSError, HTTPException):
                return False

    def wait_until_up(self) -> None:
        wait_until(lambda: self.is_up() or self.process.poll() is not None, every=0.05)
        assert self.process.poll() is None, self.printed

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def web_server(self) -> psutil.Process:
        """Return granian's main process."""
        return self._child("granian")

    def web_workers(self) -> list[psutil.Process]:
        """Return the processes that answer requests. A killed one does not count, also before its parent reaps it."""
        return [worker for worker in self.web_server().children() if not has_ended(worker)]

    def cluster(self) -> psutil.Process:
        """Return the process that runs the timed jobs."""
        return self._child("cluster")

    def carrier(self) -> psutil.Process:
        """Return the process that sends callbacks and brings tasks to remote agents."""
        return self._child("carry")

    def roles(self) -> dict[str, psutil.Process]:
        """Return every process of the hub by its role. This waits until each program has started."""
        workers = {f"web worker {number}": worker for number, worker in enumerate(self.web_workers(), 1)}
        own = {"serve": psutil.Process(self.process.pid), "web server": self.web_server()}
        return own | workers | {"cluster": self.cluster(), "carrier": self.carrier()}

    def wait_for_a_sweep(self) -> None:
        """Make the sweep due, and wait until the cluster has finished it."""
        before = self._execute(LAST_SWEEP)
        self._execute(MAKE_THE_SWEEP_DUE)
        wait_until(lambda: self._execute(LAST_SWEEP) != before, every=0.1)

    def _execute(self, statement: str) -> object:
        """Run the statement in the hub's database; return its rows."""
        if self.database_url.startswith("sqlite"):
            with contextlib.closing(sqlite3.connect(urlsplit(self.database_url).path, timeout=PATIENCE)) as lite, lite:
                return lite.execute(statement).fetchall()
        with psycopg.connect(self.database_url, autocommit=True) as server:
            done = server.execute(statement.encode())
            return done.fetchall() if done.description else []

    def _child(self, word: str) -> psutil.Process:
        """Return the service's process. After a kill this waits until the supervisor has started the next one."""
        wait_until(lambda: self._children(word))
        return self._children(word)[0]

    def _children(self, word: str) -> list[psutil.Process]:
        """Return the supervisor's living processes with this word in their command line."""
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if word in command_of(child) and not has_ended(child)]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal; return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(2 * PATIENCE)


@contextlib.contextmanager
def served(
    var: Path,
    *,
    services: str = "web",
    migrates: bool = False,
    database_url: str = "",
    port: int = 0,
    workers: int = 1,
    code: Path = ROOT,
    is_new: bool = False,
    **environment: str,
) -> Iterator[Hub]:
    """Serve a hub with its data in `var`, or in `database_url`, until the block ends. It answers when this yields.

    ``services`` are those of `serve --only`, or "all". A hub that ``migrates`` has an operator and a first agent, with
    keys. ``port`` 0 lets the system choose one. ``workers`` is the number of its web server's processes. ``code`` is
    the folder of the project that serves. A hub of this project starts from a migrated file, unless it ``is_new``.
    """
    options = [] if services == "all" else ["--only", services]
    if not (migrates or is_new):
        options.append("--no-migrate")
    var.mkdir(exist_ok=True, mode=0o700)
    file, log = var / DATABASE, var / "printed"
    if code == ROOT and not (is_new or database_url or file.exists()):
        shutil.copy(template_of_sqlite(), file)
    own = {"PORT": str(port), "A2A_VAR": str(var), "DATABASE_URL": database_url, "PUBLIC_URL": ""}
    own |= {"WEB_WORKERS": str(workers), "STOP_GRACE": f"{PATIENCE:.0f}", **NO_LIMITS, **environment}
    before = len(log.read_text()) if log.exists() else 0
    with _running([str(code / "manage.py"), "serve", *options], own, log) as process:
        port = port or _reported_port(process, log, before)
        url, database_url = f"http://127.0.0.1:{port}", database_url or f"sqlite:///{file}"
        hub = Hub(url=url, process=process, log=log, database_url=database_url)
        hub.wait_until_up()
        yield hub


@contextlib.contextmanager
def _running(program: list[str], own: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the program in the log's folder, since the working directory must not matter; stop it if it still runs."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, *program],
            cwd=log.parent,
            env=os.environ | own,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(2 * PATIENCE)


def _reported_port(process: subprocess.Popen[bytes], log: Path, before: int) -> int:
    """Wait until the hub has printed its port after the first ``before`` characters of its log; return the port."""
    wait_until(lambda: _PORT.search(log.read_text(), before) or process.poll() is not None)
    found = _PORT.search(log.read_text(), before)
    assert found, log.read_text()
    return int(found[1])


def has_ended(process: psutil.Process) -> bool:
    """Whether the process has ended. A zombie, which its parent has not reaped yet, counts as ended."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def command_of(process: psutil.Process) -> list[str]:
    """Return the process's command line, [] if it has ended since it was listed."""
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


def wait_until(condition: Callable[[], object], *, every: float = 0.02) -> None:
    """Wait until the condition holds, checking it every ``every`` seconds. Fail if it does not within `PATIENCE`."""
    give_up_at = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < give_up_at, "waited in vain"
        time.sleep(every)
