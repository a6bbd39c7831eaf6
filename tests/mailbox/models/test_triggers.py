"""SQLite drops the triggers of a table that a migration rebuilds, and says nothing. So the last schema has them all."""

from importlib import import_module

import pytest
from django.db import connection

pytestmark = [pytest.mark.django_db, pytest.mark.skipif("connection.vendor != 'sqlite'")]

WORDS = import_module("mailbox.migrations.0051_words").TEXTS
JOURNAL = [f"mailbox_auditevent_append_only_{act}" for act in ("update", "delete")]
ADVICE = (
    "The migrated database lacks {lost}. A migration that alters or removes a column of {tables} rebuilds the table on "
    "SQLite, which drops its triggers. Let that migration end with RunPython(forwards) of 0051_words, or for the "
    "journal's append_only triggers with protect_journal of 0001_squashed_0044."
)


def problem():
    """Return what is missing and what to do about it; an empty text if nothing is missing."""
    wanted = dict.fromkeys(JOURNAL, "mailbox_auditevent")
    wanted |= {f"{words}_{act}": table for words, table, *_ in WORDS for act in ("insert", "update", "delete")}
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'")
        lost = wanted.items() - dict(cursor.fetchall()).items()
    tables = {table for _, table in lost}
    return ADVICE.format(lost=", ".join(sorted(name for name, _ in lost)), tables=", ".join(tables)) if lost else ""


def test_the_migrated_database_has_every_trigger():
    assert problem() == "", problem()


def test_a_rebuilt_table_is_reported_with_what_to_do():
    with connection.cursor() as cursor:
        for act in ("insert", "update", "delete"):
            cursor.execute(f"DROP TRIGGER mailbox_result_words_{act}")

    assert "lacks mailbox_result_words_delete, mailbox_result_words_insert, mailbox_result_words_update" in problem()
    assert "column of mailbox_result rebuilds" in problem()
    assert "0051_words" in problem()
