"""Private files that appear whole or not at all."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mailbox.words.errors import MailboxError

PRIVATE = 0o600


class BackupError(MailboxError):
    """The backup cannot be made or restored."""

    code = "backup_refused"


@contextlib.contextmanager
def appearing(file: Path) -> Iterator[BinaryIO]:
    """Yield a private file to write. It gets the name ``file``, durably, when the block ends without an error.

    Until then it is ``file`` with the suffix ".partial". A leftover of an interrupted process is written over.
    Raises `BackupError` if another process is writing the same file, and `OSError`.
    """
    partial = beside(file, ".partial")
    descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    with open(descriptor, "r+b") as stream:
        if not _is_locked(stream, partial):
            raise BackupError(f"Another process is writing {file}.")
        try:
            os.fchmod(stream.fileno(), PRIVATE)
            stream.truncate()
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            rename(partial, file)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def _is_locked(stream: BinaryIO, partial: Path) -> bool:
    """Lock the file without waiting. Return False if another process has the lock, or has renamed the file since."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(stream.fileno()), partial.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def rename(source: Path, target: Path) -> None:
    """Rename a file, replacing ``target``, and make the new name durable."""
    source.replace(target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def beside(file: Path, suffix: str) -> Path:
    return file.with_name(f"{file.name}{suffix}")


def private(file: Path) -> Path:
    """Create an empty private file if it is missing, with its folder."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE))
    return file
