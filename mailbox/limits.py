"""Rate limits that hold across processes: one row per party and thing, counted under its lock."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from mailbox.errors import RateLimitedError
from mailbox.models import RateWindow

ONCE = "once "
KEPT_FOR = timedelta(days=7)


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
    """Count one more of ``key``; raise `RateLimitedError` when ``limit`` were counted in this window already.

    Windows are fixed: the first count after one has passed begins the next. Locks the key's row.
    """
    with transaction.atomic(durable=True):
        now = timezone.now()
        row, _ = RateWindow.objects.select_for_update().get_or_create(key=key, defaults={"started_at": now})
        if row.started_at + window <= now:
            row.started_at, row.count = now, 0
        if row.count >= limit:
            left = (row.started_at + window - now).total_seconds()
            raise RateLimitedError(f"more than {limit} in {window.total_seconds():.0f} s", retry_after=math.ceil(left))
        row.count += 1
        row.save(update_fields=["started_at", "count"])
