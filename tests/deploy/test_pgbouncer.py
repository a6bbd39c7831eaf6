"""A hub runs behind PgBouncer with the settings of `docs/operate/pgbouncer.md`, and never acknowledges without them."""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from a2a_hub_client import Answer
from tests.support import pgbouncer, postgres
from tests.support.hub import PATIENCE, ROOT, Hub, served, wait_until
from tests.support.own_client import client_of
from tests.support.pgbouncer import Pooler

pytestmark = [pytest.mark.processes, pytest.mark.one_database, pytest.mark.usefixtures("pgbouncer")]

CHECK = ("check", "--database", "default")
POOLED = {"DATABASE_POOLER": "transaction"}
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'hub'"
LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
KEPT = """
SELECT pg_backend_pid(), (SELECT count(*) FROM pg_listening_channels()), (SELECT count(*) FROM pg_prepared_statements),
(SELECT count(*) FROM pg_cursors WHERE is_holdable), (SELECT count(*) FROM pg_settings WHERE source = 'session')
"""


@pytest.fixture(scope="module")
def admin(pgbouncer: None) -> Iterator[psycopg.Connection]:
    with postgres.server() as url, psycopg.connect(url, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def pooler(admin: psycopg.Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pooler]:
    pgbouncer.set_up(admin)
    with pgbouncer.pooled(admin.info.host, admin.info.port) as running:
        managed(running, tmp_path_factory.mktemp("migrated"), "migrate", "--verbosity=0")
        yield running


def managed(pooler: Pooler, folder: Path, *arguments: str, **environment: str) -> str:
    """Return what the command of `manage.py` prints."""
    own = {"DATABASE_URL": pooler.url, "A2A_VAR": str(folder / "managed"), **POOLED, **environment}
    command = [sys.executable, "manage.py", *arguments]
    ran = subprocess.run(command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True, timeout=PATIENCE)
    return ran.stdout + ran.stderr


def behind(pooler: Pooler, folder: Path, **how: Any) -> AbstractContextManager[Hub]:
    """Serve a hub behind the pooler."""
    return served(folder / "hub", database_url=pooler.url, **{**POOLED, **how})


def kept_by_sessions(admin: psycopg.Connection, pooler: Pooler) -> list[tuple[int, ...]]:
    """Return what each session of the pooler keeps: channels, prepared statements, cursors and settings of a client."""
    ((count,),) = admin.execute(SESSIONS).fetchall()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(psycopg.connect(pooler.url, prepare_threshold=None)) for _ in range(count)]
        found = [client.execute(KEPT).fetchall() for client in clients]  # each has a transaction, and so a session
    assert len({pid for ((pid, *_),) in found}) == count
    return [tuple(kept) for ((_, *kept),) in found]


def work(hub: Hub) -> None:
    """Let the first agent send a task to itself, lease it by a long poll, answer it and drain the result."""
    operator, key = re.findall(r"API key +(a2a_\w+)", hub.first_run)
    with client_of(hub.url, operator) as granting:
        for action in ("a2a.send.first@local", "a2a.respond.first@local"):
            granting.grant("first@local", action)
    with client_of(hub.url, key) as client, ThreadPoolExecutor(1) as threads:
        received = threads.submit(client.receive)
        task = client.send("first", "Count the lines of the report")
        (leased,) = received.result().leases
        client.post_result(Answer(task_id=leased.task.id, lease_id=leased.lease.id))
        drained = client.drain()
        client.ack([task.id])
    assert [result.task_id for result in drained.results] == [task.id]


def test_a_hub_works_and_starts_again_at_once_and_leaves_nothing_in_a_session(admin, pooler, tmp_path):
    printed = []
    for _ in range(3):
        with behind(pooler, tmp_path, services="all", migrates=True, is_new=True, workers=2) as hub:
            work(hub)
            hub.wait_for_a_sweep()
            assert hub.stop() == 0
            printed.append(hub.printed)
        assert admin.execute(LOCKS).fetchone() == (0,)

    assert set(kept_by_sessions(admin, pooler)) == {(0, 0, 0, 0)}
    assert "Another hub sets up the database" not in printed[-1]
    assert "Traceback" not in printed[-1]


def test_a_role_that_could_lose_commits_is_reported_and_its_sessions_are_refused(admin, pooler, tmp_path):
    assert "no issues" in managed(pooler, tmp_path, *CHECK)
    admin.execute("ALTER ROLE hub IN DATABASE hub RESET synchronous_commit")
    admin.execute("ALTER ROLE hub IN DATABASE hub RESET lock_timeout")
    admin.execute("ALTER DATABASE hub SET synchronous_commit = off")
    pooler.restart()

    report = managed(pooler, tmp_path, *CHECK)
    with behind(pooler, tmp_path) as hub:
        assert httpx.get(f"{hub.url}/readyz").status_code == 503
        assert "synchronous_commit is off in a session" in hub.printed
        for line in re.findall(r"ALTER ROLE .*;", report):
            admin.execute(line.encode())
        pooler.restart()
        wait_until(lambda: httpx.get(f"{hub.url}/readyz").status_code == 200)

    assert "(a2a.E003) Sessions of PostgreSQL database 'default' have synchronous_commit=off, lock_timeout=0" in report
    assert "no issues" in managed(pooler, tmp_path, *CHECK)


def test_a_hub_that_is_not_set_up_for_a_pooler_does_not_start(pooler, tmp_path):
    assert "unsupported startup parameter: options" in managed(pooler, tmp_path, *CHECK, DATABASE_POOLER="none")
