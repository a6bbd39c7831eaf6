"""How much of everything there is at this instant, each look in one query.

The query hangs from the row of the user who looks, because it needs a row to hang from.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Subquery

from mailbox.database.counted import Counted, Summed
from mailbox.inspection import backlogs
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, Result, Task
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.models.task import TaskQuerySet


class Attention(NamedTuple):
    """How many leases are stale, results wait for their sender, agents are paused and callbacks are given up."""

    stale: int
    pending: int
    paused: int
    given_up: int


class Standing(NamedTuple):
    """``ages`` are the live leases of each band; ``stale_safe`` are the stale ones of work safe to repeat.

    The moments are since when the oldest task and the oldest result wait; None where none does. ``scanned_at`` and
    ``scan`` are the time and the JSON text of the newest pass of the retry gate by the scheduler, None before it.
    """

    ages: Sequence[int]
    stale_safe: int
    queued: int
    pending: int
    given_up: int
    quiet: int
    paused_with_work: int
    waits_since: datetime | None
    owed_since: datetime | None
    scanned_at: datetime | None
    scan: str | None


class Savings(NamedTuple):
    """How many cached results there are, how many duplicates they answered, and how many duplicates wait."""

    entries: int
    hits: int
    waiting: int


def attention(username: str, now: datetime, *, stale_after: timedelta, most: int) -> Attention:
    """Return what somebody may want to look at; each number ends at one more than ``most``."""
    found = (
        Lease.objects.stale(now, stale_after),
        Result.objects.pending(),
        Agent.objects.paused(),
        PushDelivery.objects.given_up(),
    )
    return Attention(*_read(username, *(Counted.up_to(most, one) for one in found)))


def read(
    username: str,
    now: datetime,
    *,
    bands: Sequence[tuple[timedelta, timedelta | None]],
    stale_after: timedelta,
    quiet_before: datetime,
    most: int,
) -> Standing:
    """Return what stands in the hub. A band is the least age of a lease and the age it is below, None for any.

    The leases are counted exactly; every other number ends at one more than ``most``.
    """
    live = [Lease.objects.aged(now, least, below) for least, below in bands]
    scans = AuditEvent.objects.scans().through(AuditEvent.Source.SCHEDULER).newest_first()
    numbers = _read(
        username,
        *(Counted(leases.values("pk")) for leases in live),
        Counted(Lease.objects.stale(now, stale_after).safe_to_repeat().values("pk")),
        Counted.up_to(most, Task.objects.queued()),
        Counted.up_to(most, Result.objects.pending()),
        Counted.up_to(most, PushDelivery.objects.given_up()),
        Counted.up_to(most, backlogs.quiet(quiet_before)),
        Counted.up_to(most, backlogs.paused_with_work()),
        Subquery(backlogs.oldest_waiting()),
        Subquery(backlogs.oldest_owed()),
        Subquery(scans.values("at")[:1]),
        Subquery(scans.values("data")[:1]),
    )
    return Standing(numbers[: len(live)], *numbers[len(live) :])


def savings(username: str, entries: ReplayEntryQuerySet, waiting: TaskQuerySet, *, most: int) -> Savings:
    """Return what the cached results ``entries`` saved; hits are summed over those that are counted.

    ``waiting`` are the duplicates that wait. Either number of rows ends at one more than ``most``.
    """
    counted = Counted.up_to(most, entries), Summed.up_to(most, entries, "hits"), Counted.up_to(most, waiting)
    return Savings(*(number or 0 for number in _read(username, *counted)))


def _read(username: str, *figures: Subquery) -> tuple[Any, ...]:
    (numbers,) = User.objects.filter(username=username).values_list(*figures)
    return tuple(numbers)
