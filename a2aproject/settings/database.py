"""Django's settings of the database, and the hub's own folder with its database file and its secret.

The settings are those of DATABASE_URL, with the options for durability and many threads. Only the user that runs the
hub may read the files of the folder.
"""

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.environment import Environment, is_pooled, pool_size

# An acknowledged write must survive a crash. System checks a2a.E001 to a2a.E004 hold both databases to that.
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",  # a transaction that reads first and then writes would fail instead of wait
    "timeout": 10,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA recursive_triggers=ON; "
    "PRAGMA secure_delete=ON; "  # deleted bytes are overwritten, so that an erasure leaves none in the file
    "PRAGMA cache_size=-512;",  # KiB of each connection; a thread that reads large rows once fills it
}
POSTGRESQL_OPTIONS = {
    "synchronous_commit": "on",
    # Every query has its index. Connections keep their query plans. A plan made while a table is small would scan
    # the whole table until the next ANALYZE, even after it has grown.
    "enable_seqscan": "off",
    # The pages that a hub reads are mostly in memory or on an SSD, where any order costs the same.
    "random_page_cost": "1.1",
    # Every statement is short. To start workers or to compile it would take longer than it runs.
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "TimeZone": "UTC",  # otherwise Django sets it in each session
    "lock_timeout": "10000",
    "idle_in_transaction_session_timeout": "60000",
}
SQLITE_KEPT = 32  # connections that a web process keeps open for its next requests; each caches up to 0.5 MB
# A host that vanished answers no packet. Without these limits a request would hang until the kernel gives up, for
# minutes to hours. All are seconds, but tcp_user_timeout is milliseconds.
TCP_OPTIONS = {
    "connect_timeout": 3,  # for each host
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
POOL_OPTIONS = {
    "min_size": 1,
    "timeout": 3,  # seconds until a request without a connection is answered 503
    # After a failure the pool doubles its pause before the next try. It begins anew after so many seconds, so that an
    # outage of minutes is not followed by a pause of minutes.
    "reconnect_timeout": 5,
}
POSTGRESQL_SCHEMES = ("postgres", "postgresql")
NEVER_BY_COUNT = 2**31  # statements are prepared only where the code requests it
_NAMES = re.compile(r"(?:-c\s*|--)(\w+)=")  # of the settings in `options`


def database(env: Environment, folder: Path) -> dict[str, Any]:
    """Return Django's settings of DATABASE_URL, or of a SQLite file in ``folder`` if it is not set.

    Raises `UnusableSettingError`.
    """
    connections = pool_size(env)  # of one web process
    statement_timeout = env.integer("DATABASE_STATEMENT_TIMEOUT_MS", 30_000, least=0)
    pooled = is_pooled(env)
    settings = _parsed(env, env.str("DATABASE_URL", "") or f"sqlite:///{folder / 'hub.sqlite3'}")
    options: dict[str, Any] = settings.setdefault("OPTIONS", {})
    if settings["ENGINE"].endswith(".sqlite3"):
        if pooled:
            raise UnusableSettingError("DATABASE_POOLER is set, but DATABASE_URL names a SQLite file.")
        settings["ENGINE"] = "mailbox.database.sqlite3"
        settings["OPTIONS"] = SQLITE_OPTIONS | options
        if env.switch("A2A_IS_WEB_PROCESS", default=False):
            settings["OPTIONS"]["kept"] = SQLITE_KEPT
        settings["CONN_MAX_AGE"] = None
        settings["TEST"] = {"NAME": str(folder / "test.sqlite3")}  # a file: several processes and threads use it
        return settings
    settings["ENGINE"] = "mailbox.database.postgresql"
    settings["HOST"] = unquote(settings["HOST"])  # the folder of a socket is written %2Flike%2Fthis
    theirs = str(options.pop("options", ""))
    if pooled and theirs:
        raise UnusableSettingError("DATABASE_URL has `options`, which a pooler drops: set them for the role.")
    own = POSTGRESQL_OPTIONS | {"statement_timeout": str(statement_timeout)}
    settings["SESSION"] = {name: value for name, value in own.items() if name not in _NAMES.findall(theirs)}
    if not pooled:
        ours = [f"-c {name}={value}" for name, value in settings["SESSION"].items()]
        options["options"] = " ".join([*ours, theirs]).strip()
    options["prepare_threshold"] = None if pooled else NEVER_BY_COUNT
    settings["DISABLE_SERVER_SIDE_CURSORS"] = pooled
    if _uses_tcp(settings["HOST"]):
        settings["OPTIONS"] = options = TCP_OPTIONS | options
    settings["CONN_MAX_AGE"] = 0
    # Only web processes (wsgi.py) use a pool: the task cluster forks, and a pool does not survive a fork.
    if env.switch("A2A_IS_WEB_PROCESS", default=False):
        options["pool"] = POOL_OPTIONS | {"max_size": connections}
    return settings


def sqlite_file(settings: dict[str, Any]) -> Path | None:
    """Return the file of a SQLite database, None for other databases."""
    return Path(settings["NAME"]) if settings["ENGINE"].endswith(".sqlite3") else None


def _uses_tcp(hosts: str) -> bool:
    """Whether a connection may lead to another machine, and not through a socket in a folder of this one."""
    return any(host and not host.startswith(("/", "@")) for host in hosts.split(","))


def _parsed(env: Environment, url: str) -> dict[str, Any]:
    # The URL may hold a password, so no message repeats it.
    wanted = "DATABASE_URL must be sqlite:///path/to/a/file or postgresql://user:password@host/name."
    try:
        scheme, host = urlsplit(url)[:2]
        if scheme not in ("sqlite", *POSTGRESQL_SCHEMES):
            raise UnusableSettingError(wanted)
        settings: dict[str, Any] = {"NAME": ""} if scheme == "sqlite" and host else env.db_url_config(url)
        if scheme != "sqlite" and "," in host:
            settings["HOST"], settings["PORT"] = _several(host.rpartition("@")[2])
    except ValueError as error:
        raise UnusableSettingError(wanted) from error
    if scheme == "sqlite" and settings["NAME"] in ("", ":memory:"):
        raise UnusableSettingError(f"{wanted} Several processes share the file, so it cannot be in memory.")
    if not settings["NAME"]:
        raise UnusableSettingError(wanted)
    return settings


def _several(hosts: str) -> tuple[str, str]:
    """Return several hosts and their ports as PostgreSQL's client library lists them: a host without a port has ""."""
    from psycopg import ProgrammingError, conninfo

    try:
        read = conninfo.conninfo_to_dict(f"postgresql://{hosts}")
    except ProgrammingError as error:
        raise ValueError(hosts) from error
    return str(read["host"]), str(read.get("port", ""))


OTHERS = 0o077  # the bits of a mode that let users other than the owner read, write or enter
ENTERED_BY_OTHERS = 0o011
_SEED = re.compile(r"[0-9a-fA-F]{64}")


def opened(folder: Path, database: Path | None, *, configured: str, make: bool) -> str:
    """Create the hub's folder, secret and database file if missing. Return ``configured``, or else the stored secret.

    ``database`` is the SQLite file; None: the database is not a file. If the file is missing and ``make`` is off,
    nothing is created, and the secret is a new one for this process alone.
    Raises `UnusableSettingError` if the folder or a file cannot be used, or if other users can read or write it.
    """
    if database is not None and not make and not database.exists():
        return configured or _new_secret()
    try:
        private_folder(folder)
        kept = configured or secret(folder / "secret_key")
        if database is not None:
            private_file(database)
    except OSError as error:
        variables = "A2A_VAR" if database is None or database.parent == folder else "A2A_VAR and DATABASE_URL"
        # An error of a write, such as a full disk, names no file.
        message = f"{variables}: the hub cannot use {error.filename or folder}: {error.strerror}."
        raise UnusableSettingError(message) from error
    return kept


def earlier_secrets(folder: Path, configured: list[str]) -> list[str]:
    """Return the earlier secrets, with which the hub still reads: ``configured``, then the lines of the hub's file.

    Raises `UnusableSettingError` if the file cannot be read.
    """
    path = folder / "secret_key_fallbacks"
    try:
        lines = path.read_text("utf-8").split() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableSettingError(f"A2A_VAR: the hub cannot read {path}: {error}.") from error
    return list(dict.fromkeys([secret for secret in configured if secret] + lines))


def opened_seal_key(folder: Path, database: Path | None, *, configured: str, make: bool) -> str:
    """Return the hexadecimal seed of the key that seals the journal. ``configured`` is that of the environment, or "".

    Otherwise it is that of the file ``seal_key``, which is made under the conditions of `opened`. Raises
    `UnusableSettingError` for a key of another form.
    """
    is_file = not configured
    if is_file and database is not None and not make and not database.exists():
        return _new_seal_key()
    try:
        kept = configured or secret(folder / "seal_key", _new_seal_key)
    except OSError as error:
        message = f"A2A_VAR: the hub cannot use {error.filename or folder}: {error.strerror}."
        raise UnusableSettingError(message) from error
    if not _SEED.fullmatch(kept.strip()):
        where = folder / "seal_key" if is_file else "A2A_SEAL_KEY"
        raise UnusableSettingError(
            f"{where}: a seal key is 64 hexadecimal digits, such as `openssl rand -hex 32` prints."
        )
    return kept.strip()


def private_folder(path: Path) -> Path:
    """Create the folder and its missing parents for their owner alone.

    The hub never changes the mode of a folder that exists. Raises `UnusableSettingError` if other users can use it.
    """
    for parent in [*reversed(path.parents), path]:
        if not parent.is_dir():
            parent.mkdir(exist_ok=True, mode=0o700)  # another process may make it first
    if (mode := stat.S_IMODE(path.stat().st_mode)) & OTHERS:
        raise UnusableSettingError(
            f"A2A_VAR: other users can use {path} (mode {mode:04o}): run `chmod 700 {path}` if it is the hub's alone, "
            f"or set A2A_VAR to a folder such as {path / 'a2a-hub'}."
        )
    return path


def private_file(path: Path) -> Path:
    """Create an empty file for its owner alone if it is missing.

    SQLite gives its write-ahead log the permissions of the database file. The hub never changes the mode of a file
    that exists. Raises `UnusableSettingError` if other users can open it.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & OTHERS and path.parent.stat().st_mode & ENTERED_BY_OTHERS:
            raise UnusableSettingError(
                f"DATABASE_URL: other users can open {path} (mode {mode:04o}), so run `chmod 600 {path}`."
            ) from None
    return path


def secret(path: Path, new: Callable[[], str] | None = None) -> str:
    """Return the file's secret. On first use it is what ``new`` returns, or else a secret of Django's length.

    Processes that race to create it get the same secret.
    """
    try:
        return path.read_text("ascii")
    except FileNotFoundError:
        draft = private_file(path.with_name(f"{path.name}.{os.getpid()}"))
        try:
            draft.write_text((new or _new_secret)(), "ascii")
            os.link(draft, path)  # fails if another process was first, unlike a rename
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_text("ascii")


def _new_secret() -> str:
    return secrets.token_urlsafe(48)


def _new_seal_key() -> str:
    return secrets.token_hex(32)
