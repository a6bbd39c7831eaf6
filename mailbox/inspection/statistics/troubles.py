"""Late queues, many errors, and callbacks that keep failing: they need a person, as stale leases do."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Case, F, Q, QuerySet, Sum, Value, When

from mailbox.database import compiled
from mailbox.database.compiled import Given, Time
from mailbox.inspection.statistics.backlogs import QUIET_AFTER, unserved
from mailbox.inspection.statistics.series import COUNTED
from mailbox.models import PushDelivery, Result, RollUp
from mailbox.models.agent import AgentQuerySet
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.models.rollup import floor

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
    found = unserved(Given("late_before"), Given("quiet_before")).order_by("display")
    return found.values_list("display", flat=True)[: most + 1]


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
    found = [share for agent, tally in tallies.items() for share in _shares(agent, tally, since, start)]
    whole = _Tally(*(sum(getattr(one, name) for one in tallies.values()) for name in _Tally.__slots__))
    found = found or _shares(None, whole, since, start)[:1]
    return sorted(found, key=lambda share: (-share.errors / share.results, -share.errors))


@compiled.once
def _counts(most: int) -> Any:
    """Return the query of the numbers of a `_Tally` by agent."""
    start, since = Given("start"), Given("since")
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
    found = rows.order_by().values("recipient__display").annotate(**sums)
    return found.values_list("recipient__display", *conditions)
