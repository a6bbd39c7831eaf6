"""Waiting requests: how many an agent may have, and until when its key admits it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

from mailbox.database import waiting
from mailbox.gate import audit, credentials, own_limits, quotas
from mailbox.gate.callers import Caller
from mailbox.words.errors import QuotaExceededError

Found = TypeVar("Found")

CHECKED_EVERY = 5.0  # seconds
RETRY_AFTER = 1  # second

_seats = threading.Lock()
_waiting: Counter[int] = Counter()  # waits of this process by the key of the agent's row


def until(caller: Caller, look: Callable[[], Found], timeout: timedelta | None) -> Found:
    """Call ``look`` less and less often until it returns a true value or the time is up; return its last value.

    ``timeout`` None waits for ever; zero looks once. A caller without a result takes one of its seats, until it has
    waited. Raises `QuotaExceededError` without a free seat. Raises `UnauthenticatedError` at most `CHECKED_EVERY`
    seconds after the caller's key was revoked or has expired.
    """
    found = look()
    if found or timeout == timedelta(0):
        return found
    checked_at = time.monotonic()

    def look_again() -> Found:
        nonlocal checked_at
        if time.monotonic() - checked_at >= CHECKED_EVERY:
            credentials.require_live(caller)
            checked_at = time.monotonic()
        return look()

    with _seat(caller):
        return waiting.until(look_again, timeout)


@contextmanager
def _seat(caller: Caller) -> Iterator[None]:
    """Hold one seat of the caller's agent. Code in this process needs none."""
    if caller.agent is None or caller.trusted:
        yield
        return
    agent, most = caller.agent.pk, own_limits.waits(caller.agent.pk)
    with _seats:
        is_free = _waiting[agent] < most
        _waiting[agent] += is_free
    if not is_free:
        raise _refused(caller, most)
    try:
        yield
    finally:
        with _seats:
            _waiting[agent] -= 1
            if not _waiting[agent]:
                del _waiting[agent]


def live(agent: int) -> int:
    """Return the number of waits of the agent with this key, in this process."""
    return _waiting.get(agent, 0)


def _refused(caller: Caller, most: int) -> QuotaExceededError:
    refusal = quotas.exceeded("waits", "waiting requests", most, retry_after=RETRY_AFTER, of=caller.name)
    if refusal.entry is not None:
        audit.refuse(caller, refusal.entry)
    return refusal
