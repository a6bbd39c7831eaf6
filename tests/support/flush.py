"""Empties the tables after a test that commits. Faster than Django's `flush`, and able to empty the journal."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from django.core.management.commands import flush
from django.db import OperationalError, connection

JOURNAL = "mailbox_auditevent"
# Migrations and their signals make the rows of these tables, and no test changes them.
KEPT = {"auth_group", "auth_group_permissions", "auth_permission", "django_content_type"}


@contextmanager
def quick_flush() -> Iterator[None]:
    """Patch `flush` within the block: it empties the append-only journal too, and keeps the tables in `KEPT`.

    Django would delete their rows and make them again, which takes longer than many tests.
    """
    operations = type(connection.ops)
    execute_sql_flush = operations.execute_sql_flush

    def execute_beside_others(self: Any, statements: list[str]) -> None:
        """Repeat a flush that a deadlock ended: a served hub may still write for a request whose client is gone."""
        for _ in range(4):
            with suppress(OperationalError):
                return execute_sql_flush(self, statements)
        return execute_sql_flush(self, statements)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "sql_flush", _statements)
        patch.setattr(operations, "execute_sql_flush", execute_beside_others)
        patch.setattr(flush, "emit_post_migrate_signal", lambda *_, **__: None)
        yield


def _statements(_: Any, __: Any, tables: list[str], **options: Any) -> list[str]:
    """Return statements that empty the tables by DELETE: TRUNCATE would write new files for all tables and indexes."""
    emptied = sorted({*tables} - KEPT)
    delete = [f"DELETE FROM {table}" for table in emptied]  # noqa: S608 (our own tables)
    unprotect, protect = _journal_protection() if JOURNAL in emptied else ([], [])
    return [*_wait_for_writers(emptied), *unprotect, *delete, *protect]


def _wait_for_writers(tables: list[str]) -> list[str]:
    """Return a statement that waits for other writers. SQLite needs none: its writers always wait for each other."""
    return [f"LOCK TABLE {', '.join(tables)} IN EXCLUSIVE MODE"] if connection.vendor == "postgresql" else []


def _journal_protection() -> tuple[list[str], list[str]]:
    """Return the statements that remove the journal's triggers, and the statements that restore them."""
    if connection.vendor == "postgresql":
        return [f"ALTER TABLE {JOURNAL} DISABLE TRIGGER USER"], [f"ALTER TABLE {JOURNAL} ENABLE TRIGGER USER"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [JOURNAL])
        triggers = cursor.fetchall()
    return [f"DROP TRIGGER {name}" for name, _ in triggers], [sql for _, sql in triggers]
