"""Rate limits that hold across processes. Each key has one row, and is counted under the lock of that row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from django.db import transaction
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.models import RateWindow
from mailbox.words import json_text
from mailbox.words.allowances import Allowance
from mailbox.words.errors import RateLimitedError

ONCE = "once "
KEPT_FOR = timedelta(days=7)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MOST_MOMENTS = 60  # in a row; above this limit, the requests of a sixtieth of the window are kept as one moment


@contextmanager
def once(key: str) -> Iterator[bool]:
    """Claim ``key`` for the work of the block; yield whether this is the first claim in a week.

    Exactly one of several simultaneous claims is the first. If the block raises, the claim is released, so that the
    work can be tried again.
    """
    now = timezone.now()
    RateWindow.objects.filter(key__startswith=ONCE, started_at__lt=now - KEPT_FOR).delete()
    claim, is_first = RateWindow.objects.get_or_create(key=f"{ONCE}{key}", defaults={"started_at": now})
    try:
        yield is_first
    except BaseException:
        if is_first:
            claim.delete()
        raise


def take(key: str, *, limit: int, window: timedelta) -> Allowance:
    """Count a request of ``key``; raise `RateLimitedError` if the last ``window`` has ``limit`` counted requests.

    The name of the limit is the part of ``key`` before its colon.

    No period of that length has more than ``limit`` requests. A refused request is not counted. If ``limit`` exceeds
    `MOST_MOMENTS`, a request may be counted for up to a sixtieth of the window longer. Locks the key's row.
    """
    with write_turns.turn(), transaction.atomic(durable=True):
        row, _ = RateWindow.objects.select_for_update().get_or_create(key=key, defaults={"started_at": timezone.now()})
        now, span = (timezone.now() - EPOCH) // MICROSECOND, window // MICROSECOND  # counted in the order of the lock
        grain = 1 if limit <= MOST_MOMENTS else span // MOST_MOMENTS
        # Moments far ahead were counted before the clock was set back.
        counted = {at: many for at, many in json_text.loads(row.counted) if now - span < at <= now + span}
        if (excess := sum(counted.values()) - limit + 1) > 0:
            left = timedelta(microseconds=_when_gone(counted, excess) + span - now)
            allowance = _allowance(key, limit, window, excess, left)
            raise RateLimitedError(
                f"More than {limit} requests in {window.total_seconds():.0f} s.",
                retry_after=allowance.reset,
                allowance=allowance,
            )
        moment = -(-now // grain) * grain  # rounded up: a moment that is too early would be forgotten too soon
        counted[moment] = counted.get(moment, 0) + 1
        row.counted = json_text.dumps(sorted(counted.items()))
        row.save(update_fields=["counted"])
        return _allowance(key, limit, window, excess, timedelta(microseconds=min(counted) + span - now))


def _allowance(key: str, limit: int, window: timedelta, excess: int, until_more: timedelta) -> Allowance:
    """Return the state of a limit. ``excess`` counts the requests beyond the limit after the one under way."""
    return Allowance(
        policy=key.partition(":")[0],
        quota=limit,
        window=math.ceil(window.total_seconds()),
        remaining=max(0, -excess),
        reset=math.ceil(until_more.total_seconds()),
    )


def _when_gone(counted: Mapping[int, int], excess: int) -> int:
    """Return the moment of the last of the oldest ``excess`` counts."""
    moments = sorted(counted)
    together = accumulate(counted[moment] for moment in moments)
    return next(moment for moment, many in zip(moments, together, strict=True) if many >= excess)
