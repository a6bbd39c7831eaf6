"""The server of the official SDK, whose agent echoes each message, in an environment and a process of its own."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.support.clients.environments import NotInstalledError, python_driver
from tests.support.databases import database_of_its_own
from tests.support.hub import PATIENCE

DRIVER = "server_1"
DATABASE, MEMORY = "sdk", "sdk in memory"  # where a server keeps its tasks


@dataclass(frozen=True, slots=True)
class SdkServer:
    """The running server: its JSON-RPC URL and its process."""

    url: str
    process: psutil.Process


@contextmanager
def both(folder: Path) -> Iterator[dict[str, SdkServer]]:
    """Serve until the block ends with tasks in a database of the measured kind, and with tasks in memory.

    Yield no server if its environment is not installed, and print that.
    """
    try:
        command = python_driver(DRIVER)
    except NotInstalledError as error:
        print(error, file=sys.stderr)  # noqa: T201
        yield {}
        return
    with (
        database_of_its_own() as postgresql,
        _serving(command, postgresql or f"sqlite:///{folder / 'sdk.sqlite3'}") as with_database,
        _serving(command, "") as in_memory,
    ):
        yield {DATABASE: with_database, MEMORY: in_memory}


@contextmanager
def _serving(command: Sequence[str], database: str) -> Iterator[SdkServer]:
    with subprocess.Popen([*command, database], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port, "the server of the SDK did not start"
            yield SdkServer(f"http://127.0.0.1:{port}/a2a", psutil.Process(process.pid))
        finally:
            process.terminate()
            process.wait(PATIENCE)
