"""Repeats requests to the hub, with growing random pauses."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

from a2a_hub_client.worker.errors import ForbiddenError, HubError, NotNowError

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 15.0  # seconds


class Backoff:
    """Pauses that double from `FIRST_PAUSE` to `LONGEST_PAUSE`, each shortened by up to half at random."""

    def __init__(self) -> None:
        self._next = FIRST_PAUSE

    def pause(self, error: HubError) -> float:
        """Return the seconds to wait after ``error``: at least the hub's Retry-After, up to `LONGEST_PAUSE`."""
        pause = self._next * random.uniform(0.5, 1)  # noqa: S311 (spreads load, hides nothing)
        self._next = min(self._next * 2, LONGEST_PAUSE)
        requested = error.retry_after if isinstance(error, NotNowError) else None
        return max(pause, min(requested or 0.0, LONGEST_PAUSE))

    def reset(self) -> None:
        self._next = FIRST_PAUSE


def insist(
    request: Callable[[], object], *, abandon: threading.Event, on_trouble: Callable[[HubError], object]
) -> bool:
    """Send ``request``, and repeat it until it succeeds. Return False if ``abandon`` is set before that.

    ``on_trouble`` is called with the first failure. Errors that repeating cannot mend are raised.
    """
    backoff = Backoff()
    first = True
    while True:
        try:
            request()
        except (NotNowError, ForbiddenError) as error:  # noqa: PERF203 (a request takes far longer)
            if first:
                on_trouble(error)
            first = False
            if abandon.wait(backoff.pause(error)):
                return False
        else:
            return True
