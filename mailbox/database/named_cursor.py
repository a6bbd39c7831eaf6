"""Cursors of SQLite for statements that run very often. Django would rewrite their parameters in each run."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.sqlite3.base import SQLiteCursorWrapper

_PARAMETER = re.compile(r"%\((\w+)\)s|%%")


class NamedCursor(SQLiteCursorWrapper):
    """A cursor that keeps each statement as SQLite spells it. Its parameters have names."""

    def convert_query(self, query: str, *, param_names: Any = None) -> str:
        return _spelled(query)


def opened() -> Any:
    """Return a `NamedCursor` of Django's connection, in Django's wrapper. The caller closes it."""
    ours = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up for each attribute
    ours.ensure_connection()
    with ours.wrap_database_errors:
        cursor = ours.connection.cursor(factory=NamedCursor)
    return ours.make_debug_cursor(cursor) if ours.queries_logged else ours.make_cursor(cursor)


@cache
def _spelled(sql: str) -> str:
    """Return the statement with parameters such as ``:at``."""
    return _PARAMETER.sub(lambda found: f":{found[1]}" if found[1] else "%", sql)
