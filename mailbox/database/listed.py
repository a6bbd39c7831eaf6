"""Lists of ids as one parameter of a statement, and the values that both databases store differently."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import BigAutoField, Lookup
from django.utils.dateparse import parse_datetime

# The query of the parameter ``ids``, by the vendor of the database.
UUIDS = {"postgresql": "SELECT unnest(%(ids)s::uuid[])", "sqlite": "SELECT value FROM json_each(%(ids)s)"}


def given(ids: Sequence[int] | Sequence[UUID]) -> Any:
    """Return ids as the value of the parameter ``ids``."""
    if connection.vendor == "sqlite":
        return json.dumps([one.hex if isinstance(one, UUID) else one for one in ids])
    return list(ids)


@BigAutoField.register_lookup
class Among(Lookup):  # type: ignore[type-arg]
    """The lookup ``pk__among``: like ``in`` for a list of keys, but with one parameter for thousands of them."""

    lookup_name = "among"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        sql, values = self.process_lhs(compiler, connection)
        return f"{sql} = ANY(%s)", [*values, list(self.rhs)]

    def as_sqlite(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        sql, values = self.process_lhs(compiler, connection)
        return f"{sql} IN (SELECT value FROM json_each(%s))", [*values, json.dumps(list(self.rhs))]  # noqa: S608 (ours)


def moment(stored: Any) -> datetime:
    """Return a time as either database stores it."""
    found = parse_datetime(stored) if isinstance(stored, str) else stored
    if found is None:
        raise ValueError(stored)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
