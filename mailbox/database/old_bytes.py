"""The bytes of changed and deleted rows that SQLite keeps in its write-ahead log."""

from __future__ import annotations

from django.db import connection


def forget() -> bool:
    """Empty SQLite's write-ahead log; return whether it is empty.

    The log keeps the earlier bytes of a row until later writes take their place. The database file itself keeps none,
    since the hub's connections have ``secure_delete``. A long read of another connection keeps the log for longer than
    the connection's timeout. On PostgreSQL, and within a transaction, nothing is done.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return True
    with connection.cursor() as cursor:
        busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
