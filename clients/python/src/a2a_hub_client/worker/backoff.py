"""Repeats requests to the hub for as long as it takes, with growing random pauses."""

from __future__ import annotations

import threading
from collections.abc import Callable

from a2a_hub_client.errors import HubError, NotNowError
from a2a_hub_client.refusals import ForbiddenError
from a2a_hub_client.retry import Backoff, Retry

PAUSES = Retry(patience=None)


def pause(backoff: Backoff, error: HubError) -> float:
    """Return the seconds to wait after ``error``: at least the hub's Retry-After, up to the longest pause."""
    return backoff.next_pause(error.retry_after if isinstance(error, NotNowError) else None)


def insist(
    request: Callable[[], object],
    *,
    abandon: threading.Event,
    on_trouble: Callable[[HubError], object],
    rest: Callable[[float], bool] | None = None,
) -> bool:
    """Send ``request``, and repeat it until it succeeds. Return False if ``abandon`` is set before that.

    ``on_trouble`` is called with the first failure. Errors that repeating cannot mend are raised. ``rest`` waits so
    many seconds, and returns whether ``abandon`` is set; None: it only waits.
    """
    rest = rest or abandon.wait
    backoff = Backoff(PAUSES)
    first = True
    while True:
        try:
            request()
        except (NotNowError, ForbiddenError) as error:  # noqa: PERF203 (a request takes far longer)
            if first:
                on_trouble(error)
            first = False
            if rest(pause(backoff, error)):
                return False
        else:
            return True
