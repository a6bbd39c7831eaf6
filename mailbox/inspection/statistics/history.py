"""The work of the hub, or of one agent, over time: arrivals, results, waits and runs, queues and leases."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import BigIntegerField, Count, QuerySet, Subquery, Sum
from django.db.models.functions import TruncHour, TruncMinute

from mailbox.database import compiled
from mailbox.database.paging import query_of_figures
from mailbox.inspection.statistics.series import COUNTED
from mailbox.models import AuditEvent, Depth, Result, RollUp, Task
from mailbox.models.rollup import MINUTE, floor
from mailbox.words.kinds import Kind
from mailbox.words.latencies import Latencies

HOUR = timedelta(hours=1)
SAMPLED = timedelta(minutes=20)  # between the minutes whose latencies and depths stand for a long slot
OF_HOUR = range(0, 60, SAMPLED // MINUTE)  # the same minutes, by their number in the hour
MARKS = 60  # events of people and of the scheduler beside a chart
START, PARTY = compiled.Parameter("start"), compiled.Parameter("party", BigIntegerField())
MINUTES = compiled.ListParameter("minutes")
MARKED = (Kind.REPAIR_APPLIED, Kind.AGENT_PAUSED, Kind.AGENT_RESUMED)


@dataclass
class Slot:
    """The work from ``start`` until before ``end``.

    ``queued``, ``leased`` and ``stale`` are the greatest numbers counted in that time, None if none was counted. The
    texts are those of `Latencies`, which are read on request.
    """

    start: datetime
    end: datetime
    arrivals: int = 0
    ok: int = 0
    partial: int = 0
    error: int = 0
    queued: int | None = None
    leased: int | None = None
    stale: int | None = None
    wait_texts: list[str] = field(default_factory=list)
    run_texts: list[str] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Return the numbers that are sums, without the time."""
        return self.arrivals, self.ok, self.partial, self.error

    @property
    def results(self) -> int:
        return self.ok + self.partial + self.error

    @property
    def is_known(self) -> bool:
        """Whether anything happened in it or was counted in it."""
        has_latencies = any(text != "{}" for text in (*self.wait_texts, *self.run_texts))
        return bool(self.arrivals or self.results or self.queued or self.leased or has_latencies)

    @cached_property
    def waits(self) -> Latencies:
        return Latencies.of(self.wait_texts)

    @cached_property
    def runs(self) -> Latencies:
        return Latencies.of(self.run_texts)

    @cached_property
    def wait_p50(self) -> timedelta | None:
        return self.waits.quantile(0.5)

    @cached_property
    def wait_p95(self) -> timedelta | None:
        return self.waits.quantile(0.95)

    @cached_property
    def run_p50(self) -> timedelta | None:
        return self.runs.quantile(0.5)

    @cached_property
    def run_p95(self) -> timedelta | None:
        return self.runs.quantile(0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The time that a history covers: ``slots`` slots of length ``step`` from ``start``."""

    start: datetime
    step: timedelta
    slots: int

    def empty(self) -> list[Slot]:
        starts = [self.start + self.step * place for place in range(self.slots)]
        return [Slot(start=at, end=at + self.step) for at in starts]

    @property
    def is_long(self) -> bool:
        """Whether some minutes of a slot stand for all."""
        return self.step >= HOUR

    def sampled(self) -> list[datetime]:
        """Return the minutes that stand for long slots, none for short slots."""
        first = floor(self.start)
        return [first + SAMPLED * place for place in range(self.step * self.slots // SAMPLED)] if self.is_long else []


def read(span: Span, party: int | None = None) -> list[Slot]:
    """Return the slots of the agent with this primary key, None for the hub, oldest first.

    Eight queries at most. Minutes without a roll-up are counted from their rows, as far as `COUNTED`; their latencies
    are left out.
    """
    slots, shape = span.empty(), (span.is_long, party is None)
    values = {"start": span.start, "party": party, "minutes": span.sampled()}
    for minute, arrivals, ok, partial, error in _counts(*shape).rows(**values):
        _add(slots, span, minute, arrivals=arrivals, ok=ok, partial=partial, error=error)
    for minute, waits, runs in _texts(*shape).rows(**values):
        if slot := _at(slots, span, minute):
            slot.wait_texts.append(waits)
            slot.run_texts.append(runs)
    for minute, count in _live_arrivals(span.start, party):
        _add(slots, span, minute, arrivals=count)
    for agent, _, _, minute, ok, partial, error, *_ in _live_results(COUNTED).rows(start=span.start):
        if party in (None, agent):
            _add(slots, span, minute, ok=ok, partial=partial, error=error)
    _depths(slots, span, party, values)
    return slots


def marks(start: datetime, now: datetime, agent: str | None = None) -> list[AuditEvent]:
    """Return the newest repairs, pauses and resumes since ``start``, and the scheduler's passes that requeued a task.

    ``agent`` is the display name of the agent that they concern. At most `MARKS` of each kind are read.
    """
    events = [event for kind in (*MARKED, None) for event in _marked(kind, MARKS).rows(start=start)]
    return [event for event in events if agent is None or f'"{agent}"' in event.data]


@compiled.once
def _marked(kind: str | None, most: int) -> Any:
    """Return the query of the newest events of this kind; None is for the passes that requeued a task."""
    if kind:
        rows = AuditEvent.objects.filter(kind=kind)
    else:
        rows = AuditEvent.objects.scans().exclude(data__contains='"requeued":0,')
    key = RollUp.objects.mark_before(START, "last_event")
    return rows.filter(pk__gt=key, at__gte=START).order_by("-pk")[:most]


def _rolled(is_of_hub: bool) -> list[QuerySet[RollUp]]:
    """Return the roll-ups of the hub or the given agent since the given start, in parts of a union.

    Compacted rows of minutes that are not rolled up yet have an index of their own, so they are a part.
    """
    if not is_of_hub:
        return [RollUp.objects.filter(agent=PARTY, minute__gte=START).order_by()]
    return [one.filter(minute__gte=START).order_by() for one in (RollUp.objects.of_hub(), RollUp.objects.open())]


@compiled.once
def _counts(is_by_hour: bool, is_of_hub: bool) -> Any:
    names = ("queued_in", "ok", "partial", "error")
    if not is_by_hour:
        first, *parts = (one.values_list("minute", *names) for one in _rolled(is_of_hub))
        return first.union(*parts, all=True)
    sums = {f"all_{name}": Sum(name) for name in names}
    hours: Any = (one.annotate(hour=TruncHour("minute", tzinfo=UTC)).values("hour") for one in _rolled(is_of_hub))
    first, *parts = (one.annotate(**sums).values_list("hour", *sums) for one in hours)
    return first.union(*parts, all=True)


@compiled.once
def _texts(is_sampled: bool, is_of_hub: bool) -> Any:
    """Return the query of the minutes with their latencies."""
    rolled = _rolled(is_of_hub)
    if is_sampled and is_of_hub:
        rolled = [one.filter(minute__among=MINUTES) for one in rolled]
    elif is_sampled:  # PostgreSQL would read a list of minutes for all agents
        rolled = [one.filter(minute__minute__in=OF_HOUR) for one in rolled]
    first, *parts = (one.values_list("minute", "waits", "runs") for one in rolled)
    return first.union(*parts, all=True)


def _live_arrivals(start: datetime, party: int | None) -> Iterable[tuple[datetime, int]]:
    """Return how many tasks without a roll-up were sent in each minute, among the newest `COUNTED`."""
    ((mark, minute, last),) = _marks().rows()
    since = start if minute is None else max(start, minute + MINUTE)
    after = max(mark or 0, (last or 0) - COUNTED)
    return _arrivals(party is None).rows(after=after, since=since, party=party)


@compiled.once
def _marks() -> Any:
    """Return the query of the last task and minute that are rolled up, and of the last task."""
    newest = RollUp.objects.of_hub().order_by("-minute")
    last = Task.objects.order_by("-pk").values("pk")[:1]
    return query_of_figures(*(Subquery(newest.values(name)[:1]) for name in ("last_task", "minute")), Subquery(last))


@compiled.once
def _arrivals(is_of_hub: bool) -> Any:
    tasks = Task.objects.filter(
        pk__gt=compiled.Parameter("after", BigIntegerField()), sent_at__gte=compiled.Parameter("since")
    )
    if not is_of_hub:
        tasks = tasks.filter(recipient=PARTY)
    alike: Any = tasks.order_by().annotate(minute=TruncMinute("sent_at", tzinfo=UTC)).values("minute")
    return alike.annotate(sent=Count("pk")).values_list("minute", "sent")


@compiled.once
def _live_results(most: int) -> Any:
    return Result.objects.not_rolled_up(START, most).by_minute()


def _depths(slots: list[Slot], span: Span, party: int | None, values: Mapping[str, Any]) -> None:
    """Note the greatest depths of each slot. A counted minute without a row of the agent is 0."""
    if party is not None:
        for minute, *_ in _counted(span.is_long, is_of_hub=True).rows(**values):
            _raise(_at(slots, span, minute), (0, 0, 0))
    for minute, *numbers in _counted(span.is_long, is_of_hub=party is None).rows(**values):
        _raise(_at(slots, span, minute), numbers)


@compiled.once
def _counted(is_sampled: bool, *, is_of_hub: bool) -> Any:
    rows = Depth.objects.filter(minute__gte=START)
    if is_sampled:
        rows = rows.filter(minute__among=MINUTES)
    rows = rows.filter(agent=None) if is_of_hub else rows.filter(agent=PARTY)
    return rows.values_list("minute", "queued", "leased", "stale")


def _raise(slot: Slot | None, numbers: Iterable[int]) -> None:
    if slot is not None:
        for name, number in zip(("queued", "leased", "stale"), numbers, strict=True):
            setattr(slot, name, max(getattr(slot, name) or 0, number))


def _add(slots: list[Slot], span: Span, minute: datetime, **counts: int) -> None:
    if slot := _at(slots, span, minute):
        for name, count in counts.items():
            setattr(slot, name, getattr(slot, name) + count)


def _at(slots: list[Slot], span: Span, minute: datetime) -> Slot | None:
    place = (minute - span.start) // span.step
    return slots[place] if 0 <= place < len(slots) else None
