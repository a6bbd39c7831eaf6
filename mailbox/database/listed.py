"""Lists of ids and moments as one parameter of a statement, and the values that both databases store differently."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import BigAutoField, DateTimeField, Expression, Lookup, UUIDField
from django.utils.dateparse import parse_datetime

# The query of the parameter ``ids``, by the vendor of the database.
UUIDS = {"postgresql": "SELECT unnest(%(ids)s::uuid[])", "sqlite": "SELECT value FROM json_each(%(ids)s)"}


def array(values: Sequence[int] | Sequence[UUID] | Sequence[datetime]) -> Any:
    """Return ids or moments as the text of an array: the value of one parameter, such as ``ids`` of `UUIDS`.

    A driver takes longer to write a list of hundreds of moments than PostgreSQL to find their rows.
    """
    if connection.vendor == "sqlite":
        return json.dumps([_stored(one) for one in values])
    return f"{{{','.join(map(str, values))}}}"


def _stored(value: int | UUID | datetime) -> int | str:
    """Return the value as SQLite stores it."""
    if isinstance(value, datetime):
        return str(connection.ops.adapt_datetimefield_value(value))
    return value.hex if isinstance(value, UUID) else value


@DateTimeField.register_lookup
@BigAutoField.register_lookup
@UUIDField.register_lookup
class Among(Lookup):  # type: ignore[type-arg]
    """The lookup ``among``: like ``in`` for a list of keys, UUIDs or moments, but with one parameter for all."""

    lookup_name = "among"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        sql, values = self.process_lhs(compiler, connection)
        return f"{sql} = ANY(%s)", [*values, self._values()]

    def as_sqlite(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        sql, values = self.process_lhs(compiler, connection)
        return f"{sql} IN (SELECT value FROM json_each(%s))", [*values, self._values()]  # noqa: S608 (ours)

    def _values(self) -> Any:
        """Return the values as the database takes them. A compiled query takes them at each run."""
        return self.rhs if isinstance(self.rhs, Expression) else array(list(self.rhs))


def moment(stored: Any) -> datetime:
    """Return a time as either database stores it."""
    value = parse_datetime(stored) if isinstance(stored, str) else stored
    if value is None:
        raise ValueError(stored)
    return value if value.tzinfo else value.replace(tzinfo=UTC)
