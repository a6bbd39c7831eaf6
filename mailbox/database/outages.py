"""Outages: why the database refuses changes, for the log and for the probe that reports whether the hub is ready.

A probe without a sign of trouble writes nothing. After a refused change, it repeats a real write until that succeeds.
"""

import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar
from urllib.parse import quote

from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

LOG_EVERY = 10.0  # seconds, for each kind of error
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds until an act that outlasts an outage runs again
REHEARSE_EVERY = 2.0  # seconds after a refused change until a rehearsal may find that changes succeed again
LOCKED_AFTER = 10.0  # seconds in which every probe met the lock of another writer; writers wait as long
LOCK_WAIT, LOCK_PAUSE = 0.5, 0.005  # seconds that a probe waits for SQLite's write lock, and between its tries
LEAST_FREE = 2**20  # bytes on the disk of a SQLite file
REHEARSED = 2**16  # bytes: more than the hub writes at once for a usual task
NEW_ROW = "INSERT INTO mailbox_ratewindow (key, started_at, counted) VALUES ({})"
KEY = "rehearsal"

Parameters = ParamSpec("Parameters")
Value = TypeVar("Value")
_logger = logging.getLogger(__name__)


class Outage(StrEnum):
    """A reason for which the database refuses every change, or most of them, while it may still be read."""

    FULL = "the database is full"
    LOCKED = "the database is locked"
    READ_ONLY = "the database is read-only"
    BROKEN = "the disk of the database fails"


_BY_CODE: dict[int | str, Outage] = {
    sqlite3.SQLITE_FULL: Outage.FULL,
    sqlite3.SQLITE_BUSY: Outage.LOCKED,
    sqlite3.SQLITE_READONLY: Outage.READ_ONLY,
    sqlite3.SQLITE_IOERR: Outage.BROKEN,
    "53100": Outage.FULL,
    "25006": Outage.READ_ONLY,
    "58030": Outage.BROKEN,
}


class _Memory:
    """The knowledge of this process. ``refused`` is the last refusal with its time, until a rehearsal succeeds."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.refused: tuple[Outage, float] | None = None
        self.busy_since: float | None = None
        self.logged: dict[str, float] = {}


class _Thread(threading.local):
    """This thread. ``stop`` ends its patience; None: it has none."""

    stop: threading.Event | None = None


_memory = _Memory()
_thread = _Thread()


def note(error: Exception) -> None:
    """Log an error of the database with the database's own message, and remember it if it is an outage.

    Each kind of error is logged once in `LOG_EVERY` seconds.
    """
    outage, now = kind(error), time.monotonic()
    name = outage or type(error.__cause__ or error).__name__
    with _memory.lock:
        if outage is not None:
            _memory.refused = outage, now
        is_due = now - _memory.logged.get(name, -LOG_EVERY) >= LOG_EVERY
        if is_due:
            _memory.logged[name] = now
    if is_due:
        _logger.error("the database failed: %s", " ".join(str(error).split()))


def noted(error: Exception) -> bool:
    """Note a failure of the database, and return whether the error is one. The caller logs every other error."""
    is_failure = isinstance(error, (OperationalError, InterfaceError))
    if is_failure:
        note(error)
    return is_failure


def kind(error: Exception) -> Outage | None:
    """Return the outage that Django's error of the database tells of; None for any other error."""
    code = getattr(error.__cause__, "sqlite_errorcode", None) or getattr(error.__cause__, "sqlstate", None)
    return _BY_CODE.get(code & 0xFF if isinstance(code, int) else code or "")


@contextmanager
def outlasting(stop: threading.Event) -> Iterator[None]:
    """Let the `outlasted` acts of this thread outlast failures of the database during the block, until ``stop``."""
    _thread.stop = stop
    try:
        yield
    finally:
        _thread.stop = None


def outlasted(act: Callable[Parameters, Value]) -> Callable[Parameters, Value]:
    """Decorate an act that changes nothing more if it runs again.

    Within `outlasting` it runs again, after growing pauses, until the database does not fail under it. After the stop
    it runs once more at most. Elsewhere it runs once, so that no request waits.
    """

    @wraps(act)
    def acted(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Value:
        pause, stop = FIRST_PAUSE, _thread.stop
        while True:
            try:
                return act(*args, **kwargs)
            except (OperationalError, InterfaceError) as error:
                if stop is None or stop.is_set():
                    raise
                note(error)
            if not connection.in_atomic_block:
                connection.close()
            stop.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    return acted


def confirm_reads() -> None:
    """Make sure that the rows that this thread has just read are not outdated. Within a transaction this does nothing.

    A leader of PostgreSQL that was paused has old rows when it goes on, and another leads. It can read, but no standby
    confirms its commits. So this commits a mark in the log of changes that no program reads, and waits for a standby as
    each commit does. The transactions of SQLite read no old rows. Raises `OperationalError` if the server cannot
    commit, as a standby cannot.
    """
    if connection.vendor == "postgresql" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            # The id comes first: a standby refuses it as any change, which `postgresql.base` knows.
            cursor.execute("SELECT pg_current_xact_id(), pg_logical_emit_message(true, 'a2a', '')")


def standing() -> Outage | None:
    """Return the outage as it is now; None if the database takes changes. Waits at most about a second.

    Raises Django's `DatabaseError` if the database cannot be used for another reason.
    """
    refused = _memory.refused
    if refused is not None and time.monotonic() - refused[1] < REHEARSE_EVERY:
        return refused[0]
    try:
        outage = _seen() if refused is None else _rehearsed()
    except OperationalError as error:
        outage = kind(error)
        if outage is None:
            raise
    if refused is not None:
        _memory.refused = None if outage is None else (outage, time.monotonic())
    return outage


def _seen() -> Outage | None:
    """Look for an outage without a write."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SHOW transaction_read_only")
            is_read_only = cursor.fetchone() == ("on",)
        if is_read_only:
            connection.forget_read_only_connections()  # type: ignore[attr-defined]
        return Outage.READ_ONLY if is_read_only else None
    with _writing() as writer:
        if writer is None:
            now = time.monotonic()
            _memory.busy_since = _memory.busy_since or now
            return Outage.LOCKED if now - _memory.busy_since >= LOCKED_AFTER else None
    _memory.busy_since = None
    return Outage.FULL if _free_bytes() < LEAST_FREE else None


def _rehearsed() -> Outage | None:
    """Write a row as large as a task's rows together, and take it back."""
    row = [KEY, str(timezone.now()), secrets.token_hex(REHEARSED // 2)]
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(NEW_ROW.format("%s, %s, %s"), row)
            transaction.set_rollback(True)
        return None
    with _writing() as writer:
        if writer is None:
            return Outage.LOCKED
        # Only a commit writes to the disk.
        writer.execute("DELETE FROM mailbox_ratewindow WHERE key = ?", [KEY])
        writer.execute(NEW_ROW.format("?, ?, ?"), row)
        writer.execute("COMMIT")
        with suppress(sqlite3.OperationalError):  # another writer has the lock; the next rehearsal deletes the row
            writer.execute("DELETE FROM mailbox_ratewindow WHERE key = ?", [KEY])
    return Outage.FULL if _free_bytes() < LEAST_FREE else None


@contextmanager
def _writing() -> Iterator[sqlite3.Connection | None]:
    """Yield a connection that holds SQLite's write lock; None if the lock was not free in `LOCK_WAIT`."""
    file = f"file:{quote(str(connection.settings_dict['NAME']))}?mode=rw"  # a missing file is an error
    give_up_at = time.monotonic() + LOCK_WAIT
    with (
        connection.wrap_database_errors,
        closing(sqlite3.connect(file, timeout=0, isolation_level=None, uri=True)) as own,
    ):
        while not _begun(own):
            if time.monotonic() >= give_up_at:
                yield None
                return
            time.sleep(LOCK_PAUSE)
        yield own


def _begun(own: sqlite3.Connection) -> bool:
    try:
        own.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _free_bytes() -> int:
    """Return the bytes that this process may still write on the disk of the SQLite file."""
    disk = os.statvfs(Path(connection.settings_dict["NAME"]).parent)
    return disk.f_frsize * (disk.f_bavail if os.geteuid() else disk.f_bfree)
