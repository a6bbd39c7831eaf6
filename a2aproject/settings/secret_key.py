"""The hub's own folder: its database file and its secret, private to the user that runs it."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

from a2aproject.errors import UnusableSettingError


def opened(folder: Path, database: Path | None, *, given_secret: str, make: bool) -> str:
    """Make the hub's folder, secret and database file where they are missing; return the given secret or the kept one.

    With ``make`` off nothing is made where the database file is missing, and the secret is one of this process alone.
    ``database`` None is kept elsewhere. Raises `UnusableSettingError` for a folder that cannot be used.
    """
    if database is not None and not make and not database.exists():
        return given_secret or _new_secret()
    try:
        private_folder(folder)
        kept = given_secret or secret(folder / "secret_key")
        if database is not None:
            private_file(database)
    except OSError as error:
        variables = "A2A_VAR" if database is None or database.parent == folder else "A2A_VAR and DATABASE_URL"
        message = f"{variables}: the hub cannot use {error.filename}: {error.strerror}."
        raise UnusableSettingError(message) from error
    return kept


def private_folder(path: Path) -> Path:
    """Make the folder if it is missing; nobody but its owner may enter it."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.stat().st_mode & 0o077:
        path.chmod(0o700)
    return path


def private_file(path: Path) -> Path:
    """Make the file, empty, if it is missing; nobody but its owner may read it.

    SQLite gives its write-ahead log the permissions of the database file.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
    return path


def secret(path: Path) -> str:
    """Return the file's secret, made on first use; processes that race for that all get the same one."""
    try:
        return path.read_text("ascii")
    except FileNotFoundError:
        draft = private_file(path.with_name(f"{path.name}.{os.getpid()}"))
        draft.write_text(_new_secret(), "ascii")
        try:
            os.link(draft, path)  # unlike a rename, this fails where another process was first
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_text("ascii")


def _new_secret() -> str:
    return secrets.token_urlsafe(48)
