"""Copies of SQLite's database while others write to it, and its replacement in one transaction."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from django.db import connection, connections

from mailbox.database.backups import files

PAGES = 1024  # copied between two pauses
PAUSE = 0.002  # seconds, in which other processes may use the disk
WAIT = 2.0  # seconds to wait for the lock of a process that is about to end
COMPANIONS = ("-wal", "-shm", "-journal", "-turn", "-next")
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def file() -> Path:
    return Path(connection.settings_dict["NAME"])


def copy_to(target: Path) -> None:
    """Copy the database as it is at one moment to the new file ``target``, without sessions. Writers go on meanwhile.

    The write-ahead log keeps all frames that the open read transaction needs, so no step restarts the copy.
    """
    with _reported(file()), _open(file()) as source:
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # the moment of the copy
        _copy(source, target)
        with _open(target) as copy:
            copy.executescript("PRAGMA secure_delete=ON; DELETE FROM django_session")  # their keys are cookies


def check(copy: Path) -> None:
    """Raise `BackupError` unless the closed copy is a whole database with all the rows that its rows refer to."""
    with _reported(copy), _open(copy) as opened:
        problems = [row[0] for row in opened.execute("PRAGMA integrity_check(3)")]
        orphans = len(opened.execute("PRAGMA foreign_key_check").fetchall()) if problems == ["ok"] else 0
    if problems != ["ok"]:
        raise files.BackupError(f"The SQLite database is damaged: {'; '.join(problems)}.")
    if orphans:
        raise files.BackupError(f"The SQLite database is damaged: {orphans} rows refer to rows that do not exist.")


@contextlib.contextmanager
def draft(path: Path) -> Iterator[Path]:
    """Yield a path for a temporary database. Leftovers are deleted before the block, and its files after it."""
    _delete(path)
    try:
        yield files.private(path)
    finally:
        _delete(path)


@contextlib.contextmanager
def as_the_database(path: Path) -> Iterator[None]:
    """Let Django's connection of this process use another file within the block."""
    usual = connection.settings_dict["NAME"]
    connections.close_all()
    connection.settings_dict["NAME"] = str(path)
    try:
        yield
    finally:
        connections.close_all()
        connection.settings_dict["NAME"] = usual


class Target:
    """The database's file, which no other process can open until the block of `held` ends."""

    def __init__(self, path: Path, own: sqlite3.Connection | None) -> None:
        """``own`` is the connection with the exclusive lock, None for a damaged file."""
        self._path, self._own = path, own

    @property
    def content(self) -> str | None:
        """A reason not to replace the database unasked: it holds tasks, or may have held tasks. None: no reason."""
        if self._own is None:
            return f"{self._path} is damaged"
        try:
            known = "mailbox_task" in _tables(self._own)
            holds_tasks = known and self._own.execute("SELECT 1 FROM mailbox_task LIMIT 1").fetchone()
        except sqlite3.DatabaseError:
            return f"{self._path} is damaged"
        return f"{self._path} holds tasks" if holds_tasks else None

    def replace_by(self, draft: Path, kept: Path) -> Path | None:
        """Copy the draft into the file, in one transaction. Keep the earlier database as ``kept`` and return that.

        Returns None if there was no table. If the process ends before the commit, SQLite restores the earlier content
        for the next process that opens the file.
        """
        with _reported(self._path):
            before: Path | None = kept
            if self._own is None:
                self._set_aside(kept)
                own = _exclusively(files.private(self._path))
            elif _tables(self._own):
                own = self._own
                partial = files.beside(kept, ".partial")
                _copy(own, files.private(partial))
                files.rename(partial, kept)
            else:
                own, before = self._own, None
            with closing(own), _open(draft) as source:
                source.backup(own)
        return before

    def _set_aside(self, kept: Path) -> None:
        for companion in ("-wal", "-shm", "-journal", ""):
            with contextlib.suppress(FileNotFoundError):
                files.rename(files.beside(self._path, companion), files.beside(kept, companion))


@contextlib.contextmanager
def held(path: Path) -> Iterator[Target]:
    """Lock the file against all other processes; create it if it is missing.

    Raises `BackupError` if another process has it open: a hub runs.
    """
    connections.close_all()
    own: sqlite3.Connection | None = None
    try:
        own = _exclusively(files.private(path))
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            raise files.BackupError(
                f"Another process uses {path}. Stop the hub and every `manage.py` first."
            ) from error
        if error.sqlite_errorcode not in DAMAGED:
            raise files.BackupError(f"{path} cannot be used: {error}.") from error
    try:
        yield Target(path, own)
    finally:
        if own is not None:
            own.close()


def _exclusively(path: Path) -> sqlite3.Connection:
    """Open the file with the exclusive lock. Only a file without other connections can leave WAL mode."""
    own = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
    try:
        own.execute("PRAGMA locking_mode=EXCLUSIVE")
        own.execute("PRAGMA synchronous=FULL")
        own.execute("PRAGMA journal_mode=DELETE").fetchone()
        _tables(own)
        own.execute("BEGIN EXCLUSIVE")
        own.execute("COMMIT")  # the lock stays, by the locking mode
    except sqlite3.DatabaseError:
        own.close()
        raise
    return own


@contextlib.contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as opened:
        yield opened


def _copy(source: sqlite3.Connection, target: Path) -> None:
    with _open(target) as copy:
        source.backup(copy, pages=PAGES, progress=lambda *_: time.sleep(PAUSE))
        copy.execute("PRAGMA journal_mode=DELETE").fetchone()  # one file, without a log beside it


def _tables(opened: sqlite3.Connection) -> set[str]:
    return {name for (name,) in opened.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


@contextlib.contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into `BackupError`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        damaged = error.sqlite_errorcode in DAMAGED
        problem = "is damaged: restore a backup" if damaged else "cannot be used"
        raise files.BackupError(f"The SQLite database {path} {problem} ({error}).") from error


def _delete(path: Path) -> None:
    for companion in ("", *COMPANIONS):
        files.beside(path, companion).unlink(missing_ok=True)
