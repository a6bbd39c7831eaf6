"""The pool of connections to PostgreSQL. It asks a server only about a connection that may be dead."""

from __future__ import annotations

import math
import select
import time
from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool

TRUSTED_FOR = 5.0  # seconds after its last use


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
