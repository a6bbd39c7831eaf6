"""The server of the official SDK, whose agent echoes each message, in an environment and a process of its own."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.support.clients.environments import python_driver
from tests.support.databases import database_of_its_own
from tests.support.hub import PATIENCE, free_port, wait_until

DRIVER, PINNED = "server_1", "a2a-server.txt"


@dataclass(frozen=True, slots=True)
class SdkServer:
    """The running server: its JSON-RPC URL and its process."""

    url: str
    process: psutil.Process


def command() -> Sequence[str]:
    """Return the command of the server. Raises `InstallationError` if its environment cannot be made."""
    return python_driver(DRIVER, PINNED)


@contextmanager
def serving(command: Sequence[str], database: str) -> Iterator[SdkServer]:
    """Serve until the block ends. ``database`` is the URL of an empty database, or "" for tasks in memory."""
    port = free_port()
    with subprocess.Popen([*command, str(port), database]) as process:
        try:
            wait_until(lambda: _answers(port) or process.poll() is not None, every=0.1)
            assert process.poll() is None, "the server of the SDK did not start"
            yield SdkServer(f"http://127.0.0.1:{port}/a2a", psutil.Process(process.pid))
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextmanager
def database_like(url: str, folder: Path) -> Iterator[str]:
    """Yield the URL of an empty database of the same kind, on the same server."""
    with database_of_its_own() as postgresql:
        yield postgresql if url.startswith("postgres") else f"sqlite:///{folder / 'sdk.sqlite3'}"
