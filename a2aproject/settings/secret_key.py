"""The hub's own folder with its database file and its secret. Only the user that runs the hub may read them."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

from a2aproject.errors import UnusableSettingError


def opened(folder: Path, database: Path | None, *, given_secret: str, make: bool) -> str:
    """Create the hub's folder, secret and database file if missing. Return ``given_secret``, or else the stored secret.

    ``database`` is the SQLite file; None: the database is not a file. If the file is missing and ``make`` is off,
    nothing is created, and the secret is a new one for this process alone.
    Raises `UnusableSettingError` if the folder or a file cannot be used.
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
        # An error of a write, such as a full disk, names no file.
        message = f"{variables}: the hub cannot use {error.filename or folder}: {error.strerror}."
        raise UnusableSettingError(message) from error
    return kept


def private_folder(path: Path) -> Path:
    """Create the folder if it is missing, and let only its owner enter it."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.stat().st_mode & 0o077:
        path.chmod(0o700)
    return path


def private_file(path: Path) -> Path:
    """Create an empty file if it is missing, and let only its owner read it.

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
    """Return the file's secret, creating it on first use. Processes that race to create it get the same secret."""
    try:
        return path.read_text("ascii")
    except FileNotFoundError:
        draft = private_file(path.with_name(f"{path.name}.{os.getpid()}"))
        try:
            draft.write_text(_new_secret(), "ascii")
            os.link(draft, path)  # fails if another process was first, unlike a rename
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_text("ascii")


def _new_secret() -> str:
    return secrets.token_urlsafe(48)
