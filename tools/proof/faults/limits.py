"""Limits of the machine: few open files, and little memory."""

import contextlib
import json
import random
import re
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import psutil

from tools.proof.faults.fault import Fault
from tools.proof.stage import Stage

OPEN_FILES = 64
IDLE_SOCKETS = 150
LASTS = 5.0  # seconds
HEADROOM = 16 * 2**20  # bytes of memory that a worker may take beyond what it has
LARGE = 300_000  # numbers in a request, in about a megabyte
SENDERS = 4


def little_memory(stage: Stage, _: random.Random) -> None:
    """Let each web worker take little more memory than it has, and send it large requests."""
    with limited(stage, resource.RLIMIT_AS, lambda worker: worker.memory_info().vms + HEADROOM):
        senders = [threading.Thread(target=_send_large_requests, args=[stage]) for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()


def _send_large_requests(stage: Stage) -> None:
    """Send requests that the hub reads and parses as a whole, and then refuses."""
    (key, *_) = re.findall(r"API key +(a2a_\w+)", stage.first_output)
    numbers = json.dumps({"subject": "nobody", "action": [0] * LARGE}).encode()
    end = time.monotonic() + LASTS
    while time.monotonic() < end:
        with contextlib.suppress(httpx.TransportError):
            headers = {"Authorization": f"Bearer {key}"}
            httpx.post(f"{stage.url}/capabilities/grant", content=numbers, headers=headers, timeout=LASTS)


def few_open_files(stage: Stage, _: random.Random) -> None:
    """Let each web worker open few files, and fill them with idle connections."""
    with contextlib.ExitStack() as idle, limited(stage, resource.RLIMIT_NOFILE, lambda _worker: OPEN_FILES):
        for _number in range(IDLE_SOCKETS):
            with contextlib.suppress(OSError):
                idle.enter_context(socket.create_connection(("127.0.0.1", stage.port), timeout=1))
        time.sleep(LASTS)


@contextlib.contextmanager
def limited(stage: Stage, kind: int, limit: Callable[[psutil.Process], int]) -> Iterator[None]:
    """Set a limit of the running web workers for the block. Workers that are started meanwhile have none."""
    workers = stage.hub.web_workers()
    earlier = {worker: resource.prlimit(worker.pid, kind) for worker in workers}
    for worker, (_, hard) in earlier.items():
        _set(worker, kind, (limit(worker), hard))
    try:
        yield
    finally:
        for worker, both in earlier.items():
            _set(worker, kind, both)


def _set(process: psutil.Process, kind: int, limits: tuple[int, int]) -> None:
    with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
        resource.prlimit(process.pid, kind, limits)


def missing() -> str | None:
    """Return why this machine cannot limit running processes, None if it can."""
    return None if hasattr(resource, "prlimit") else "only Linux sets limits of running processes"


FAULTS = (
    Fault(name="limit: few open files", strike=few_open_files, missing=missing, times=2),
    Fault(name="limit: little memory", strike=little_memory, missing=missing, times=2),
)
