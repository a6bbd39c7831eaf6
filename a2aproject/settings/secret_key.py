"""The hub's own folder with its database file and its secret. Only the user that runs the hub may read them."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from a2aproject.errors import UnusableSettingError

OTHERS = 0o077  # the bits of a mode that let users other than the owner read, write or enter
ENTERED_BY_OTHERS = 0o011
_SEED = re.compile(r"[0-9a-fA-F]{64}")


def opened(folder: Path, database: Path | None, *, given_secret: str, make: bool) -> str:
    """Create the hub's folder, secret and database file if missing. Return ``given_secret``, or else the stored secret.

    ``database`` is the SQLite file; None: the database is not a file. If the file is missing and ``make`` is off,
    nothing is created, and the secret is a new one for this process alone.
    Raises `UnusableSettingError` if the folder or a file cannot be used, or if other users can read or write it.
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


def earlier_secrets(folder: Path, given: list[str]) -> list[str]:
    """Return the earlier secrets, with which the hub still reads: ``given``, then the lines of the hub's file of them.

    Raises `UnusableSettingError` if the file cannot be read.
    """
    path = folder / "secret_key_fallbacks"
    try:
        lines = path.read_text("utf-8").split() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableSettingError(f"A2A_VAR: the hub cannot read {path}: {error}.") from error
    return list(dict.fromkeys([secret for secret in given if secret] + lines))


def opened_seal_key(folder: Path, database: Path | None, *, given: str, make: bool) -> str:
    """Return the hexadecimal seed of the key that seals the journal. ``given`` is that of the environment, or "".

    Otherwise it is that of the file ``seal_key``, which is made under the conditions of `opened`. Raises
    `UnusableSettingError` for a key of another form.
    """
    is_file = not given
    if is_file and database is not None and not make and not database.exists():
        return _new_seal_key()
    try:
        kept = given or secret(folder / "seal_key", _new_seal_key)
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
