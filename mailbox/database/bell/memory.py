"""Returns the memory that requests used before they began to wait."""

from __future__ import annotations

import ctypes

from mailbox.database.bell import waiters

MORE = 100  # waits after whose begin memory is returned


class Memory:
    """The free memory of this process. The C library keeps it after a crowd of requests, mostly on SQLite."""

    def __init__(self) -> None:
        self._begun = 0  # waits when memory was returned last

    def give_back(self) -> bool:
        """Return free memory to the system if `MORE` waits have begun since the last time; return whether they have."""
        begun = waiters.begun()
        if begun < self._begun + MORE:
            return False
        self._begun = begun
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # only glibc has this function
        if trim is not None:
            trim(0)
        return True
