"""System checks: the hub refuses to start on settings that would lose or repeat work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core import checks
from django.db import connections

if TYPE_CHECKING:
    from collections.abc import Iterator

SQLITE_PRAGMAS = {
    "journal_mode": {"wal"},
    "synchronous": {"full", "2", "extra", "3"},
    "recursive_triggers": {"on", "1", "true", "yes"},
}
SQLITE_LEAST_TIMEOUT = 10
LARGEST_BODY_BYTES = 8 * 1024 * 1024


def register_all() -> None:
    """Make `manage.py check`, and every command that runs it, use the checks below."""
    for check in (check_databases, check_cluster, check_body_limit):
        checks.register(check, "a2a")


def check_databases(**_: object) -> list[checks.CheckMessage]:
    """Refuse databases that could lose an acknowledged write, or that wait for nothing."""
    return [error for alias in connections for error in database_errors(alias, connections[alias].settings_dict)]


def check_cluster(**_: object) -> list[checks.CheckMessage]:
    """Refuse a scheduler that would start a running job a second time."""
    timeout, retry = settings.Q_CLUSTER.get("timeout"), settings.Q_CLUSTER.get("retry", 60)
    if timeout is not None and timeout < retry:
        return []
    return [
        checks.Error(
            f"Q_CLUSTER has timeout {timeout} and retry {retry}: a job may be started again while it still runs.",
            hint="Set a timeout that is less than retry.",
            id="a2a.E006",
        )
    ]


def check_body_limit(**_: object) -> list[checks.CheckMessage]:
    """Refuse a body limit that is no limit, and one that Django would undercut."""
    limit = settings.A2A_MAX_BODY_BYTES
    if 0 < limit <= LARGEST_BODY_BYTES and limit == settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        return []
    return [
        checks.Error(
            f"A2A_MAX_BODY_BYTES is {limit}.",
            hint=f"Set it between 1 and {LARGEST_BODY_BYTES}, and DATA_UPLOAD_MAX_MEMORY_SIZE to the same.",
            id="a2a.E007",
        )
    ]


def database_errors(alias: str, database: dict[str, Any]) -> Iterator[checks.CheckMessage]:
    engine, options = database["ENGINE"], database["OPTIONS"]
    if database["ATOMIC_REQUESTS"]:
        yield checks.Error(
            f"Database {alias!r} has ATOMIC_REQUESTS on: a refused request would take its audit row with it.",
            hint="Turn it off. Each verb opens its own transaction.",
            id="a2a.E005",
        )
    if engine.endswith(".sqlite3"):
        yield from _sqlite_errors(alias, options)
    elif engine.endswith(".postgresql"):
        yield from _postgresql_errors(alias, options)
    else:
        yield checks.Error(
            f"Database {alias!r} is neither SQLite nor PostgreSQL.",
            hint="Use sqlite:///path or postgresql://user:password@host/name in DATABASE_URL.",
            id="a2a.E004",
        )


def _sqlite_errors(alias: str, options: dict[str, Any]) -> Iterator[checks.CheckMessage]:
    pragmas = {
        name.lower(): value.lower()
        for name, value in re.findall(
            r"pragma\s+(\w+)\s*[=(]\s*['\"]?(\w+)", str(options.get("init_command", "")), re.IGNORECASE
        )
    }
    weak = [f"PRAGMA {name}" for name, wanted in SQLITE_PRAGMAS.items() if pragmas.get(name) not in wanted]
    if str(options.get("transaction_mode")).upper() != "IMMEDIATE":
        weak.append("transaction_mode")
    if weak:
        yield checks.Error(
            f"SQLite database {alias!r} is not durable and ordered enough: {', '.join(weak)}.",
            hint="OPTIONS needs transaction_mode IMMEDIATE and, in init_command, journal_mode=WAL, synchronous=FULL "
            "and recursive_triggers=ON.",
            id="a2a.E001",
        )
    if float(options.get("timeout", 5)) < SQLITE_LEAST_TIMEOUT:
        yield checks.Error(
            f"SQLite database {alias!r} gives up waiting for another writer too early.",
            hint=f"Set the option timeout to {SQLITE_LEAST_TIMEOUT} seconds or more.",
            id="a2a.E002",
        )


def _postgresql_errors(alias: str, options: dict[str, Any]) -> Iterator[checks.CheckMessage]:
    given = re.findall(r"(?:-c\s*|--)synchronous_commit=(\S+)", str(options.get("options", "")))
    if given[-1:] not in (["on"], ["remote_apply"]):
        yield checks.Error(
            f"PostgreSQL database {alias!r} does not ask for synchronous_commit=on: a crash could lose acknowledged writes.",
            hint="Leave `-c synchronous_commit=on` in the connection's options.",
            id="a2a.E003",
        )
