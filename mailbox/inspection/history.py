"""The work of the hub, or of one agent, over time: arrivals, results, waits and runs, queues and leases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, Max, QuerySet, Sum
from django.db.models.functions import TruncHour, TruncMinute

from mailbox.inspection.series import COUNTED
from mailbox.models import AuditEvent, Depth, Result, RollUp, Task
from mailbox.words.kinds import Kind
from mailbox.words.latencies import Latencies

HOUR = timedelta(hours=1)
SAMPLED_EVERY = range(
    0, 60, 10
)  # minutes of an hour that are read for latencies and depths in slots of an hour or more
MARKS = 60  # events of people and of the scheduler beside a chart
MARKED = (Kind.REPAIR_APPLIED, Kind.AGENT_PAUSED, Kind.AGENT_RESUMED)


@dataclass(slots=True)
class Slot:
    """The work from ``start`` until before ``end``.

    ``queued``, ``leased`` and ``stale`` are the greatest numbers counted in that time, None if none was counted.
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
    waits: Latencies = field(default_factory=Latencies)
    runs: Latencies = field(default_factory=Latencies)

    @property
    def results(self) -> int:
        return self.ok + self.partial + self.error

    @property
    def is_known(self) -> bool:
        """Whether anything happened in it or was counted in it."""
        return bool(self.arrivals or self.results or self.queued or self.leased or len(self.waits) or len(self.runs))

    @property
    def wait_p50(self) -> timedelta | None:
        return self.waits.quantile(0.5)

    @property
    def wait_p95(self) -> timedelta | None:
        return self.waits.quantile(0.95)

    @property
    def run_p50(self) -> timedelta | None:
        return self.runs.quantile(0.5)

    @property
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


def read(span: Span, party: int | None = None) -> list[Slot]:
    """Return the slots of the agent with this primary key, None for the hub, oldest first.

    Eight queries at most. Minutes without a roll-up are counted from their rows, as far as `COUNTED`; their latencies
    are left out.
    """
    found = span.empty()
    # Compacted rows of minutes that are not rolled up yet. They have an index of their own, so they are a union's part.
    besides = [RollUp.objects.filter(is_open=True)] if party is None else []
    rolled = [one.filter(minute__gte=span.start).order_by() for one in (RollUp.objects.filter(agent=party), *besides)]
    first, *parts = (_counts(one, span) for one in rolled)
    for minute, arrivals, ok, partial, error in first.union(*parts, all=True):
        _add(found, span, minute, arrivals=arrivals, ok=ok, partial=partial, error=error)
    if span.step >= HOUR:
        rolled = [one.filter(minute__minute__in=SAMPLED_EVERY) for one in rolled]
    first, *parts = (one.values_list("minute", "waits", "runs") for one in rolled)
    for minute, waits, runs in first.union(*parts, all=True):
        if slot := _at(found, span, minute):
            slot.waits += Latencies(waits)
            slot.runs += Latencies(runs)
    for minute, count in _live_arrivals(span.start, party):
        _add(found, span, minute, arrivals=count)
    for agent, _, _, minute, ok, partial, error, *_ in Result.objects.not_rolled_up(span.start, COUNTED).by_minute():
        if party in (None, agent):
            _add(found, span, minute, ok=ok, partial=partial, error=error)
    _depths(found, span, party)
    return found


def marks(start: datetime, now: datetime, agent: str | None = None) -> list[AuditEvent]:
    """Return the newest repairs, pauses and resumes since ``start``, and the scheduler's passes that requeued a task.

    ``agent`` is the display name of the agent that they concern. At most `MARKS` of each kind are read.
    """
    key = RollUp.objects.mark_before(start, "last_event")
    kinds = [AuditEvent.objects.filter(kind=kind, pk__gt=key, at__gte=start) for kind in MARKED]
    passes = AuditEvent.objects.scans().filter(pk__gt=key, at__gte=start).exclude(data__contains='"requeued":0,')
    found = [event for one in (*kinds, passes) for event in one.order_by("-pk")[:MARKS]]
    return [event for event in found if agent is None or f'"{agent}"' in event.data]


def _counts(rolled: QuerySet[RollUp], span: Span) -> Any:
    names = ("queued_in", "ok", "partial", "error")
    if span.step < HOUR:
        return rolled.values_list("minute", *names)
    hours: Any = rolled.annotate(hour=TruncHour("minute", tzinfo=UTC)).values("hour")
    sums = {f"all_{name}": Sum(name) for name in names}
    return hours.annotate(**sums).values_list("hour", *sums)


def _live_arrivals(start: datetime, party: int | None) -> Iterable[tuple[datetime, int]]:
    """Return how many tasks without a roll-up were sent in each minute, among the newest `COUNTED`."""
    newest = RollUp.objects.newest()
    last = Task.objects.aggregate(last=Max("pk"))["last"] or 0
    mark, since = (newest.last_task or 0, max(start, newest.through)) if newest else (0, start)
    tasks = Task.objects.filter(pk__gt=max(mark, last - COUNTED), sent_at__gte=since)
    if party is not None:
        tasks = tasks.filter(recipient=party)
    alike: Any = tasks.order_by().annotate(minute=TruncMinute("sent_at", tzinfo=UTC)).values("minute")
    found: Iterable[tuple[datetime, int]] = alike.annotate(sent=Count("pk")).values_list("minute", "sent")
    return found


def _depths(found: list[Slot], span: Span, party: int | None) -> None:
    """Note the greatest depths of each slot. A counted minute without a row of the agent is 0."""
    counted = Depth.objects.filter(minute__gte=span.start)
    if span.step >= HOUR:
        counted = counted.filter(minute__minute__in=SAMPLED_EVERY)
    if party is not None:
        for minute in counted.of(None).values_list("minute", flat=True):
            _raise(_at(found, span, minute), (0, 0, 0))
    for minute, *numbers in counted.of(party).values_list("minute", "queued", "leased", "stale"):
        _raise(_at(found, span, minute), numbers)


def _raise(slot: Slot | None, numbers: Iterable[int]) -> None:
    if slot is not None:
        for name, number in zip(("queued", "leased", "stale"), numbers, strict=True):
            setattr(slot, name, max(getattr(slot, name) or 0, number))


def _add(found: list[Slot], span: Span, minute: datetime, **counts: int) -> None:
    if slot := _at(found, span, minute):
        for name, count in counts.items():
            setattr(slot, name, getattr(slot, name) + count)


def _at(found: list[Slot], span: Span, minute: datetime) -> Slot | None:
    place = (minute - span.start) // span.step
    return found[place] if 0 <= place < len(found) else None
