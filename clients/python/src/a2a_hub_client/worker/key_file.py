"""The file of an agent's API key. A key that is rolled takes effect without a restart of the worker."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def is_sendable(key: str) -> bool:
    """Whether the text can be sent as a key, in the header of a request."""
    return key.isascii() and key.isprintable() and bool(key.strip())


class KeyFile:
    """Returns the key in a file when called, and reads the file again when it was changed or replaced."""

    def __init__(self, path: Path) -> None:
        """Read the key. Raises `OSError` for a file that cannot be read, and `ValueError` for a file without a key."""
        self._path = path
        self._seen: tuple[int, ...] = ()
        self._key = ""
        self._read()

    def __call__(self) -> str:
        """Return the key. While the file is missing or has no key, it is the key before."""
        with contextlib.suppress(OSError, ValueError):
            self._read()
        return self._key

    def _read(self) -> None:
        status = os.stat(self._path)
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        if seen == self._seen:
            return
        key = self._path.read_text("utf-8").strip()
        if not is_sendable(key):
            raise ValueError(self._path)
        self._seen, self._key = seen, key
