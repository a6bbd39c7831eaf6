"""The numbers of the hub at this instant, and the work that needs a person. Each function makes one query.

Late queues, many errors, and callbacks that keep failing need a person, as stale leases do.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Case, F, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.sql import Query

from mailbox.database import compiled
from mailbox.database.compiled import NOW, Compiled, Parameter, Time
from mailbox.database.paging import Counted, Summed, query_of_figures
from mailbox.inspection.statistics import backlogs
from mailbox.inspection.statistics.backlogs import LIMIT_PARAMETERS, QUIET_AFTER, Limits, unserved
from mailbox.inspection.statistics.series import COUNTED
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, Result, RollUp, Task
from mailbox.models.agent import AgentQuerySet
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.models.rollup import floor
from mailbox.models.task import TaskQuerySet

HOUR = timedelta(hours=1)
ALL_ERRORS = 3  # the least results of an hour that, if all are errors, are reported


class ErrorShare(NamedTuple):
    """The errors among the results of an agent, None for the whole hub, posted since ``since``."""

    agent: str | None
    errors: int
    results: int
    since: datetime

    @property
    def percent(self) -> int:
        return round(100 * self.errors / self.results)


@dataclass(slots=True)
class _Tally:
    """The results and errors of an agent in the last hour, and those of the shorter span of the settings."""

    results: int = 0
    errors: int = 0
    recent_results: int = 0
    recent_errors: int = 0


def late_queues(now: datetime) -> AgentQuerySet:
    """Return the agents with a queue that they do not serve, or not fast enough."""
    return unserved(late_before(now), now - QUIET_AFTER)


def late_names(now: datetime, *, most: int) -> list[str]:
    """Return the displays of the agents of `late_queues` by name, at most one more than ``most``."""
    return _late_names(most).rows(late_before=late_before(now), quiet_before=now - QUIET_AFTER)


@compiled.once
def _late_names(most: int) -> Any:
    rows = unserved(Parameter("late_before"), Parameter("quiet_before")).order_by("display")
    return rows.values_list("display", flat=True)[: most + 1]


def late_before(now: datetime) -> datetime:
    """Return the moment since which a task that is still queued waits for too long."""
    return now - settings.A2A_ATTENTION_QUEUED


def failing_before(now: datetime) -> datetime:
    """Return the moment since which a callback that fails is under way for too long."""
    return now - settings.A2A_ATTENTION_CALLBACK


def failing_callbacks(before: Time) -> list[PushDeliveryQuerySet]:
    """Return the callbacks that keep failing and are not given up, in parts, each with an index of its own.

    A callback keeps failing if it was created at ``before`` or earlier, and at least its second attempt failed or runs.
    """
    old = Q(created_at__lte=before, attempts__gt=F("forgiven") + 1)
    return [PushDelivery.objects.filter(old, state=state) for state in PushDelivery.UNDER_WAY]


def error_shares(now: datetime) -> list[ErrorShare]:
    """Return the agents whose results are errors far too often, the worst first; else the hub if it is so as a whole.

    One query, of the minutes of the last hour and the results without a roll-up.
    """
    since = floor(now - settings.A2A_ATTENTION_ERRORS_WITHIN)
    start = min(since, floor(now - HOUR))
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    for agent, *counts in _counts(COUNTED).rows(start=start, since=since):
        tally = tallies[agent]
        for name, count in zip(_Tally.__slots__, counts, strict=True):
            setattr(tally, name, getattr(tally, name) + count)
    shares = [share for agent, tally in tallies.items() for share in _shares(agent, tally, since, start)]
    whole = _Tally(*(sum(getattr(one, name) for one in tallies.values()) for name in _Tally.__slots__))
    shares = shares or _shares(None, whole, since, start)[:1]
    return sorted(shares, key=lambda share: (-share.errors / share.results, -share.errors))


@compiled.once
def _counts(most: int) -> Any:
    """Return the query of the numbers of a `_Tally` by agent."""
    start, since = Parameter("start"), Parameter("since")
    rolled = RollUp.objects.exclude(agent=None).filter(minute__gte=start)
    return _by_minute(rolled, since).union(_by_result(Result.objects.not_rolled_up(start, most), since), all=True)


def _shares(agent: str | None, tally: _Tally, since: datetime, start: datetime) -> list[ErrorShare]:
    enough = tally.recent_errors >= settings.A2A_ATTENTION_ERRORS
    if enough and 100 * tally.recent_errors >= settings.A2A_ATTENTION_ERROR_SHARE * tally.recent_results:
        return [ErrorShare(agent, tally.recent_errors, tally.recent_results, since)]
    if agent and tally.results >= ALL_ERRORS and tally.errors == tally.results:
        return [ErrorShare(agent, tally.errors, tally.results, start)]
    return []


def _by_minute(rows: QuerySet[RollUp], since: Time) -> Any:
    of_all = F("ok") + F("partial") + F("error")
    sums = {
        "all_results": Sum(of_all),
        "all_errors": Sum("error"),
        "recent_results": Sum(Case(When(minute__gte=since, then=of_all), default=Value(0))),
        "recent_errors": Sum(Case(When(minute__gte=since, then=F("error")), default=Value(0))),
    }
    return rows.order_by().values("agent__display").annotate(**sums).values_list("agent__display", *sums)


def _by_result(rows: QuerySet[Result], since: Time) -> Any:
    is_error, is_recent = Q(status=Result.Status.ERROR), Q(posted_at__gte=since)
    conditions = {
        "all_results": Q(),
        "all_errors": is_error,
        "recent_results": is_recent,
        "recent_errors": is_recent & is_error,
    }
    sums = {
        name: Sum(Case(When(condition, then=Value(1)), default=Value(0)) if condition else Value(1))
        for name, condition in conditions.items()
    }
    groups = rows.order_by().values("recipient__display").annotate(**sums)
    return groups.values_list("recipient__display", *conditions)


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
    (numbers,) = query.rows(now=now, failing_before=failing_before(now), **limits._asdict())
    return Standing(numbers[: len(bands)], *numbers[len(bands) :])


def savings(entries: ReplayEntryQuerySet, waiting: TaskQuerySet, *, most: int) -> Savings:
    """Return the savings by the cached results ``entries``. Hits are summed over the results that are counted.

    ``waiting`` are the duplicates that wait. Each number of rows stops at one more than ``most``.
    """
    figures = Counted.up_to(most, entries), Summed.up_to(most, entries, "hits"), Counted.up_to(most, waiting)
    (numbers,) = Compiled(query_of_figures(*figures)).rows()
    return Savings(*(number or 0 for number in numbers))


@compiled.once
def _attention(stale_after: timedelta, most: int) -> Query:
    querysets = (
        Lease.objects.stale(NOW, stale_after),
        Result.objects.pending(),
        Agent.objects.paused(),
        PushDelivery.objects.given_up(),
    )
    return query_of_figures(*(Counted.up_to(most, one) for one in querysets))


@compiled.once
def _standing(bands: tuple[tuple[timedelta, timedelta | None], ...], stale_after: timedelta, most: int) -> Query:
    failing = [Counted.up_to(most, part) for part in failing_callbacks(Parameter("failing_before"))]
    scans = AuditEvent.objects.scans().through(AuditEvent.Source.SCHEDULER).newest_first()
    return query_of_figures(
        *(Counted(Lease.objects.aged(NOW, least, below).values("pk")) for least, below in bands),
        Counted(Lease.objects.stale(NOW, stale_after).safe_to_repeat().values("pk")),
        Counted.up_to(most, Task.objects.queued()),
        Counted.up_to(most, Task.objects.interrupted()),
        Counted.up_to(most, Result.objects.pending()),
        Counted.up_to(most, PushDelivery.objects.given_up()),
        Counted.up_to(most, backlogs.quiet(LIMIT_PARAMETERS.quiet_before)),
        Counted.up_to(most, backlogs.unserved(LIMIT_PARAMETERS.late_before, LIMIT_PARAMETERS.quiet_before)),
        failing[0] + failing[1],
        Counted.up_to(most, Agent.objects.paused()),
        Counted.up_to(most, backlogs.paused_with_work()),
        Subquery(backlogs.oldest_waiting()),
        Subquery(backlogs.oldest_asking()),
        Subquery(backlogs.oldest_owed()),
        Subquery(scans.values("at")[:1]),
        Subquery(scans.values("data")[:1]),
    )
