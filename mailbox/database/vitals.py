"""Vital signs of the database, each from one query with bounded work."""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection, models
from django.utils import timezone

TABLES = """
SELECT relname, reltuples::bigint, pg_total_relation_size(pg_class.oid)
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind = 'r' AND nspname = current_schema() AND relname = ANY(%s)
ORDER BY 3 DESC
"""
OLDEST_TRANSACTION = """
SELECT extract(epoch FROM max(clock_timestamp() - xact_start)) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
MOST_DEAD = """
SELECT relname, n_dead_tup, n_live_tup FROM pg_stat_user_tables
WHERE schemaname = current_schema() ORDER BY n_dead_tup DESC LIMIT 1
"""
TRANSACTIONS_LEFT = "SELECT 2147483647 - age(datfrozenxid) FROM pg_database WHERE datname = current_database()"

RIGHTS = """
SELECT right_name FROM unnest(ARRAY['UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) right_name
WHERE has_table_privilege(current_user, %s, right_name)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """The time that one round trip took, and how far the database's clock is ahead of this process's clock."""

    took: timedelta
    ahead: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table. ``rows`` is the database's estimate, None before the first estimate; ``size`` is in bytes."""

    name: str
    rows: int | None
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuum:
    """The table with the most dead rows, and the number of transactions left before the database must stop."""

    table: str
    dead: int
    live: int
    transactions_left: int


def answer() -> RoundTrip:
    """Ask the database for the time."""
    is_postgresql = connection.vendor == "postgresql"
    began, clock = timezone.now(), time.perf_counter()
    (clock_time,) = _row("SELECT clock_timestamp()" if is_postgresql else "SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')")
    took = timedelta(seconds=time.perf_counter() - clock)
    there = clock_time if is_postgresql else datetime.fromisoformat(clock_time).replace(tzinfo=UTC)
    return RoundTrip(took=took, ahead=there - (began + took / 2))


def wait_for_write_lock(at_most: timedelta) -> timedelta | None:
    """Take SQLite's write lock and release it; return the wait for it, None if it was not free in time."""
    began = time.perf_counter()
    own = sqlite3.connect(_file(), timeout=at_most.total_seconds(), isolation_level=None)
    with closing(own):
        try:
            own.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return None
        own.execute("ROLLBACK")
    return timedelta(seconds=time.perf_counter() - began)


def log_size() -> int:
    """Return the bytes of SQLite's write-ahead log."""
    log = Path(f"{_file()}-wal")
    return log.stat().st_size if log.exists() else 0


def size() -> int:
    """Return the bytes of the whole database."""
    if connection.vendor == "postgresql":
        return int(_row("SELECT pg_database_size(current_database())")[0])
    return Path(_file()).stat().st_size + log_size()


def oldest_transaction() -> timedelta:
    """Return the age of PostgreSQL's oldest open transaction but this one. Later dead rows stay until it ends."""
    return timedelta(seconds=float(_row(OLDEST_TRANSACTION)[0] or 0))


def vacuum() -> Vacuum:
    table, dead, live = _row(MOST_DEAD) or ("no table", 0, 0)
    return Vacuum(table=table, dead=dead, live=live, transactions_left=_row(TRANSACTIONS_LEFT)[0])


def tables() -> list[Table]:
    """Return the mailbox's tables, the largest first.

    On SQLite ``size`` is None and ``rows`` is the last primary key.
    """
    metas = [model._meta for model in apps.get_app_config("mailbox").get_models()]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(TABLES, [[meta.db_table for meta in metas]])
            return [Table(name=name, rows=rows if rows >= 0 else None, size=size) for name, rows, size in cursor]
        numbered = [meta for meta in metas if isinstance(meta.pk, models.AutoField | models.BigAutoField)]
        quote = connection.ops.quote_name
        cursor.execute(
            " UNION ALL ".join(
                f"SELECT '{meta.db_table}', max({quote(meta.pk.column)}) FROM {quote(meta.db_table)}"  # noqa: S608
                for meta in numbered
            )
        )
        counted = [Table(name=name, rows=last or 0, size=None) for name, last in cursor]
    return sorted(counted, key=lambda table: -(table.rows or 0))


def version() -> str:
    if connection.vendor == "postgresql":
        (number,) = _row("SHOW server_version")
        return f"PostgreSQL {number}"
    return f"SQLite {sqlite3.sqlite_version}"


def _row(sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()


def _file() -> str:
    return str(connection.settings_dict["NAME"])


def rights_to_change(table: str) -> list[str]:
    """Return the rights of this connection's role that go beyond reading and adding rows of ``table``, on PostgreSQL.

    The owner of a table has them all.
    """
    with connection.cursor() as cursor:
        cursor.execute(RIGHTS, [connection.ops.quote_name(table)])
        return [name for (name,) in cursor.fetchall()]
