"""The hub's own folder: its database file and its secret, private to the user that runs it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


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
        draft.write_text(secrets.token_urlsafe(48), "ascii")
        try:
            os.link(draft, path)  # unlike a rename, this fails where another process was first
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_text("ascii")
