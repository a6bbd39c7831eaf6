from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import hypothesis
import pytest
from django.db import OperationalError, connection

JOURNAL = "mailbox_auditevent"
SEEDED_BY_MIGRATIONS = {"auth_group"}

hypothesis.settings.register_profile("usual", max_examples=40, stateful_step_count=25, deadline=None)
hypothesis.settings.register_profile("soak", max_examples=500, stateful_step_count=50, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "usual")


@pytest.fixture(scope="session", autouse=True)
def _flush_empties_the_journal() -> Iterator[None]:
    """Let tests that commit empty the tables after them, the append-only journal too, and keep the roles."""
    operations = type(connection.ops)
    sql_flush = operations.sql_flush

    def sql_flush_with_journal(self: Any, style: Any, tables: list[str], **options: Any) -> list[str]:
        emptied = [table for table in tables if table not in SEEDED_BY_MIGRATIONS]
        unprotect, protect = _journal_protection() if JOURNAL in emptied else ([], [])
        return [*unprotect, *sql_flush(self, style, emptied, **options), *protect]

    execute_sql_flush = operations.execute_sql_flush

    def execute_beside_others(self: Any, sql_list: list[str]) -> None:
        """A hub that is served may still read for a request whose client is gone; then one of the two is told to retry."""
        for _ in range(4):
            with suppress(OperationalError):
                return execute_sql_flush(self, sql_list)
        return execute_sql_flush(self, sql_list)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "sql_flush", sql_flush_with_journal)
        patch.setattr(operations, "execute_sql_flush", execute_beside_others)
        yield


def _journal_protection() -> tuple[list[str], list[str]]:
    """Return the statements that lift the journal's triggers, and those that put them back."""
    if connection.vendor == "postgresql":
        return [f"ALTER TABLE {JOURNAL} DISABLE TRIGGER USER"], [f"ALTER TABLE {JOURNAL} ENABLE TRIGGER USER"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [JOURNAL])
        triggers = cursor.fetchall()
    return [f"DROP TRIGGER {name}" for name, _ in triggers], [sql for _, sql in triggers]
