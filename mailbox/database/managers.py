"""The managers of the models, instances from rows, and cursors of SQLite for frequent statements.

Django's own instances cost several times as much. Django would also rewrite the parameters of a statement in each run.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.sqlite3.base import SQLiteCursorWrapper
from django.db.models import Expression, Model, QuerySet
from django.db.models.base import ModelState

Moment = datetime | Expression
"""A known moment, or an expression that each run of a query gives."""

Rows = TypeVar("Rows", bound=QuerySet[Any])
Kind = TypeVar("Kind", bound=Model)
_PARAMETER = re.compile(r"%\((\w+)\)s|%%")


def managed_by(queryset: type[Rows]) -> Rows:
    """Return a manager with the methods of ``queryset``, typed as that class, since both return such query sets."""
    return queryset.as_manager()  # type: ignore[return-value]


def instance_of(model: type[Kind], columns: Sequence[str], row: Sequence[Any], **related: Model) -> Kind:
    """Return a stored instance with these values, as ``Model.from_db`` does.

    ``columns`` are the names of the instance's attributes, such as ``sender_id``. The other columns are read at their
    first use. ``related`` are the instances behind foreign keys, by the name of the key. No signal is sent.
    """
    instance = model.__new__(model)
    instance._state = state = ModelState()
    state.adding, state.db = False, DEFAULT_DB_ALIAS
    if related:
        state.fields_cache.update(related)
    instance.__dict__.update(zip(columns, row, strict=True))
    return instance


class NamedCursor(SQLiteCursorWrapper):
    """A cursor that keeps each statement as SQLite spells it. Its parameters have names."""

    def convert_query(self, query: str, *, param_names: Any = None) -> str:
        return _spelled(query)


def open_named() -> Any:
    """Return a `NamedCursor` of Django's connection, in Django's wrapper. The caller closes it."""
    ours = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up for each attribute
    ours.ensure_connection()
    with ours.wrap_database_errors:
        cursor = ours.connection.cursor(factory=NamedCursor)
    return ours.make_debug_cursor(cursor) if ours.queries_logged else ours.make_cursor(cursor)


@cache
def _spelled(sql: str) -> str:
    """Return the statement with parameters such as ``:at``."""
    return _PARAMETER.sub(lambda match: f":{match[1]}" if match[1] else "%", sql)
