"""`manage.py migrate`: no time limit, progress, and the databases of earlier versions."""

from collections.abc import Sequence
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.core.management.base import OutputWrapper
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.models.signals import pre_migrate

from a2aproject.management.commands.migrate import ProgressLine
from mailbox.database import migration_history
from mailbox.management.cli.progress import ERASE_LINE

SQUASHED = {
    ("mailbox", "0001_squashed_0044_sums_of_all_minutes"),
    ("agentcards", "0001_squashed_0008_remote_conversations"),
}
(NEWEST,) = MigrationLoader(None).graph.leaf_nodes("mailbox")
NAME = ".".join(NEWEST)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no time limit of statements")
@pytest.mark.both_databases
@pytest.mark.django_db
@pytest.mark.parametrize("is_pooled", [False, True])
def test_migrations_have_no_time_limit_but_in_a_session_of_a_pooler(settings, is_pooled):
    settings.DATABASE_POOLED = is_pooled
    before, during = limits(), []

    def note(**_: Any) -> None:
        during.append(limits())

    pre_migrate.connect(note, weak=False)
    try:
        call_command("migrate", verbosity=0)
    finally:
        pre_migrate.disconnect(note)

    assert before == ("30s", "10s")
    assert set(during) == {before if is_pooled else ("0", "0")}
    assert limits() == before


def limits() -> tuple[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('statement_timeout'), current_setting('lock_timeout')")
        statement, lock = cursor.fetchone()
        return statement, lock


@pytest.mark.django_db
def test_a_database_with_the_single_migrations_of_version_1_0_0_needs_no_squashed_one():
    unrecord(SQUASHED)

    printed = StringIO()
    call_command("migrate", stdout=printed)

    assert "No migrations to apply" in printed.getvalue()
    assert MigrationRecorder(connection).applied_migrations().keys() >= SQUASHED


@pytest.mark.django_db
@pytest.mark.parametrize("app", ["mailbox", "agentcards"])
@pytest.mark.parametrize("kept", [1, -1], ids=["the first", "all but the last"])
def test_a_database_of_a_version_before_1_0_0_is_refused_before_it_changes(app, kept):
    (squashed,) = (name for name in SQUASHED if name[0] == app)
    unrecord({*SQUASHED, *MigrationLoader(None).replacements[squashed].replaces[kept:]})
    before = MigrationRecorder(connection).applied_migrations().keys()

    with pytest.raises(CommandError, match=r"a version before 1\.0\.0\. Migrate it by version 1\.0\.0 first"):
        call_command("migrate", verbosity=0)

    assert MigrationRecorder(connection).applied_migrations().keys() == before


def test_a_squashed_migration_whose_single_migrations_are_kept_is_left_to_django(monkeypatch):
    loader, single = MigrationLoader(None), [("mailbox", "0052_pair_counts"), ("mailbox", "0053_saved_views")]
    squashed = loader.disk_migrations[NEWEST]
    monkeypatch.setattr(squashed, "replaces", single)
    monkeypatch.setattr(loader, "replacements", {NEWEST: squashed})

    assert not migration_history.precedes_oldest(loader, single[:1])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, f"migrating 1 of 1: {NAME}\n"),
        ({"verbosity": 0, "progress": True}, f"migrating 1 of 1: {NAME}\n"),
        ({"verbosity": 2}, f"  Applying {NAME}... FAKED"),
    ],
)
def test_each_migration_is_told_with_its_number(options, expected):
    unrecord({NEWEST})

    printed = StringIO()
    call_command("migrate", fake=True, no_color=True, stdout=printed, **options)

    assert expected in printed.getvalue()
    assert options.get("verbosity") != 0 or printed.getvalue() == expected


@pytest.mark.django_db
def test_nothing_is_told_without_verbosity():
    unrecord({NEWEST})

    printed = StringIO()
    call_command("migrate", fake=True, verbosity=0, stdout=printed)

    assert printed.getvalue() == ""


def test_a_terminal_shows_one_line_that_changes(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    terminal = Terminal()
    progress = ProgressLine(OutputWrapper(terminal))
    progress.begin(plan=range(3))
    for name in ("mailbox.0001_a_long_name_that_the_window_cuts", "mailbox.0002_b", "mailbox.0003_c"):
        progress.step(name)
    progress.end()

    assert terminal.getvalue().split(ERASE_LINE)[1:] == [
        "migrating 1 of 3: mailbox.0001_a_long_n",
        "migrating 2 of 3: mailbox.0002_b",
        "migrating 3 of 3: mailbox.0003_c\n",
    ]


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def unrecord(names: set[tuple[str, str]] | Sequence[tuple[str, str]]) -> None:
    recorder = MigrationRecorder(connection)
    for name in names:
        recorder.record_unapplied(*name)
