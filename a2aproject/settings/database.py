"""The database as DATABASE_URL names it, with what durability and many threads need."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.environment import Environment

# An acknowledged write must survive a crash, so neither database may trade that for speed (a2a.E001 to a2a.E004).
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",  # a transaction that upgrades from read to write is not made to wait, it fails
    "timeout": 10,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA recursive_triggers=ON;",
}
POSTGRESQL_OPTIONS = {
    "synchronous_commit": "on",
    # Every query has its index. Plans are kept per connection, and one made while a table is still small would
    # read it whole until the next ANALYZE, however fast it grows.
    "enable_seqscan": "off",
    "lock_timeout": "10000",
    "idle_in_transaction_session_timeout": "60000",
}
POSTGRESQL_SCHEMES = ("postgres", "postgresql")
NEVER_BY_COUNT = 2**31


def database(env: Environment, folder: Path) -> dict[str, Any]:
    """Return Django's settings of DATABASE_URL, or of a SQLite file in ``folder``; raise `UnusableSettingError`."""
    pool_size = env.integer("DATABASE_POOL_SIZE", 16, least=1)  # connections of one web process
    statement_timeout = env.integer("DATABASE_STATEMENT_TIMEOUT_MS", 30_000, least=0)
    prepares = env.switch("DATABASE_PREPARE", default=True)
    found = _parsed(env, env.str("DATABASE_URL", "") or f"sqlite:///{folder / 'hub.sqlite3'}")
    options: dict[str, Any] = found.setdefault("OPTIONS", {})
    if found["ENGINE"].endswith(".sqlite3"):
        found["OPTIONS"] = SQLITE_OPTIONS | options
        found["CONN_MAX_AGE"] = None
        found["TEST"] = {"NAME": str(folder / "test.sqlite3")}  # a file: the tests use processes and threads
        return found
    own = POSTGRESQL_OPTIONS | {"statement_timeout": str(statement_timeout)}
    ours = " ".join(f"-c {name}={value}" for name, value in own.items())
    found["HOST"] = unquote(found["HOST"])  # a socket's folder is written %2Flike%2Fthis
    options["options"] = f"{ours} {options.get('options', '')}".strip()
    found["CONN_MAX_AGE"] = 0
    found["CONN_HEALTH_CHECKS"] = True
    # Only those statements are prepared that ask for it; not at all where a pooler before PostgreSQL loses them.
    options["prepare_threshold"] = NEVER_BY_COUNT if prepares else None
    # Only web processes pool, as wsgi.py says: the task cluster forks, and a pool does not survive that.
    if env.switch("A2A_IS_WEB_PROCESS", default=False):
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 10}
    return found


def sqlite_file(found: dict[str, Any]) -> Path | None:
    """Return the file of a SQLite database, None for any other."""
    return Path(found["NAME"]) if found["ENGINE"].endswith(".sqlite3") else None


def _parsed(env: Environment, url: str) -> dict[str, Any]:
    # The URL may hold a password, so no message repeats it.
    wanted = "DATABASE_URL must be sqlite:///path/to/a/file or postgresql://user:password@host/name."
    try:
        scheme, host = urlsplit(url)[:2]
        if scheme not in ("sqlite", *POSTGRESQL_SCHEMES):
            raise UnusableSettingError(wanted)
        found: dict[str, Any] = {"NAME": ""} if scheme == "sqlite" and host else env.db_url_config(url)
    except ValueError as error:
        raise UnusableSettingError(wanted) from error
    if scheme == "sqlite" and found["NAME"] in ("", ":memory:"):
        raise UnusableSettingError(f"{wanted} Several processes share the file, so it cannot be in memory.")
    if not found["NAME"]:
        raise UnusableSettingError(wanted)
    return found
