"""Returns the memory that requests used before they began to wait."""

from __future__ import annotations

import ctypes

from mailbox.database.bell import waiters

MORE = 100  # new waiters after which memory is returned


class Memory:
    """The free memory of this process. The C library keeps it after a crowd of requests, mostly on SQLite."""

    def __init__(self) -> None:
        self._most = 0  # waiters when memory was returned last, or fewer since

    def give_back(self) -> bool:
        """Return free memory to the system if `MORE` waiters have come; return whether they have."""
        count = waiters.count()
        if count < self._most + MORE:
            self._most = min(self._most, count)
            return False
        self._most = count
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # only glibc has this function
        if trim is not None:
            trim(0)
        return True
