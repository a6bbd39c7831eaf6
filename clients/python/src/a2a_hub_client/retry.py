"""How a client repeats requests that fail for now, and which attempt ids its receives have."""

from __future__ import annotations

import dataclasses
import os
import random
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID, uuid4

from a2a_hub_client.errors import HubError, NotNowError

Duration = timedelta | float  # a float is in seconds


def seconds(duration: Duration) -> float:
    """Return the seconds of a duration."""
    return duration.total_seconds() if isinstance(duration, timedelta) else float(duration)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How long a client repeats a request, and how long it pauses.

    The client repeats only requests that it may repeat: the hub answers their repeat as it answered them, or the hub
    has done nothing. ``patience`` is the time from the first failure until the client gives up; None has no end, and 0
    repeats nothing. Pauses double from ``first_pause`` to ``longest_pause``, each shortened by up to half at random. A
    pause is at least the hub's Retry-After, up to ``longest_pause``. ``on_trouble`` is called with each failure that is
    repeated.
    """

    patience: Duration | None = 30.0
    first_pause: Duration = 0.25
    longest_pause: Duration = 15.0
    on_trouble: Callable[[HubError], object] | None = field(default=None, repr=False)


class Backoff:
    """The pauses of one request that fails again and again."""

    def __init__(self, retry: Retry, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` returns seconds."""
        self._retry = retry
        self._clock = clock
        self._next = seconds(retry.first_pause)
        self._give_up_at: float | None = None

    def pause(self, error: HubError, *, is_repeatable: bool) -> float | None:
        """Return the seconds to wait before the request is repeated; None to give up.

        ``is_repeatable``: a repeat of the request does no harm, even if the request has arrived.
        """
        if not isinstance(error, NotNowError) or not (is_repeatable or not error.may_have_arrived):
            return None
        pause = self.next_pause(error.retry_after)
        if not self._has_time_for(pause):
            return None
        if self._retry.on_trouble is not None:
            self._retry.on_trouble(error)
        return pause

    def next_pause(self, retry_after: float | None = None) -> float:
        """Return the next pause in seconds, whether or not patience is left. ``retry_after`` is the hub's wish."""
        longest = seconds(self._retry.longest_pause)
        pause = max(self._next * random.uniform(0.5, 1), min(retry_after or 0.0, longest))  # noqa: S311 (no secret)
        self._next = min(self._next * 2, longest)
        return pause

    def _has_time_for(self, pause: float) -> bool:
        if self._retry.patience is None:
            return True
        now = self._clock()
        if self._give_up_at is None:
            self._give_up_at = now + seconds(self._retry.patience)
        return now + pause < self._give_up_at


class Patience:
    """The time that a caller gives to something that waits."""

    def __init__(self, timeout: Duration | None, clock: Callable[[], float] = time.monotonic) -> None:
        """``timeout`` None: it has no end. ``clock`` returns seconds."""
        self._clock = clock
        self._ends_at = None if timeout is None else clock() + seconds(timeout)

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self._ends_at is not None and self._clock() >= self._ends_at

    def left(self, *, most: float) -> float:
        """Return the seconds that are left, at most ``most``."""
        return most if self._ends_at is None else min(max(self._ends_at - self._clock(), 0.0), most)

    def limit(self, retry: Retry) -> Retry:
        """Return the policy that repeats for no longer than the time that is left."""
        if self._ends_at is None:
            return retry
        most = float("inf") if retry.patience is None else seconds(retry.patience)
        return dataclasses.replace(retry, patience=self.left(most=most))


class AttemptIds:
    """The attempt ids of a client's receives. An id that took nothing names a later receive of as many.

    A copy of a request may arrive after the empty answer and take something. The later receive then gets it. Several
    threads may receive at once, each under an id of its own. A process that was forked begins with new ids.
    """

    def __init__(self) -> None:
        self._unspent: defaultdict[tuple[int, int], list[UUID | str]] = defaultdict(list)  # by process and number

    def take(self, most: int) -> UUID | str:
        """Return the id of a receive of ``most``: the oldest that took nothing, or a new one."""
        try:
            return self._unspent[os.getpid(), most].pop(0)
        except IndexError:
            return uuid4()

    def keep(self, unspent: UUID | str, most: int) -> None:
        """Keep the id of a receive that took nothing."""
        self._unspent[os.getpid(), most].append(unspent)
