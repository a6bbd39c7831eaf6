"""Waiting requests: how many an agent or a person may have, and until when the caller's key admits it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TypeVar
from uuid import UUID

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
_waiting: Counter[int | str] = Counter()  # waits of this process by the key of the agent's row, or the person's name
_keys: dict[Waiter, _Key] = {}  # of the waits of this process


def until(caller: Caller, look: Callable[[], Found], timeout: timedelta | None, topics: Sequence[str]) -> Found:
    """Call ``look``, and again at each ring of ``topics``, until it returns a true value; return its last value.

    ``timeout`` None waits for ever; zero looks once. A caller without a result takes one seat of its agent or person,
    and one of the process, until it has waited. Without a free seat of the process it does not wait. Raises
    `QuotaExceededError` without a free seat of the agent or person. Raises `UnauthenticatedError` at most 5 seconds
    after the caller's key was revoked or has expired, or its person lost the access to the hub.
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


def for_change(caller: Caller, task_id: UUID, look: Callable[[], Found], timeout: timedelta | None) -> Found:
    """Wait as `until` does, for a change of one task."""
    return until(caller, look, timeout, [topics.task(task_id)])


@contextmanager
def _seat(key: _Key, waiter: Waiter) -> Iterator[bool]:
    """Hold a seat of the caller's agent or person and one of the process; yield False if the process has none.

    Trusted callers need none.
    """
    caller = key.caller
    if caller.trusted:
        yield True
        return
    party: int | str = caller.agent.pk if caller.agent else caller.name
    most = own_limits.waits(caller.agent.pk) if caller.agent else own_limits.default("waits")
    with _seats:
        is_free = _waiting[party] < most
        _waiting[party] += is_free
    if not is_free:
        raise _refused(caller, most)
    _keys[waiter] = key
    try:
        with waiting.seats.seat() as is_admitted:
            yield is_admitted
    finally:
        del _keys[waiter]
        with _seats:
            _waiting[party] -= 1
            if not _waiting[party]:
                del _waiting[party]


@watch.each_round
def end_without_key() -> None:
    """Ring the waiters whose key was revoked or has expired. Reads the keys of all waiters together."""
    keys = dict(_keys)
    is_live = credentials.live_among([key.caller for key in keys.values()])
    for waiter, key in keys.items():
        if not is_live(key.caller):
            key.has_ended = True
            waiter.ring()


def live(party: int | str) -> int:
    """Return the number of waits in this process of the agent with this key, or of the person with this name."""
    return _waiting.get(party, 0)


def _refused(caller: Caller, most: int) -> QuotaExceededError:
    refusal = quotas.exceeded("waits", "waiting requests", most, retry_after=RETRY_AFTER, of=caller.name)
    if refusal.entry is not None:
        audit.refuse(caller, refusal.entry)
    return refusal
