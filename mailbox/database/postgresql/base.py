"""The connection to PostgreSQL, and the pool of connections. Django loads this module by the ENGINE of the database.

The pool asks a server only about a connection that may be dead. Python's own parser reads moments as PostgreSQL writes
them: psycopg's takes several times as long with Django.
"""

import math
import select
import time
from datetime import UTC, datetime
from functools import cache
from types import TracebackType
from typing import Any, TypeGuard

import psycopg
from django.db import OperationalError
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.types.datetime import TimestamptzLoader
from psycopg_pool import ConnectionPool

from mailbox.database.postgresql import DURABLE

TRUSTED_FOR = 5.0  # seconds after its last use
SESSION_TIMEOUTS = ("25P03", "25P04")  # the server ended a session whose transaction was idle or lasted too long
DRAIN_EVERY = 1.0  # seconds; while a server stays read-only, new connections lead to it too


class UtcLoader(TimestamptzLoader):
    """Reads the moments of a session in UTC quickly, and every other text as psycopg does."""

    timezone = UTC  # Django registers a loader of its own for each cursor if it differs

    def load(self, data: Buffer) -> datetime:
        text = bytes(data)
        if text.endswith(b"+00"):
            try:
                return datetime.fromisoformat(text.decode())
            except ValueError:  # such as a year that Python does not know
                pass
        return super().load(data).astimezone(UTC)


@cache
def with_quick_moments(adapters: AdaptersMap) -> AdaptersMap:
    """Return a copy of these adapters with `UtcLoader`."""
    quick = AdaptersMap(adapters)
    quick.register_loader("timestamptz", UtcLoader)
    return quick


class Pooled(Connection[Any]):
    """A connection of the pool."""

    used_at = -math.inf


class Pool(ConnectionPool[Pooled]):
    """A pool that gives out a recently used connection without a round trip.

    A server that ends a connection reports it, or its system does, so the socket has something to read. Such a
    connection is checked, and replaced if it is dead. A connection that was idle for `TRUSTED_FOR` is checked too,
    because a host that vanished reports nothing.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(connection_class=Pooled, open=False, check=check, **options)

    def putconn(self, conn: Pooled) -> None:
        conn.used_at = time.monotonic()
        super().putconn(conn)


def check(connection: Pooled) -> None:
    """Raise `psycopg.OperationalError` if the connection is dead, as far as this can be known without a round trip."""
    if time.monotonic() - connection.used_at >= TRUSTED_FOR or _has_something_to_read(connection):
        ConnectionPool.check_connection(connection)


def _has_something_to_read(connection: Pooled) -> bool:
    poll = select.poll()  # unlike select.select, it takes file descriptors beyond 1023
    poll.register(connection.pgconn.socket, select.POLLIN)
    return bool(poll.poll(0))


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that raises `OperationalError` also on a read-only server, and for each end of the connection.

    A standby and a demoted primary refuse every change, and mostly for a moment. PgBouncer passes on the last words of
    a server and adds its own, which is one result too many for psycopg. Django would raise `InternalError` for both,
    and the hub reports that as a failure of its own.
    """

    _drained_at = 0.0  # of this process

    @property
    def pool(self) -> Pool | None:
        """Return this process's pool for the database; None where the settings ask for none."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if not options or self.alias == NO_DB_ALIAS:
            return None
        pools: dict[str, Pool] = self._connection_pools  # type: ignore[attr-defined]
        if self.alias not in pools:
            parameters = {**self.get_connection_params(), "autocommit": True}  # Django turns it off where it must
            pool = Pool(kwargs=parameters, configure=self._configure, **options)
            pools.setdefault(self.alias, pool)  # the first wins
        return pools[self.alias]

    def _configure(self, connection: Pooled) -> None:
        """Prepare a new connection of the pool. Refuse a connection that could lose an acknowledged write."""
        self._configure_connection(connection)  # type: ignore[attr-defined]
        ((value,),) = connection.execute("SHOW synchronous_commit").fetchall()
        if value not in DURABLE:
            remedy = "`manage.py check --database default` names the remedy"
            raise OperationalError(f"synchronous_commit is {value} in a session: {remedy}")

    def get_connection_params(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super().get_connection_params()
        if self.timezone == UTC:
            parameters["context"] = with_quick_moments(parameters["context"])
        return parameters

    @cached_property
    def wrap_database_errors(self) -> DatabaseErrorWrapper:
        return _Errors(self)

    def _set_autocommit(self, autocommit: bool) -> None:
        if self.connection.autocommit != autocommit:  # psycopg's setter costs as much as a short request's whole wait
            super()._set_autocommit(autocommit)  # type: ignore[misc]

    def forget_read_only_connections(self) -> None:
        """Close the pooled connections. A new connection may lead to another server, which takes changes."""
        now, pool = time.monotonic(), self.pool
        if pool is not None and now - DatabaseWrapper._drained_at >= DRAIN_EVERY:
            DatabaseWrapper._drained_at = now
            pool.drain()


class _Errors(DatabaseErrorWrapper):
    wrapper: DatabaseWrapper

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Any:
        if isinstance(error, ReadOnlySqlTransaction):
            self.wrapper.forget_read_only_connections()
        elif not self._is_of_an_ended_connection(error):
            return super().__exit__(kind, error, traceback)
        self.wrapper.errors_occurred = True
        raise OperationalError(*error.args).with_traceback(traceback) from error

    def _is_of_an_ended_connection(self, error: BaseException | None) -> TypeGuard[psycopg.InternalError]:
        """Whether the server says that it ended the session, or psycopg itself raised the error over an ended one."""
        connection = self.wrapper.connection
        state = error.sqlstate if isinstance(error, psycopg.InternalError) else ""
        return state in SESSION_TIMEOUTS or (state is None and connection is not None and connection.closed)
