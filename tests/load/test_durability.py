"""Acknowledged writes are on the disk: the database syncs each write before the hub acknowledges it."""

import re
import subprocess
import sys
import time
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.load.actors import Database
from tests.support.hub import ROOT, wait_until

CYCLES = 5
WRITES = CYCLES * 4
SYNC = re.compile(r"\b(fsync|fdatasync)\(")

on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="reads SQLite's system calls")
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="reads PostgreSQL's own counters")


def syncs_before_each_acknowledgement(database: Database, options: str = "") -> list[int]:
    """Run cycles under strace; return the number of syncs before each "acked", since the last "acked"."""
    trace = database.folder / "trace"
    command = [sys.executable, "-m", "tests.load.actor", "acknowledge-each", str(CYCLES)]
    subprocess.run(
        ["strace", "-f", "--seccomp-bpf", "-o", trace, "-e", "trace=fsync,fdatasync,write", *command],  # noqa: S607
        cwd=ROOT,
        env=database.environment | {"DATABASE_URL": f"{database.url}{options}"},
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=120,
    )
    counts, syncs = [], 0
    for line in trace.read_text(errors="replace").splitlines():
        syncs += bool(SYNC.search(line))
        if 'write(1, "acked' in line:
            counts.append(syncs)
            syncs = 0
    return counts


@on_sqlite
@pytest.mark.usefixtures("strace")
def test_sqlite_syncs_before_each_acknowledgement(database):
    database.act("prepare")

    counts = syncs_before_each_acknowledgement(database)

    assert len(counts) == WRITES
    assert min(counts) >= 1


@on_sqlite
@pytest.mark.usefixtures("strace")
def test_the_count_of_syncs_detects_a_setting_that_could_lose_writes(database):
    database.act("prepare")

    counts = syncs_before_each_acknowledgement(
        database, "?init_command=PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
    )

    assert len(counts) == WRITES
    assert min(counts) == 0


@on_sqlite
@pytest.mark.django_db
def test_a_connection_to_sqlite_syncs_its_log_at_each_commit():
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)


@on_postgresql
@pytest.mark.both_databases
@pytest.mark.django_db
def test_a_connection_to_postgresql_waits_for_its_log_at_each_commit():
    with connection.cursor() as cursor:
        assert cursor.execute("SHOW synchronous_commit").fetchone() == ("on",)


@on_postgresql
def test_postgresql_syncs_its_log_for_each_acknowledgement(database):
    database.act("prepare")
    with psycopg.connect(database.url, autocommit=True) as observer:
        before = settled(observer)

        database.act("acknowledge-each", CYCLES)

        wait_until(lambda: log_syncs(observer) - before >= WRITES)
        assert observer.execute("SHOW fsync").fetchone() == ("on",)
        assert observer.execute("SHOW synchronous_commit").fetchone() == ("on",)


def log_syncs(observer: psycopg.Connection[Any]) -> int:
    """Return the number of syncs of the server's log. Backends report theirs within a second.

    From PostgreSQL 18 on, only syncs of clients' backends count. The server's own processes sync the log of
    asynchronous commits, too, but only after their acknowledgement.
    """
    in_io = observer.info.server_version >= 180000
    of_clients = "SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal' AND backend_type = 'client backend'"
    row = observer.execute(of_clients if in_io else "SELECT wal_sync FROM pg_stat_wal").fetchone()
    assert row is not None
    return int(row[0])


def settled(observer: psycopg.Connection[Any]) -> int:
    """Wait until backends have reported earlier syncs, and return their number."""
    time.sleep(1.5)
    return log_syncs(observer)
