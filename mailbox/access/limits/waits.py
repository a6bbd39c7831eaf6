"""Waiting requests: how many an agent or a person may have, and until when the caller's key admits it."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import connection

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.credentials import authentication
from mailbox.access.limits import own_limits, quotas, rates
from mailbox.database import waiting
from mailbox.database.bell import ringing, waiters, watch
from mailbox.database.bell import topics as topics_module
from mailbox.words.errors import QuotaExceededError

Value = TypeVar("Value")

RETRY_AFTER = 1  # second
OF_A_SITE = 4  # waits of strangers at one site in one process; they share those of their agent
_seats = threading.Lock()
_waiting: Counter[int | str] = Counter()  # waits of this process by the key of the agent's row, or the person's name


@dataclass(slots=True)
class _Key:
    """The key of a waiting caller."""

    caller: Caller
    has_ended: bool = False


_keys: dict[waiters.Waiter, _Key] = {}  # of the waits of this process


def span(wait_ms: int) -> timedelta:
    """Return how long the hub holds a request that would wait so many milliseconds: at most ``A2A_LONGEST_WAIT_MS``."""
    return timedelta(milliseconds=min(wait_ms, settings.A2A_LONGEST_WAIT_MS))


def until(caller: Caller, look: Callable[[], Value], timeout: timedelta | None, topics: Sequence[str]) -> Value:
    """Call ``look``, and again at each ring of ``topics``, until it returns a true value; return its last value.

    ``timeout`` None waits for ever; zero looks once. A caller without a result takes one seat of its agent or person,
    and one of the process, until it has waited. Without a free seat of the process it does not wait. Raises
    `QuotaExceededError` without a free seat of the agent or person. Raises `UnauthenticatedError` at most 5 seconds
    after the caller's key was revoked or has expired, or its person lost the access to the hub.
    """
    key = _Key(caller)

    def look_if_live() -> Value:
        if key.has_ended:
            authentication.require_live(caller)
        return look()

    return waiting.until(look_if_live, timeout, topics, admit=partial(_seat, key))


def for_task(caller: Caller, look: Callable[[], Value], timeout: timedelta | None) -> Value:
    """Wait as `until` does, for a task to lease."""
    return until(caller, look, timeout, [topics_module.agent(caller.agent.pk if caller.agent else None)])


def for_result(caller: Caller, look: Callable[[], Value], timeout: timedelta | None) -> Value:
    """Wait as `until` does, for a result to drain."""
    return until(caller, look, timeout, [topics_module.sender(caller.agent.pk if caller.agent else None)])


def for_change(caller: Caller, task_id: UUID, look: Callable[[], Value], timeout: timedelta | None) -> Value:
    """Wait as `until` does, for a change of one task."""
    return until(caller, look, timeout, [topics_module.task(task_id)])


class Vigil:
    """A wait of many rings in one seat, which may do other work in between, such as to send a sign of life."""

    def __init__(self, key: _Key, waiter: waiters.Waiter) -> None:
        self._key, self._waiter = key, waiter

    @property
    def is_over(self) -> bool:
        """Whether the process is about to stop."""
        return self._waiter.has_ended or waiters.has_ended()

    def wait(self, seconds: float) -> bool:
        """Wait for a ring, at most so many seconds. Return whether another look is due."""
        if not connection.in_atomic_block:
            connection.close()
        return self._waiter.wait(max(0.0, seconds))

    def ring(self) -> None:
        """Let this wait look again. Any thread may call this."""
        self._waiter.ring()

    def wait_for(self, topics: Sequence[str]) -> None:
        """Wait for rings of these topics from now on. A look must follow."""
        self._waiter.wait_for(topics)

    def look(self, look: Callable[[], Value]) -> Value:
        """Return what ``look`` returns, which answers the rings before it.

        Raises `UnauthenticatedError` if the caller's key has ended.
        """
        if self._key.has_ended:
            authentication.require_live(self._key.caller)
        return self._waiter.look(look)


@contextmanager
def vigil(caller: Caller, topics: Sequence[str]) -> Iterator[Vigil | None]:
    """Hold one seat of the caller and one of the process for the block; yield None without a free seat of the process.

    Rings of ``topics`` count from the beginning of the block. Raises `QuotaExceededError` without a free seat of the
    agent or person.
    """
    key = _Key(caller)
    with waiters.waiting(topics) as waiter:
        ringing.begin()
        with _seat(key, waiter) as is_admitted:
            yield Vigil(key, waiter) if is_admitted else None


@contextmanager
def _seat(key: _Key, waiter: waiters.Waiter) -> Iterator[bool]:
    """Hold a seat of the caller's agent or person and one of the process; yield False if the process has none.

    A stranger also holds one of its site. Trusted callers need none.
    """
    caller = key.caller
    if caller.trusted:
        yield True
        return
    most: dict[int | str, int] = (
        {caller.agent.pk: own_limits.waits(caller.agent.pk)}
        if caller.agent
        else {caller.name: own_limits.default("waits")}
    )
    if caller.is_anonymous:
        most[rates.site_of(caller.address)] = OF_A_SITE
    with _seats:
        full = [party for party in most if _waiting[party] >= most[party]]
        _waiting.update([] if full else list(most))
    if full:
        raise _refused(caller, most[full[0]])
    _keys[waiter] = key
    try:
        with waiting.seats.seat() as is_admitted:
            yield is_admitted
    finally:
        del _keys[waiter]
        with _seats:
            for party in most:
                _waiting[party] -= 1
                if not _waiting[party]:
                    del _waiting[party]


@watch.each_round
def end_without_key() -> None:
    """Ring the waiters whose key was revoked or has expired. Reads the keys of all waiters together."""
    keys = dict(_keys)
    is_live = authentication.live_among([key.caller for key in keys.values()])
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
