"""PostgreSQL statements that each connection plans once: most of a short statement's cost is its planning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection


def rows(sql: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    """Run ``sql`` on Django's connection to PostgreSQL and return its rows."""
    from mailbox.database.prepared_cursor import DirectCursor, PreparedCursor  # loads psycopg

    connection.ensure_connection()
    opened = connection.connection
    is_direct = DirectCursor.suits(opened) and not connection.queries_logged  # the log reads psycopg's own cursor
    cursor: Any = DirectCursor(opened) if is_direct else PreparedCursor(opened)
    with (
        connection.make_debug_cursor(cursor) if connection.queries_logged else connection.make_cursor(cursor) as wrapped
    ):
        wrapped.execute(sql, values)
        found: Sequence[tuple[Any, ...]] = wrapped.fetchall()
        return found


def row(sql: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Run ``sql`` on Django's connection to PostgreSQL and return its first row, or None."""
    found = rows(sql, values)
    return found[0] if found else None
