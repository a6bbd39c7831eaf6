"""The cursors of `prepared`, in their own module because it loads psycopg, which a hub on SQLite does not need."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection, errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, ExecStatus

Row = tuple[Any, ...]
_numbers = itertools.count()  # of the prepared statements of this process
_PARAMETER = re.compile(r"%\((\w+)\)s|%%")
# The server does not know the statement any more, or the columns of its result have changed. It has run nothing.
_PREPARE_ANEW = (errors.InvalidSqlStatementName, errors.FeatureNotSupported)


class PreparedCursor(base.ServerBindingCursor):  # type: ignore[name-defined,misc]
    """A cursor of psycopg that prepares each statement at its first use."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        return super().execute(query, params, **{**options, "prepare": True})


class DirectCursor:
    """A cursor for prepared statements that commit by themselves: it calls the client library without detours.

    It takes and returns the same values as psycopg's cursors, at a fifth of their cost.
    """

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._rows: Sequence[Row] = ()

    @staticmethod
    def suits(connection: Connection[Any]) -> bool:
        """Whether statements of this connection may be prepared and commit by themselves."""
        return connection.autocommit and connection.prepare_threshold is not None

    def execute(self, sql: str, values: Mapping[str, Any]) -> DirectCursor:
        kept: dict[str, _Statement] = self._connection.__dict__.setdefault("_a2a_statements", {})
        statement = kept.get(sql)
        if statement is None:
            statement = kept[sql] = _Statement(self._connection, sql)
        try:
            self._rows = statement.run(values)
        except _PREPARE_ANEW:
            statement.forget()
            self._rows = statement.run(values)
        return self

    def fetchall(self) -> Sequence[Row]:
        return self._rows

    def fetchone(self) -> Row | None:
        return self._rows[0] if self._rows else None

    def close(self) -> None:
        self._rows = ()


class _Statement:
    """A statement of one connection. It is prepared once for each combination of its parameters' types."""

    def __init__(self, connection: Connection[Any], sql: str) -> None:
        self._connection = connection
        self._sql, self._names = _numbered(sql)
        self._formats = [PyFormat.AUTO] * len(self._names)
        self._values = Transformer.from_context(connection)
        self._prepared: dict[Sequence[int] | None, bytes] = {}

    def run(self, values: Mapping[str, Any]) -> Sequence[Row]:
        server, convert = self._connection.pgconn, self._values
        parameters = convert.dump_sequence([values[name] for name in self._names], self._formats)
        name = self._prepared.get(convert.types) or self._prepare()
        result = server.exec_prepared(name, parameters, convert.formats)  # type: ignore[arg-type] # None is NULL
        self._raise_for(result, ExecStatus.TUPLES_OK)
        convert.set_pgresult(result)
        rows = convert.load_rows(0, result.ntuples, tuple)
        convert.set_pgresult(None)
        return rows

    def forget(self) -> None:
        self._prepared.clear()

    def _prepare(self) -> bytes:
        types = self._values.types
        name = b"a2a_%d" % next(_numbers)
        self._raise_for(self._connection.pgconn.prepare(name, self._sql, types), ExecStatus.COMMAND_OK)
        self._prepared[types] = name
        return name

    def _raise_for(self, result: Any, wanted: ExecStatus) -> None:
        if result.status == wanted:
            return
        if self._connection.pgconn.status != ConnStatus.OK:
            raise errors.OperationalError(self._connection.pgconn.get_error_message())
        raise errors.error_from_result(result, encoding="utf-8")


@cache
def _numbered(sql: str) -> tuple[bytes, Sequence[str]]:
    """Return the statement with numbered parameters, and the name of each."""
    names: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"${names.setdefault(match[1], len(names) + 1)}" if match[1] else "%"

    return _PARAMETER.sub(number, sql).encode(), list(names)
