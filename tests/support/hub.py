"""Served hubs for tests: `manage.py serve` in a process, on a free port, with its own data."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
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

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 180.0  # seconds that tests wait at most: enough for a busy machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A running hub. `printed` is its output so far."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def printed(self) -> str:
        return self.log.read_text()

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
        """Return the task cluster's main process."""
        return self._child("qcluster")

    def _child(self, word: str) -> psutil.Process:
        """Return the service's process. After a kill this waits until the supervisor has started the next one."""
        wait_until(lambda: self._children(word))
        return self._children(word)[0]

    def _children(self, word: str) -> list[psutil.Process]:
        children = psutil.Process(self.process.pid).children()
        return [child for child in children if word in command_of(child)]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal; return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(2 * PATIENCE)


@contextlib.contextmanager
def served(
    var: Path, *options: str, database_url: str = "", port: int = 0, workers: int = 1, **environment: str
) -> Iterator[Hub]:
    """Serve a hub with its data in `var`, or in `database_url`, until the block ends. It answers when this yields.

    ``options`` are options of `manage.py serve`. ``workers`` is the number of its web server's processes.
    """
    port = port or free_port()
    var.mkdir(exist_ok=True)
    log = var / "printed"
    own = {"PORT": str(port), "A2A_VAR": str(var), "DATABASE_URL": database_url, "PUBLIC_URL": ""}
    own |= {"WEB_WORKERS": str(workers), "STOP_GRACE": f"{PATIENCE:.0f}", **environment}
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "serve", *options],
            cwd=var,  # the working directory must not matter
            env=os.environ | own,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    hub = Hub(url=f"http://127.0.0.1:{port}", process=process, log=log)
    try:
        hub.wait_until_up()
        yield hub
    finally:
        if process.poll() is None:
            hub.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


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
