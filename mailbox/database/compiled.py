"""Queries that a process builds and compiles once. For a large query, that takes longer than the database needs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, wraps
from typing import Any, ParamSpec, cast

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import BigIntegerField, DateTimeField, Expression, Field, QuerySet
from django.db.models.sql import Query
from django.db.models.sql.compiler import SQLCompiler

from mailbox.database import listed

Shape = ParamSpec("Shape")
KEPT = 64  # compiled queries of each function


class Parameter(Expression):
    """A value that each run of the query gives by this name.

    A given moment minus or plus a span is that moment of each run, like the datetime that it stands for.
    """

    def __init__(self, name: str, output_field: Field[Any, Any] | None = None, shift: timedelta = timedelta(0)) -> None:
        super().__init__(output_field=output_field or DateTimeField())
        self.name, self.shift = name, shift

    def __add__(self, other: timedelta) -> Parameter:  # type: ignore[override]
        return Parameter(self.name, self.output_field, self.shift + other)

    def __sub__(self, other: timedelta) -> Parameter:  # type: ignore[override]
        return self + -other

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, list[Any]]:
        return "%s", [self]

    def get_group_by_cols(self) -> list[Any]:
        return []

    def of(self, values: Mapping[str, Any], connection: Any) -> Any:
        """Return its value among those of a run, as the database takes it."""
        value = values[self.name]
        shifted = value + self.shift if self.shift else value
        return self.output_field.get_db_prep_value(shifted, connection=connection)


class ListParameter(Parameter):
    """A list of ids or moments that each run of the query gives by this name, for the lookup ``among``."""

    def of(self, values: Mapping[str, Any], connection: Any) -> Any:
        return listed.array(values[self.name])


Time = datetime | Parameter
"""A moment: a known one, or a value that each run of a compiled query gives."""

NOW = Parameter("now")


def keys(number: int) -> list[Parameter]:
    """Return so many primary keys, which each run gives as `many` writes them."""
    return [Parameter(f"key{place}", BigIntegerField()) for place in range(number)]


def many(pks: Sequence[int]) -> tuple[int, dict[str, int]]:
    """Return a number of `keys`, and as many values by name: these primary keys.

    The number is 0 or a power of two, so that few queries are compiled. The last key fills it.
    """
    number = 1 << (len(pks) - 1).bit_length() if pks else 0
    return number, {f"key{place}": pks[min(place, len(pks) - 1)] for place in range(number)}


class Compiled:
    """A query with its SQL. Threads share it."""

    def __init__(self, built: QuerySet[Any, Any] | Query) -> None:
        self._built = built
        self._query = built if isinstance(built, Query) else built.query
        self._compiler = self._query.get_compiler(using=DEFAULT_DB_ALIAS)
        self._sql, self._values = self._compiler.as_sql()
        self._compiler.connection = None  # each run takes that of its thread

    def rows(self, **values: Any) -> list[Any]:
        """Run the query with these values of its `Parameter`s; return what its queryset returns, or tuples."""
        compiler = self._bound(values)
        if isinstance(self._built, Query):
            return list(compiler.results_iter(tuple_expected=True))
        queryset = self._built.all()
        queryset.query.get_compiler = lambda *_, **__: compiler  # type: ignore[method-assign]
        return list(queryset)

    def _bound(self, values: Mapping[str, Any]) -> Any:
        connection = connections[DEFAULT_DB_ALIAS]
        bound = tuple(one.of(values, connection) if isinstance(one, Parameter) else one for one in self._values)
        compiler: Any = copy.copy(self._compiler)
        compiler.connection = connection
        compiler.as_sql = lambda *_, **__: (self._sql, bound)
        return compiler


def once(build: Callable[Shape, QuerySet[Any, Any] | Query]) -> Callable[Shape, Compiled]:
    """Compile what ``build`` returns once for each shape: its arguments, which must be hashable."""

    @lru_cache(KEPT)
    @wraps(build)
    def compiled(*args: Shape.args, **kwargs: Shape.kwargs) -> Compiled:
        return Compiled(build(*args, **kwargs))

    return cast(Callable[Shape, Compiled], compiled)
