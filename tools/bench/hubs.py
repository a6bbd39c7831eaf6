"""The databases and processes that measurements need."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.support import postgres
from tests.support.databases import database_of_its_own
from tests.support.hub import Hub
from tools.bench.cycles import PATIENCE


@contextmanager
def database_url(database: str, folder: Path) -> Iterator[str]:
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


def apart(work: Any, *arguments: Any, patience: float = PATIENCE) -> Any:
    """Call ``work`` in a new process: a process can set Django up for one database only."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result(timeout=patience)


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
