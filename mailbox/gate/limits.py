"""Rate limits that hold across processes: one row per party and thing, counted under its lock."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from django.db import transaction
from django.utils import timezone

from mailbox.models import RateWindow
from mailbox.words import json_text
from mailbox.words.errors import RateLimitedError

ONCE = "once "
KEPT_FOR = timedelta(days=7)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MOST_MOMENTS = 60  # a row keeps; where more may be counted, those of a sixtieth of the window are kept as one


@contextmanager
def once(key: str) -> Iterator[bool]:
    """Claim ``key`` for what the block does; yield whether this is the first claim in a week.

    Of any number at once, one is the first. A block that raises gives its claim back, so that it can be tried again.
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


def take(key: str, *, limit: int, window: timedelta) -> None:
    """Count one more of ``key``; raise `RateLimitedError` when ``limit`` were counted within ``window`` until now.

    So no stretch of that length, wherever it begins, has more than ``limit``. What is refused does not count. Above
    `MOST_MOMENTS` a count may last longer than ``window``, by that fraction of it at most. Locks the key's row.
    """
    with transaction.atomic(durable=True):
        row, _ = RateWindow.objects.select_for_update().get_or_create(key=key, defaults={"started_at": timezone.now()})
        now, span = (timezone.now() - EPOCH) // MICROSECOND, window // MICROSECOND  # counted in the order of the lock
        grain = 1 if limit <= MOST_MOMENTS else span // MOST_MOMENTS
        # What lies far ahead was counted before the clock was set back.
        counted = {at: many for at, many in json_text.loads(row.counted) if now - span < at <= now + span}
        if (excess := sum(counted.values()) - limit + 1) > 0:
            left = timedelta(microseconds=_when_gone(counted, excess) + span - now)
            retry_after = math.ceil(left.total_seconds())
            raise RateLimitedError(f"more than {limit} in {window.total_seconds():.0f} s", retry_after=retry_after)
        moment = -(-now // grain) * grain  # never too early, or some would be forgotten too soon
        counted[moment] = counted.get(moment, 0) + 1
        row.counted = json_text.dumps(sorted(counted.items()))
        row.save(update_fields=["counted"])


def _when_gone(counted: Mapping[int, int], excess: int) -> int:
    """Return the moment of the last of the oldest ``excess`` counts."""
    moments = sorted(counted)
    together = accumulate(counted[moment] for moment in moments)
    return next(moment for moment, many in zip(moments, together, strict=True) if many >= excess)
