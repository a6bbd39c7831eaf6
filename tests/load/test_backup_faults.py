"""A killed restore changes nothing or everything, and damage is refused with a reason."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection

from tests.load.actors import Database
from tests.load.command_line import a2a, done, environment_of, refusal, state
from tests.support.hub import ROOT, wait_until

TRIES = 20
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="about the file of SQLite")
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="about a PostgreSQL server")


@pytest.fixture
def heavy(database: Database) -> Database:
    """Return a hub of 20 MB, whose restore takes a while."""
    database.act("prepare")
    database.act("weigh", 40)
    return database


@on_sqlite
@pytest.mark.parametrize("moment", ["hub.sqlite3.restoring", ".partial", "hub.sqlite3-journal"])
def test_a_killed_restore_leaves_the_earlier_or_the_new_database(heavy: Database, moment: str) -> None:
    """`moment` is the end of the name of the file at whose appearance the restore is killed."""
    file = heavy.folder / "hub.backup"
    done(a2a(heavy, "backup", file))
    beside = Path(heavy.url.removeprefix("sqlite:///")).parent

    later, whole = killed_restore(heavy, file, lambda: any(path.name.endswith(moment) for path in beside.iterdir()))

    rows, problems = state(heavy)
    assert problems == []
    assert set(rows["tasks"]) in (set(whole), set(whole) - {later})
    done(a2a(heavy, "restore", file, "--replace"))
    assert set(heavy.act("rows")["tasks"]) == set(whole) - {later}


@on_postgresql
def test_a_killed_restore_leaves_the_earlier_schema(heavy: Database) -> None:
    file = heavy.folder / "hub.backup"
    done(a2a(heavy, "backup", file))

    locks = b"SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation IS NOT NULL"
    # A connection to the restored database itself would be refused as a running hub.
    with psycopg.connect(urlsplit(heavy.url)._replace(path="/template1").geturl(), autocommit=True) as other:
        later, _ = killed_restore(heavy, file, lambda: other.execute(locks).fetchone() != (0,))

    rows, problems = state(heavy)
    assert problems == []
    assert later in rows["tasks"]
    done(a2a(heavy, "restore", file, "--replace"))
    assert later not in heavy.act("rows")["tasks"]


def killed_restore(hub: Database, file: Path, is_moment: Callable[[], bool]) -> tuple[str, list[str]]:
    """Send a task, and kill a restore at the moment. Return the id of the task, and the ids of all tasks before.

    On a busy machine a restore may end before anyone sees the moment. Then this begins anew.
    """
    for _ in range(TRIES):
        (later,) = hub.act("send", 1)
        whole = hub.act("rows")["tasks"]
        if kill_at(hub, file, is_moment) == -signal.SIGKILL:
            return later, whole
    raise AssertionError("every restore ended before its moment was seen")


def kill_at(hub: Database, file: Path, is_moment: Callable[[], bool]) -> int:
    """Start a restore and kill it at the moment; return its exit code."""
    call = [sys.executable, str(ROOT / "manage.py"), "a2a", "restore", str(file), "--replace"]
    with subprocess.Popen(call, env=environment_of(hub), stdout=subprocess.DEVNULL) as restore:
        wait_until(lambda: is_moment() or restore.poll() is not None, every=0)
        restore.kill()
    return restore.returncode


@on_sqlite
def test_a_damaged_database_is_not_backed_up_but_can_be_replaced(database: Database, backup: Path) -> None:
    hub = Path(database.url.removeprefix("sqlite:///"))
    whole = hub.read_bytes()
    hub.write_bytes(whole[: len(whole) // 2])

    assert "damaged" in refusal(a2a(database, "backup", backup.with_name("another")))
    assert not backup.with_name("another").exists()
    assert "Give --replace" in refusal(a2a(database, "restore", backup))
    done(a2a(database, "restore", backup, "--replace"))
    assert len(database.act("rows")["tasks"]) == 3


@on_sqlite
def test_a_backup_whose_journal_lacks_a_row_is_refused(database: Database, backup: Path) -> None:
    database.act("lose-a-journal-row")
    torn = backup.with_name("torn")
    done(a2a(database, "backup", torn))

    assert "disagree about task" in refusal(a2a(database, "restore", torn, "--replace"))
    assert len(database.act("rows")["tasks"]) == 3


@on_postgresql
def test_a_missing_pg_dump_is_named_with_its_command(database: Database, tmp_path: Path) -> None:
    missing = refusal(a2a(database, "backup", tmp_path / "b", PATH="/nowhere"))

    assert "pg_dump is not installed here" in missing
    assert "pg_dump --format=custom" in missing
    assert "sslcertmode" not in missing  # pg_dump before 16 does not know it
    assert not list(tmp_path.glob("b*"))


@on_postgresql
def test_an_older_pg_dump_is_refused(database: Database, tmp_path: Path) -> None:
    old = tmp_path / "old" / "pg_dump"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.1'\n")
    old.chmod(0o755)

    assert "older than the server" in refusal(a2a(database, "backup", tmp_path / "b", PATH=f"{old.parent}:/bin"))
