"""Whether this process hears what other processes ring."""

from __future__ import annotations

from mailbox.database.bell import waiters

POLL = "poll"  # the value of A2A_WAKE_UPS without rings: the watch alone wakes


class _Hearing:
    is_on = False


_here = _Hearing()


def is_on() -> bool:
    return _here.is_on


def begin() -> None:
    """Note that rings are heard from now on, and ring every waiter, since rings may have been lost until now."""
    waiters.wake_all()
    _here.is_on = True


def lose() -> None:
    """Note that rings of other processes may be lost from now on."""
    _here.is_on = False
