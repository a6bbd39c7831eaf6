"""System checks: the hub does not start with settings that could lose or repeat work."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import connections

from a2aproject.settings.environment import OF_THE_BELL
from mailbox.database.postgresql import DURABLE

SQLITE_PRAGMAS = {
    "journal_mode": {"wal"},
    "synchronous": {"full", "2", "extra", "3"},
    "recursive_triggers": {"on", "1", "true", "yes"},
}
SQLITE_LEAST_TIMEOUT = 10
POSTGRESQL_SERVER = {"fsync": "E008", "full_page_writes": "E009"}  # settings that must be on, and their errors
CONNECTIONS_OF_OTHERS = 16  # left for the task cluster, the carrier and commands
DURABILITY = "durability"  # the tag of the check that `serve` runs once it can reach the database
LARGEST_BODY_BYTES = 8 * 1024 * 1024
_ON = "Set {} to on in the server's configuration, and reload it."
HINTS = {  # by the number of the error
    "E001": "Set transaction_mode to IMMEDIATE in OPTIONS. Set journal_mode=WAL, synchronous=FULL and "
    "recursive_triggers=ON in its init_command.",
    "E002": f"Set timeout in OPTIONS to {SQLITE_LEAST_TIMEOUT} seconds or more.",
    "E004": "Use sqlite:///path or postgresql://user:password@host/name in DATABASE_URL.",
    "E005": "Set it to False. The hub opens its own transactions.",
    "E006": "Set a timeout shorter than retry.",
    "E007": f"Set it between 1 and {LARGEST_BODY_BYTES}, and DATA_UPLOAD_MAX_MEMORY_SIZE to the same value.",
    **{number: _ON.format(name) for name, number in POSTGRESQL_SERVER.items()},
}


def _error(number: str, problem: str) -> checks.CheckMessage:
    return checks.Error(problem, hint=HINTS[number], id=f"a2a.{number}")


def register_all() -> None:
    """Register the checks below for `manage.py check` and every command that runs it."""
    for check in (check_databases, check_cluster, check_body_limit):
        checks.register(check, "a2a")
    checks.register(check_servers, checks.Tags.database, DURABILITY)


def check_databases(**_: object) -> list[checks.CheckMessage]:
    """Report databases that could lose an acknowledged write, and those that do not wait for a busy writer."""
    return [error for alias in connections for error in database_errors(alias, connections[alias].settings_dict)]


def check_servers(databases: Sequence[str] | None = None, **_: object) -> list[checks.CheckMessage]:
    """Report PostgreSQL servers that could lose an acknowledged write, or break a table, when their machine crashes.

    Also warn about a server with too few connections for the web processes.
    """
    servers = [alias for alias in databases or () if connections[alias].vendor == "postgresql"]
    return [found for alias in servers for report in (_server_errors, _connection_warnings) for found in report(alias)]


def check_cluster(**_: object) -> list[checks.CheckMessage]:
    """Report a task cluster that could start a running job a second time."""
    timeout, retry = settings.Q_CLUSTER.get("timeout"), settings.Q_CLUSTER.get("retry", 60)
    if timeout is not None and timeout < retry:
        return []
    return [
        _error("E006", f"Q_CLUSTER has timeout {timeout} and retry {retry}: a job may start again while it still runs.")
    ]


def check_body_limit(**_: object) -> list[checks.CheckMessage]:
    """Report a body limit that is out of bounds, or differs from Django's own limit."""
    limit = settings.A2A_MAX_BODY_BYTES
    if 0 < limit <= LARGEST_BODY_BYTES and limit == settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        return []
    problem = f"A2A_MAX_BODY_BYTES is {limit}, which is out of bounds or differs from DATA_UPLOAD_MAX_MEMORY_SIZE."
    return [_error("E007", problem)]


def database_errors(alias: str, database: dict[str, Any]) -> Iterator[checks.CheckMessage]:
    """Yield an error for each weakness of a database, given by its alias and Django's settings of it."""
    engine, options = database["ENGINE"], database["OPTIONS"]
    if database["ATOMIC_REQUESTS"]:
        problem = "has ATOMIC_REQUESTS on: the rollback of a rejected request would undo its audit row."
        yield _error("E005", f"Database {alias!r} {problem}")
    if engine.endswith(".sqlite3"):
        yield from _sqlite_errors(alias, options)
    elif not engine.endswith(".postgresql"):  # `check_servers` reads the sessions of PostgreSQL
        yield _error("E004", f"Database {alias!r} is neither SQLite nor PostgreSQL.")


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
        yield _error("E001", f"SQLite database {alias!r} could lose or reorder writes: check {', '.join(weak)}.")
    if float(options.get("timeout", 5)) < SQLITE_LEAST_TIMEOUT:
        yield _error("E002", f"SQLite database {alias!r} does not wait long enough for other writers.")


def _server_errors(alias: str) -> Iterator[checks.CheckMessage]:
    wanted = {"synchronous_commit": "on"} | connections[alias].settings_dict["SESSION"]
    actual = _in_force(alias, *POSTGRESQL_SERVER, *wanted)
    for name, identity in POSTGRESQL_SERVER.items():
        if actual[name] != "on":
            problem = f"has {name} off: a crash could lose acknowledged writes or break tables."
            yield _error(identity, f"The server of PostgreSQL database {alias!r} {problem}")
    if actual["synchronous_commit"] in DURABLE:
        del wanted["synchronous_commit"]
    if lacked := {name: value for name, value in wanted.items() if actual[name] != value}:
        sessions = f"Sessions of PostgreSQL database {alias!r} have"
        problem = f"{sessions} {', '.join(f'{name}={actual[name]}' for name in lacked)}, unlike the hub's settings."
        number = "E003" if "synchronous_commit" in lacked else "E010"
        yield checks.Error(problem, hint=_remedy(alias, lacked), id=f"a2a.{number}")


def _in_force(alias: str, *names: str) -> dict[str, str]:
    """Return the values of these settings in a session of the server."""
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(names)])
        return dict(cursor.fetchall())


def _remedy(alias: str, lacked: dict[str, str]) -> str:
    """Return what gives each session the settings that it lacks."""
    if not settings.DATABASE_POOLED:
        return "Leave them to the hub in DATABASE_URL. If there is a pooler, set DATABASE_POOLER=transaction."
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT quote_ident(session_user), quote_ident(current_database())")
        role, name = cursor.fetchone()
    alter = f"ALTER ROLE {role} IN DATABASE {name} SET"
    statements = [f"{alter} {setting} = '{value}';" for setting, value in lacked.items()]
    return "\n".join(["Run this on the server, and then restart the pooler:", *statements])


def _connection_warnings(alias: str) -> Iterator[checks.CheckMessage]:
    """Yield a warning if all web processes together may open more connections than the server has for them.

    A pooler between the hub and the server has a limit of its own, which the hub does not know.
    """
    if settings.DATABASE_POOLED:
        return
    limits = _in_force(alias, "max_connections", "superuser_reserved_connections")
    most, reserved = int(limits["max_connections"]), int(limits["superuser_reserved_connections"])
    available = most - reserved - CONNECTIONS_OF_OTHERS
    processes = settings.WEB_WORKERS
    needed = processes * (settings.DATABASE_POOL_SIZE + OF_THE_BELL)
    if needed > available:
        yield checks.Warning(
            f"{processes} web processes may open {needed} connections. The server of PostgreSQL database {alias!r} "
            f"has {max(0, available)} for them, as its max_connections is {most}. Then requests would be answered 503.",
            hint="Lower WEB_WORKERS or DATABASE_POOL_SIZE, or raise max_connections of the server.",
            id="a2a.W001",
        )
