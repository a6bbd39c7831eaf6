"""The order of agents on a list, by trouble or by a number. Each order is bounded by the number of agents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Sum

from mailbox.database import compiled
from mailbox.database.compiled import Given
from mailbox.inspection.statistics import backlogs
from mailbox.inspection.statistics.backlogs import GIVEN, Limits
from mailbox.inspection.statistics.troubles import ALL_ERRORS
from mailbox.models import Agent, RollUp, Task
from mailbox.models.agent import AgentQuerySet

SORTED_TO = 1_000  # agents; more are listed by name alone
ERRORS_OVER = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """The limits of trouble at ``now``. ``unreachable`` are the primary keys of the agents that are known to be so.

    These are the remote agents to which the hub could not connect.
    """

    now: datetime
    limits: Limits
    unreachable: Collection[int] = ()


class _ErrorTally(NamedTuple):
    """The errors among the results of an agent in the last hour."""

    errors: int = 0
    results: int = 0

    @property
    def are_most(self) -> bool:
        return self.errors >= ALL_ERRORS and 2 * self.errors >= self.results


Measure = Mapping[int, Any]  # what agents are sorted by; agents without any come first, as those with None do


def sorted_keys(agents: AgentQuerySet, by: str, trouble: Trouble) -> Sequence[int] | None:
    """Return the primary keys of the agents in this order; None for more than `SORTED_TO` agents.

    ``by`` is "trouble", "queued", "leased", "errors" or "called", the least or earliest first; with a leading minus the
    most or latest first. Equal agents follow by name.
    """
    pks = list(agents.order_by("display").values_list("pk", flat=True)[: SORTED_TO + 1])
    if not pks or len(pks) > SORTED_TO:
        return None if pks else []
    measure = _MEASURES[by.removeprefix("-")](pks, trouble)
    values = {pk: measure.get(pk) for pk in pks}
    # Python keeps the order of equal agents, also in reverse.
    return sorted(pks, key=lambda pk: (values[pk] is not None, values[pk]), reverse=by.startswith("-"))


def _queued(pks: Sequence[int], trouble: Trouble) -> Measure:
    return {pk: queued for pk, queued, _ in _rows(_backlog, pks)}


def _leased(pks: Sequence[int], trouble: Trouble) -> Measure:
    return {pk: leased for pk, _, leased in _rows(_backlog, pks)}


def _called(pks: Sequence[int], trouble: Trouble) -> Measure:
    found = _rows(_calls, pks, trouble.limits)
    return {pk: max(filter(None, times), default=None) for pk, *times in found}


def _errors(pks: Sequence[int], trouble: Trouble) -> Measure:
    counted = _tallies(trouble.now)
    return {pk: counted.get(pk, _ErrorTally()).errors for pk in pks}


def _ranked(pks: Sequence[int], trouble: Trouble) -> Measure:
    """Return the rank of the worst trouble of each agent, 0 for none, and then its errors."""
    counted = _tallies(trouble.now)
    found = {}
    for pk, paused_at, is_quiet, is_unserved, holds_stale, waits in _rows(_signs, pks, trouble.limits):
        errors = counted.get(pk, _ErrorTally())
        is_paused = paused_at is not None
        ranks = (is_quiet or pk in trouble.unreachable, is_unserved, errors.are_most, holds_stale, is_paused and waits)
        rank = next((6 - place for place, holds in enumerate(ranks) if holds), 1 if is_paused else 0)
        found[pk] = (rank, errors.errors)
    return found


_MEASURES: Mapping[str, Callable[[Sequence[int], Trouble], Measure]] = {
    "trouble": _ranked,
    "queued": _queued,
    "leased": _leased,
    "errors": _errors,
    "called": _called,
}


def _rows(query: Callable[[int], compiled.Compiled], pks: Sequence[int], limits: Limits | None = None) -> list[Any]:
    number, values = compiled.many(pks)
    return query(number).rows(**values, **(limits._asdict() if limits else {}))


@compiled.once
def _backlog(number: int) -> Any:
    found: Any = backlogs.with_backlog(_these(number))
    return found.values_list("pk", "queued", "leased")


@compiled.once
def _calls(number: int) -> Any:
    known: Any = backlogs.with_signs(_these(number), GIVEN.quiet_before)
    return known.values_list("pk", "key_used_at", "route_used_at", "signed_at")


@compiled.once
def _signs(number: int) -> Any:
    found = backlogs.with_stale(backlogs.with_signs(_these(number), GIVEN.quiet_before), GIVEN.stale_before)
    waits = Exists(Task.objects.leasable().filter(recipient=OuterRef("pk")))
    told: Any = backlogs.with_unserved(found, GIVEN.late_before).annotate(waits=waits)
    return told.values_list("pk", "paused_at", "is_quiet", "is_unserved", "holds_stale", "waits")


def _these(number: int) -> Any:
    return Agent.objects.filter(pk__in=compiled.keys(number))


def _tallies(now: datetime) -> Mapping[int, _ErrorTally]:
    """Return the errors and results of the last hour by agent. Agents without a result are left out."""
    return {pk: _ErrorTally(errors, results) for pk, errors, results in _tallied().rows(since=now - ERRORS_OVER)}


@compiled.once
def _tallied() -> Any:
    minutes: Any = RollUp.objects.exclude(agent=None).filter(minute__gte=Given("since")).order_by().values("agent")
    sums = minutes.annotate(errors=Sum("error"), results=Sum(F("ok") + F("partial") + F("error")))
    return sums.values_list("agent", "errors", "results")
