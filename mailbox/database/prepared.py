"""Statements that each connection to PostgreSQL plans once: most of a short statement's cost is its planning."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from mailbox.database import managers


def rows(sql: str, values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    """Run ``sql`` on Django's connection and return its rows, with values as the database stores them."""
    is_sqlite = connections[DEFAULT_DB_ALIAS].vendor == "sqlite"
    with managers.open_named() if is_sqlite else _opened() as cursor:
        cursor.execute(sql, values)
        result: Sequence[tuple[Any, ...]] = cursor.fetchall()
        return result


def _opened() -> Any:
    """Return a cursor that prepares its statements, on Django's connection to PostgreSQL and in Django's wrapper."""
    from mailbox.database.prepared_cursor import DirectCursor, PreparedCursor  # loads psycopg

    ours = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up for each attribute
    ours.ensure_connection()
    opened, is_logged = ours.connection, ours.queries_logged
    is_direct = DirectCursor.suits(opened) and not is_logged  # the log reads psycopg's own cursor
    cursor: Any = DirectCursor(opened) if is_direct else PreparedCursor(opened)
    return ours.make_debug_cursor(cursor) if is_logged else ours.make_cursor(cursor)


def row(sql: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Run ``sql`` as `rows` does and return its first row, or None."""
    result = rows(sql, values)
    return result[0] if result else None
