"""A backup of a hub under load holds every acknowledged write, and a restore brings the whole hub back."""

import contextlib
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
from django.db import connection

from tests.load.actor import SECRET
from tests.load.actors import Database
from tests.load.cast import operator_of
from tests.load.command_line import a2a, done, new_hub, refusal, state
from tests.support.hub import PATIENCE, ROOT, served, wait_until
from tests.support.own_client import client_of

APPEND_ONLY = "the journal is append-only; the journal is append-only"


@contextlib.contextmanager
def loaded(database: Database, processes: int = 3) -> Iterator[list[Path]]:
    """Run cycles in processes until the block ends; yield the files to which they report."""
    reports = [database.folder / f"reported-{number}" for number in range(processes)]
    call = [sys.executable, "-m", "tests.load.actor", "report-each", "1000000"]
    with contextlib.ExitStack() as stack:
        for report in reports:
            running = subprocess.Popen(
                call, cwd=ROOT, env=database.environment, stdout=stack.enter_context(report.open("wb"))
            )
            stack.callback(running.wait)
            stack.callback(running.kill)
        wait_until(lambda: all(len(acknowledged([report])) > 20 for report in reports))
        yield reports


def acknowledged(reports: list[Path]) -> set[tuple[str, str]]:
    """Return the (table, task id) of each write that was reported so far."""
    lines = [line for report in reports for line in report.read_text().splitlines(keepends=True)]
    pairs = [line.split() for line in lines if line.endswith("\n")]
    return {(table, task) for table, task in pairs}


def test_a_backup_under_load_holds_every_acknowledged_write(database: Database, tmp_path: Path) -> None:
    database.act("prepare")
    key = database.act("entrust")
    file = tmp_path / "hub.backup"
    with loaded(database) as reports:
        before = acknowledged(reports)
        made = json.loads(done(a2a(database, "backup", file, "--json")))
        wait_until(lambda: len(acknowledged(reports)) > len(before) + 20)

    with new_hub(tmp_path / "new") as hub:
        restored = json.loads(done(a2a(hub, "restore", file, "--json")))
        rows, problems = state(hub)

        assert problems == []
        assert {(table, task) for table, task in before if task not in rows[table]} == set()
        assert len(rows["tasks"]) == made["manifest"]["rows"]["tasks"]
        assert (restored["kept"], restored["secret_differs"], restored["migrated"]) == (None, False, 0)
        assert hub.act("forge") == APPEND_ONLY
        assert hub.act("secrets") == [SECRET]
        assert hub.act("restores") == ["hub_restored"]
        assert database.act("restores") == ["hub_backed_up"]
        assert serves(hub, key)


def serves(database: Database, key: str) -> bool:
    """Whether a hub on the database accepts the key and a task."""
    with served(database.folder, database_url=database.url) as hub, client_of(hub.url, key) as sender:
        return sender.send("worker@load", "after the restore").outcome is None


def test_a_backup_is_private_and_replaces_a_file_only_by_force(database: Database, backup: Path) -> None:
    first = backup.read_bytes()

    assert backup.stat().st_mode & 0o777 == 0o600
    assert "exists" in refusal(a2a(database, "backup", backup))
    assert backup.read_bytes() == first
    done(a2a(database, "backup", backup, "--force"))
    assert backup.read_bytes() != first
    assert [path.name for path in backup.parent.iterdir() if "hub.backup" in path.name] == ["hub.backup"]


def test_a_restore_keeps_the_database_that_it_replaces(database: Database, backup: Path) -> None:
    (later,) = database.act("send", 1)

    assert "holds tasks" in refusal(a2a(database, "restore", backup))
    assert later in database.act("rows")["tasks"]
    printed = done(a2a(database, "restore", backup, "--replace"))

    rows, problems = state(database)
    assert (len(rows["tasks"]), problems) == (3, [])
    (kept,) = [line.rpartition(" ")[2] for line in printed.splitlines() if "earlier database" in line]
    assert later in kept_tasks(database, kept)


def kept_tasks(database: Database, kept: str) -> set[str]:
    """Return the task ids of the database that a restore replaced."""
    if connection.vendor == "sqlite":
        with contextlib.closing(sqlite3.connect(kept)) as opened:
            rows = opened.execute("SELECT uuid FROM mailbox_task").fetchall()
        return {f"{x[:8]}-{x[8:12]}-{x[12:16]}-{x[16:20]}-{x[20:]}" for (x,) in rows}
    with psycopg.connect(database.url) as own:
        return {str(uuid) for (uuid,) in own.execute(f'SELECT uuid FROM "{kept}".mailbox_task'.encode())}  # noqa: S608


def test_a_restore_refuses_while_a_hub_runs(database: Database, backup: Path) -> None:
    with served(database.folder, migrates=True, database_url=database.url) as hub:
        with operator_of(hub) as client:
            assert list(client.agents())

        assert "Stop" in refusal(a2a(database, "restore", backup, "--replace"))

    assert len(database.act("rows")["tasks"]) == 3
    done(a2a(database, "restore", backup, "--replace"))


def test_an_older_backup_is_migrated_and_a_newer_backup_is_refused(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "old.backup"
    manage = [sys.executable, str(ROOT / "manage.py")]
    for app, name in (("axes", "0008"), ("mailbox", "0050")):
        subprocess.run([*manage, "migrate", "-v0", app, name], env=database.environment, check=True)
    done(a2a(database, "backup", file))

    with new_hub(tmp_path / "new") as hub:
        migrated = json.loads(done(a2a(hub, "restore", file, "--json")))["migrated"]
        assert migrated > 0
        subprocess.run([*manage, "migrate", "--check"], env=hub.environment, check=True, stdout=subprocess.DEVNULL)

    newer = tmp_path / "new.backup"
    execute(
        database,
        "INSERT INTO django_migrations (app, name, applied) VALUES ('mailbox', '9999_later', CURRENT_TIMESTAMP)",
    )
    done(a2a(database, "backup", newer))
    assert "newer version" in refusal(a2a(database, "restore", newer, "--replace"))


def test_a_backup_with_single_migrations_is_restored_and_one_of_before_1_0_0_is_refused(
    database: Database, tmp_path: Path
) -> None:
    single, half = tmp_path / "single.backup", tmp_path / "half.backup"
    execute(database, "DELETE FROM django_migrations WHERE name LIKE '%squashed%' AND app IN ('mailbox', 'agentcards')")
    done(a2a(database, "backup", single))
    execute(database, "DELETE FROM django_migrations WHERE app = 'mailbox' AND name LIKE '0044%'")
    done(a2a(database, "backup", half))

    with new_hub(tmp_path / "new") as hub:
        assert json.loads(done(a2a(hub, "restore", single, "--json")))["migrated"] == 0
    assert "before 1.0.0. Restore it with version 1.0.0" in refusal(a2a(database, "restore", half, "--replace"))


def execute(database: Database, statement: str) -> None:
    if connection.vendor == "sqlite":
        with contextlib.closing(sqlite3.connect(database.url.removeprefix("sqlite:///"))) as own:
            own.execute(statement)
            own.commit()
    else:
        with psycopg.connect(database.url) as server:
            server.execute(statement.encode())


def test_a_secret_of_the_environment_is_not_in_the_backup(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "hub.backup"
    made = json.loads(done(a2a(database, "backup", file, "--json", SECRET_KEY="of the environment")))
    assert not made["manifest"]["has_secret"]
    assert "of the environment" not in file.read_bytes().decode("latin-1")

    with new_hub(tmp_path / "same") as hub:
        assert "WARNING" not in done(a2a(hub, "restore", file, SECRET_KEY="of the environment"))
    with new_hub(tmp_path / "other") as hub:
        assert "WARNING" in done(a2a(hub, "restore", file, SECRET_KEY="another"))
    with new_hub(tmp_path / "none") as hub:
        assert "WARNING" in done(a2a(hub, "restore", file))


def test_another_secret_is_kept_beside_the_restored_secret(database: Database, backup: Path) -> None:
    secret = database.folder / "secret_key"
    of_the_backup = secret.read_text()
    secret.write_text("another secret")

    done(a2a(database, "restore", backup, "--replace"))

    assert secret.read_text() == of_the_backup
    (kept,) = database.folder.glob("secret_key.before-*")
    assert re.fullmatch(r"secret_key\.before-\d{8}T\d{12}Z", kept.name)  # to the microsecond, so no restore replaces it
    assert kept.read_text() == "another secret"
    assert secret.stat().st_mode & 0o777 == 0o600


def test_a_secret_that_cannot_be_written_is_reported_after_the_database_was_restored(
    database: Database, backup: Path
) -> None:
    secret = database.folder / "secret_key"
    of_the_backup = secret.read_text()
    secret.write_text("another secret")
    (in_the_way := database.folder / "secret_key.partial").mkdir()

    refused = refusal(a2a(database, "restore", backup, "--replace"))

    assert "The database is restored, but not the hub's secret" in refused
    assert secret.read_text() == "another secret"
    in_the_way.rmdir()
    done(a2a(database, "restore", backup, "--replace"))
    assert secret.read_text() == of_the_backup


def sealer(database: Database, command: str) -> str:
    call = [sys.executable, "-m", "tests.load.sealer", command]
    return subprocess.check_output(call, cwd=ROOT, env=database.environment, text=True, timeout=PATIENCE)


def test_a_restored_hub_has_the_seal_key_and_a_whole_journal(database: Database, tmp_path: Path) -> None:
    database.act("prepare")
    sealer(database, "verify")
    file = tmp_path / "hub.backup"
    done(a2a(database, "backup", file, "--with-seal-key"))

    with new_hub(tmp_path / "new") as hub:
        hub.folder.mkdir(exist_ok=True, mode=0o700)
        (hub.folder / "seal_head").write_text("the head of another journal")
        (hub.folder / "seal_key").write_text("ab" * 32)
        assert "WARNING: the journal" not in done(a2a(hub, "restore", file))
        assert "the journal is whole" in done(a2a(hub, "audit", "verify"))
        assert (hub.folder / "seal_key").read_text() == (database.folder / "seal_key").read_text()
        assert len([*hub.folder.glob("seal_key.before-*"), *hub.folder.glob("seal_head.before-*")]) == 2


def test_a_restored_hub_without_the_seal_key_trusts_the_earlier_seals_and_signs_by_a_new_key(
    database: Database, tmp_path: Path
) -> None:
    database.act("prepare")
    sealer(database, "verify")
    file, passphrase = tmp_path / "hub.backup", tmp_path / "passphrase"
    passphrase.write_text("correct horse\n")
    words = ("backup", file, "--without-secrets", "--passphrase-file", passphrase, "--json")
    manifest = json.loads(done(a2a(database, *words)))["manifest"]
    assert not manifest["has_secret"]
    assert not manifest["has_seal_key"]
    assert manifest["head"] == json.loads((database.folder / "seal_head").read_text())["hash"]

    with new_hub(tmp_path / "new") as hub:
        assert "is encrypted: give its passphrase" in refusal(a2a(hub, "restore", file))
        restored = done(a2a(hub, "restore", file, "--passphrase-file", passphrase))
        assert "WARNING: the journal" not in restored
        assert "WARNING: the hub's secret is not that of the backup" in restored
        assert "the journal is whole" in done(a2a(hub, "audit", "verify"))
        sealer(hub, "verify")
        assert "the journal is whole" in done(a2a(hub, "audit", "verify"))
        assert (hub.folder / "seal_key").read_text() != (database.folder / "seal_key").read_text()


def test_a_restore_reports_a_journal_that_is_not_as_it_was_sealed(database: Database, tmp_path: Path) -> None:
    database.act("prepare")
    sealer(database, "verify")
    sealer(database, "tamper")
    file = tmp_path / "hub.backup"
    done(a2a(database, "backup", file))

    with new_hub(tmp_path / "new") as hub:
        assert "WARNING: the journal of the backup is not as it was sealed: row " in done(a2a(hub, "restore", file))
