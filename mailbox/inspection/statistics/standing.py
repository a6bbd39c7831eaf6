"""The numbers of the hub at this instant. Each function makes one query."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Subquery
from django.db.models.sql import Query

from mailbox.database import compiled
from mailbox.database.compiled import NOW, Compiled, Given
from mailbox.database.counted import Counted, Summed, together
from mailbox.inspection.statistics import backlogs, troubles
from mailbox.inspection.statistics.backlogs import GIVEN, Limits
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, Result, Task
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.models.task_queries import TaskQuerySet


class Attention(NamedTuple):
    """The numbers of stale leases, waiting results, paused agents and disabled callbacks."""

    stale: int
    pending: int
    paused: int
    given_up: int


class Standing(NamedTuple):
    """The state of the hub.

    ``ages`` are the live leases by band. ``stale_safe`` is the number of stale leases of idempotent tasks. The moments
    are those since which the oldest task, question and result wait, None without one. ``scanned_at`` and ``scan`` are
    the time and JSON text of the scheduler's newest pass, None without one. ``failing`` counts the callbacks that keep
    failing, ``unserved`` the agents with late queues.
    """

    ages: Sequence[int]
    stale_safe: int
    queued: int
    interrupted: int
    pending: int
    given_up: int
    quiet: int
    unserved: int
    failing: int
    paused: int
    paused_with_work: int
    waits_since: datetime | None
    asks_since: datetime | None
    owed_since: datetime | None
    scanned_at: datetime | None
    scan: str | None


class Savings(NamedTuple):
    """The numbers of cached results, of the duplicates that they answered, and of the duplicates that wait."""

    entries: int
    hits: int
    waiting: int


def attention(now: datetime, *, stale_after: timedelta, most: int) -> Attention:
    """Return the numbers that may need a person's attention. Each number stops at one more than ``most``."""
    (numbers,) = _attention(stale_after, most).rows(now=now)
    return Attention(*numbers)


def read(
    now: datetime,
    *,
    bands: Sequence[tuple[timedelta, timedelta | None]],
    stale_after: timedelta,
    limits: Limits,
    most: int,
) -> Standing:
    """Return the state of the hub. A band is the least age of a lease, and the age that it is below, None for no limit.

    Leases are counted exactly. Every other number stops at one more than ``most``.
    """
    query = _standing(tuple(bands), stale_after, most)
    (numbers,) = query.rows(now=now, failing_before=troubles.failing_before(now), **limits._asdict())
    return Standing(numbers[: len(bands)], *numbers[len(bands) :])


def savings(entries: ReplayEntryQuerySet, waiting: TaskQuerySet, *, most: int) -> Savings:
    """Return the savings by the cached results ``entries``. Hits are summed over the results that are counted.

    ``waiting`` are the duplicates that wait. Each number of rows stops at one more than ``most``.
    """
    figures = Counted.up_to(most, entries), Summed.up_to(most, entries, "hits"), Counted.up_to(most, waiting)
    (numbers,) = Compiled(together(*figures)).rows()
    return Savings(*(number or 0 for number in numbers))


@compiled.once
def _attention(stale_after: timedelta, most: int) -> Query:
    found = (
        Lease.objects.stale(NOW, stale_after),
        Result.objects.pending(),
        Agent.objects.paused(),
        PushDelivery.objects.given_up(),
    )
    return together(*(Counted.up_to(most, one) for one in found))


@compiled.once
def _standing(bands: tuple[tuple[timedelta, timedelta | None], ...], stale_after: timedelta, most: int) -> Query:
    failing = [Counted.up_to(most, part) for part in troubles.failing_callbacks(Given("failing_before"))]
    scans = AuditEvent.objects.scans().through(AuditEvent.Source.SCHEDULER).newest_first()
    return together(
        *(Counted(Lease.objects.aged(NOW, least, below).values("pk")) for least, below in bands),
        Counted(Lease.objects.stale(NOW, stale_after).safe_to_repeat().values("pk")),
        Counted.up_to(most, Task.objects.queued()),
        Counted.up_to(most, Task.objects.interrupted()),
        Counted.up_to(most, Result.objects.pending()),
        Counted.up_to(most, PushDelivery.objects.given_up()),
        Counted.up_to(most, backlogs.quiet(GIVEN.quiet_before)),
        Counted.up_to(most, backlogs.unserved(GIVEN.late_before, GIVEN.quiet_before)),
        failing[0] + failing[1],
        Counted.up_to(most, Agent.objects.paused()),
        Counted.up_to(most, backlogs.paused_with_work()),
        Subquery(backlogs.oldest_waiting()),
        Subquery(backlogs.oldest_asking()),
        Subquery(backlogs.oldest_owed()),
        Subquery(scans.values("at")[:1]),
        Subquery(scans.values("data")[:1]),
    )
