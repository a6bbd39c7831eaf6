"""Statistics of agents: their order by trouble or by a number, the recent dealings of each, and pairs of agents.

An order is bounded by the number of agents. Each read of recent dealings is bounded, too. Pairs count tasks and
results by sender and recipient.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, Max, OuterRef, Sum

from mailbox.database import compiled
from mailbox.inspection.statistics import backlogs
from mailbox.inspection.statistics.standing import ALL_ERRORS
from mailbox.models import Agent, Lease, PairCount, Result, RollUp, RollUpTurn, Task
from mailbox.models.agent import AgentQuerySet
from mailbox.models.failure import minute_of

SORTED_TO = 1_000  # agents; more are listed by name alone
ERRORS_OVER = timedelta(hours=1)
Measure = Mapping[int, Any]  # what agents are sorted by; agents without any come first, as those with None do
AMONG = 500  # the agent's newest tasks that are looked at, of those it sent and of those it received
UNCOUNTED = 5_000  # the newest tasks, and results, without a count that are read
PAIRS = 20_000  # the largest pairs that are read


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """The limits of trouble at ``now``. ``unreachable`` are the primary keys of the agents that are known to be so.

    These are the remote agents to which the hub could not connect.
    """

    now: datetime
    limits: backlogs.Limits
    unreachable: Collection[int] = ()


class _ErrorTally(NamedTuple):
    """The errors among the results of an agent in the last hour."""

    errors: int = 0
    results: int = 0

    @property
    def are_most(self) -> bool:
        return self.errors >= ALL_ERRORS and 2 * self.errors >= self.results


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
    rows = _rows(_calls, pks, trouble.limits)
    return {pk: max(filter(None, times), default=None) for pk, *times in rows}


def _errors(pks: Sequence[int], trouble: Trouble) -> Measure:
    counted = _tallies(trouble.now)
    return {pk: counted.get(pk, _ErrorTally()).errors for pk in pks}


def _ranked(pks: Sequence[int], trouble: Trouble) -> Measure:
    """Return the rank of the worst trouble of each agent, 0 for none, and then its errors."""
    counted = _tallies(trouble.now)
    ranking = {}
    for pk, paused_at, is_quiet, is_unserved, holds_stale, waits in _rows(_signs, pks, trouble.limits):
        errors = counted.get(pk, _ErrorTally())
        is_paused = paused_at is not None
        ranks = (is_quiet or pk in trouble.unreachable, is_unserved, errors.are_most, holds_stale, is_paused and waits)
        rank = next((6 - place for place, holds in enumerate(ranks) if holds), 1 if is_paused else 0)
        ranking[pk] = (rank, errors.errors)
    return ranking


_MEASURES: Mapping[str, Callable[[Sequence[int], Trouble], Measure]] = {
    "trouble": _ranked,
    "queued": _queued,
    "leased": _leased,
    "errors": _errors,
    "called": _called,
}


def _rows(
    query: Callable[[int], compiled.Compiled], pks: Sequence[int], limits: backlogs.Limits | None = None
) -> list[Any]:
    number, values = compiled.many(pks)
    return query(number).rows(**values, **(limits._asdict() if limits else {}))


@compiled.once
def _backlog(number: int) -> Any:
    rows: Any = backlogs.with_backlog(_these(number))
    return rows.values_list("pk", "queued", "leased")


@compiled.once
def _calls(number: int) -> Any:
    known: Any = backlogs.with_signs(_these(number), backlogs.LIMIT_PARAMETERS.quiet_before)
    return known.values_list("pk", "key_used_at", "route_used_at", "signed_at")


@compiled.once
def _signs(number: int) -> Any:
    rows = backlogs.with_stale(
        backlogs.with_signs(_these(number), backlogs.LIMIT_PARAMETERS.quiet_before),
        backlogs.LIMIT_PARAMETERS.stale_before,
    )
    waits = Exists(Task.objects.leasable().filter(recipient=OuterRef("pk")))
    annotated: Any = backlogs.with_unserved(rows, backlogs.LIMIT_PARAMETERS.late_before).annotate(waits=waits)
    return annotated.values_list("pk", "paused_at", "is_quiet", "is_unserved", "holds_stale", "waits")


def _these(number: int) -> Any:
    return Agent.objects.filter(pk__in=compiled.keys(number))


def _tallies(now: datetime) -> Mapping[int, _ErrorTally]:
    """Return the errors and results of the last hour by agent. Agents without a result are left out."""
    return {pk: _ErrorTally(errors, results) for pk, errors, results in _tallied().rows(since=now - ERRORS_OVER)}


@compiled.once
def _tallied() -> Any:
    minutes: Any = (
        RollUp.objects.exclude(agent=None).filter(minute__gte=compiled.Parameter("since")).order_by().values("agent")
    )
    sums = minutes.annotate(errors=Sum("error"), results=Sum(F("ok") + F("partial") + F("error")))
    return sums.values_list("agent", "errors", "results")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """Another agent, with the recent tasks that it sent to this agent and received from it."""

    display: str
    sent: int = 0
    received: int = 0
    last_at: datetime

    def joined(self, other: Counterpart) -> Counterpart:
        """Return the counterpart with the numbers of both."""
        return Counterpart(
            display=self.display,
            sent=self.sent + other.sent,
            received=self.received + other.received,
            last_at=max(self.last_at, other.last_at),
        )


def next_queued(agent: Agent, *, most: int) -> Sequence[Task]:
    """Return the ``most`` tasks that the agent leases next, in their order, with ``opening``."""
    rows = Task.objects.leasable().filter(recipient=agent).with_parties().with_opening()
    return list(rows.order_by("queued_at", "pk")[:most])


def counterparts(agent: Agent, *, most: int) -> Sequence[Counterpart]:
    """Return the ``most`` agents with the latest tasks to or from this agent, among its newest tasks."""
    by_display: dict[str, Counterpart] = {}
    for mine, other in (("recipient", "sender"), ("sender", "recipient")):
        newest = Task.objects.filter(**{mine: agent}).order_by("-pk").values("pk")[:AMONG]
        others: Any = Task.objects.filter(pk__in=newest).values_list(f"{other}__display").order_by()
        for display, count, last_at in others.annotate(count=Count("pk"), last_at=Max("sent_at")):
            numbers = {"sent" if other == "sender" else "received": count}
            counterpart = Counterpart(display=display, last_at=last_at, **numbers)
            by_display[display] = by_display[display].joined(counterpart) if display in by_display else counterpart
    return sorted(by_display.values(), key=lambda counterpart: counterpart.last_at, reverse=True)[:most]


def last_leased_at(agent: Agent) -> datetime | None:
    """Return when the agent last leased one of its newest tasks, None for never."""
    newest = Task.objects.filter(recipient=agent).order_by("-pk").values("pk")[:AMONG]
    moment: datetime | None = Lease.objects.filter(task__in=newest).aggregate(at=Max("leased_at"))["at"]
    return moment


class Pair(NamedTuple):
    """The tasks from one agent to another, by primary key, and the results of such tasks."""

    sender: int
    recipient: int
    sent: int
    results: int
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The pairs of a range. ``is_cut`` is whether some tasks or pairs are missing, because there are too many."""

    pairs: Sequence[Pair]
    is_cut: bool


def read_pairs(start: datetime, *, span: int) -> Pairs:
    """Return the pairs since ``start``, which begins a slot of ``span`` minutes, in no order."""
    turn = RollUpTurn.read()
    rows = PairCount.objects.since(span, minute_of(start) // span).by_pair().order_by("-tasks", "-ends")[: PAIRS + 1]
    pairs = [Pair(*row) for row in rows]
    tasks = Task.objects.filter(pk__gt=turn.paired_task).order_by("-pk")
    results = Result.objects.filter(pk__gt=turn.paired_result).order_by("-pk")
    sent = list(tasks.values_list("sender", "recipient", "sent_at")[: UNCOUNTED + 1])
    ended = list(results.values_list("sender", "recipient", "posted_at", "status")[: UNCOUNTED + 1])
    fresh = [
        *(Pair(sender, to, 1, 0, 0) for sender, to, at in sent[:UNCOUNTED] if at >= start),
        *(
            Pair(sender, to, 0, 1, int(status == Result.Status.ERROR))
            for sender, to, at, status in ended[:UNCOUNTED]
            if at >= start
        ),
    ]
    is_cut = len(pairs) > PAIRS or any(len(rows) > UNCOUNTED and rows[-1][2] >= start for rows in (sent, ended))
    return Pairs(pairs=_summed([*pairs[:PAIRS], *fresh]), is_cut=is_cut)


def _summed(parts: Iterable[Pair]) -> list[Pair]:
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for sender, recipient, *counts in parts:
        known = sums[sender, recipient]
        for place, count in enumerate(counts):
            known[place] += count
    return [Pair(sender, recipient, *counts) for (sender, recipient), counts in sums.items()]


def with_backlog(keys: Iterable[int]) -> dict[int, Agent]:
    """Return these agents by primary key, each with ``queued`` and ``leased``."""
    return {agent.pk: agent for agent in backlogs.with_backlog(Agent.objects.filter(pk__in=list(keys)))}
