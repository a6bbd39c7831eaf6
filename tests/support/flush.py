"""Emptying the tables after a test that commits, as Django's `flush` does, but for this hub and in less time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from django.core.management.commands import flush
from django.db import OperationalError, connection

JOURNAL = "mailbox_auditevent"
# The rows of these are made by migrations and after them, and no test changes them.
KEPT = {"auth_group", "auth_group_permissions", "auth_permission", "django_content_type"}


@contextmanager
def quick_flush() -> Iterator[None]:
    """Let a flush empty the append-only journal too, and keep the roles, the permissions and the content types.

    Django deletes those and makes them again, which takes longer than many a test.
    """
    operations = type(connection.ops)
    execute_sql_flush = operations.execute_sql_flush

    def execute_beside_others(self: Any, statements: list[str]) -> None:
        """A hub that is served may still write for a request whose client is gone; then one of the two is told to retry."""
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
    """Return what empties the tables, by DELETE: TRUNCATE writes new files for each of them and its indexes."""
    emptied = sorted({*tables} - KEPT)
    delete = [f"DELETE FROM {table}" for table in emptied]  # noqa: S608 (our own tables)
    unprotect, protect = _journal_protection() if JOURNAL in emptied else ([], [])
    return [*_wait_for_writers(emptied), *unprotect, *delete, *protect]


def _wait_for_writers(tables: list[str]) -> list[str]:
    """On SQLite a transaction that writes has waited for the one before it."""
    return [f"LOCK TABLE {', '.join(tables)} IN EXCLUSIVE MODE"] if connection.vendor == "postgresql" else []


def _journal_protection() -> tuple[list[str], list[str]]:
    """Return the statements that lift the journal's triggers, and those that put them back."""
    if connection.vendor == "postgresql":
        return [f"ALTER TABLE {JOURNAL} DISABLE TRIGGER USER"], [f"ALTER TABLE {JOURNAL} ENABLE TRIGGER USER"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [JOURNAL])
        triggers = cursor.fetchall()
    return [f"DROP TRIGGER {name}" for name, _ in triggers], [sql for _, sql in triggers]
