"""Waiting requests: how many an agent may have, and until when its key admits it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TypeVar

from mailbox.database import waiting
from mailbox.database.bell import topics, watch
from mailbox.database.bell.waiters import Waiter
from mailbox.gate import audit, credentials, own_limits, quotas
from mailbox.gate.callers import Caller
from mailbox.words.errors import QuotaExceededError

Found = TypeVar("Found")

RETRY_AFTER = 1  # second


@dataclass(slots=True)
class _Key:
    """The key of a waiting caller."""

    caller: Caller
    has_ended: bool = False


_seats = threading.Lock()
_waiting: Counter[int] = Counter()  # waits of this process by the key of the agent's row
_keys: dict[Waiter, _Key] = {}  # of the waits of this process


def until(caller: Caller, look: Callable[[], Found], timeout: timedelta | None, topics: Sequence[str]) -> Found:
    """Call ``look``, and again at each ring of ``topics``, until it returns a true value; return its last value.

    ``timeout`` None waits for ever; zero looks once. A caller without a result takes one of its agent's seats and one
    of the process's, until it has waited. Without a free seat of the process it does not wait. Raises
    `QuotaExceededError` without a free seat of the agent. Raises `UnauthenticatedError` at most
    5 seconds after the caller's key was revoked or has expired.
    """
    key = _Key(caller)

    def look_if_live() -> Found:
        if key.has_ended:
            credentials.require_live(caller)
        return look()

    return waiting.until(look_if_live, timeout, topics, admit=partial(_seat, key))


def for_task(caller: Caller, look: Callable[[], Found], timeout: timedelta | None) -> Found:
    """Wait as `until` does, for a task to lease."""
    return until(caller, look, timeout, [topics.agent(caller.agent.pk if caller.agent else None)])


def for_result(caller: Caller, look: Callable[[], Found], timeout: timedelta | None) -> Found:
    """Wait as `until` does, for a result to drain."""
    return until(caller, look, timeout, [topics.sender(caller.agent.pk if caller.agent else None)])


@contextmanager
def _seat(key: _Key, waiter: Waiter) -> Iterator[bool]:
    """Hold a seat of the caller's agent and one of the process; yield False if the process has none.

    Code in this process needs none.
    """
    caller = key.caller
    if caller.agent is None or caller.trusted:
        yield True
        return
    agent, most = caller.agent.pk, own_limits.waits(caller.agent.pk)
    with _seats:
        is_free = _waiting[agent] < most
        _waiting[agent] += is_free
    if not is_free:
        raise _refused(caller, most)
    _keys[waiter] = key
    try:
        with waiting.seats.seat() as is_admitted:
            yield is_admitted
    finally:
        del _keys[waiter]
        with _seats:
            _waiting[agent] -= 1
            if not _waiting[agent]:
                del _waiting[agent]


@watch.each_round
def end_without_key() -> None:
    """Ring the waiters whose key was revoked or has expired. Reads the keys of all waiters together."""
    keys = dict(_keys)
    is_live = credentials.live_among([key.caller for key in keys.values()])
    for waiter, key in keys.items():
        if not is_live(key.caller):
            key.has_ended = True
            waiter.ring()


def live(agent: int) -> int:
    """Return the number of waits of the agent with this key, in this process."""
    return _waiting.get(agent, 0)


def _refused(caller: Caller, most: int) -> QuotaExceededError:
    refusal = quotas.exceeded("waits", "waiting requests", most, retry_after=RETRY_AFTER, of=caller.name)
    if refusal.entry is not None:
        audit.refuse(caller, refusal.entry)
    return refusal
