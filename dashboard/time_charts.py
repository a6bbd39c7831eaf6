"""The page of charts over time, and the charts that other pages show too: results, queue, waits and runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from dashboard.base.page import choice_of
from dashboard.figures import plots, thresholds
from dashboard.saved_views import SavablePage
from dashboard.templatetags.routes import path_of
from dashboard.wording.journal import in_words
from mailbox.access.agents import directory
from mailbox.inspection.statistics import history, series
from mailbox.models import Agent
from mailbox.words import times

SECOND = timedelta(seconds=1)
_STEPS = {
    timedelta(minutes=1): "minute",
    timedelta(minutes=5): "5 min",
    timedelta(minutes=20): "20 min",
    timedelta(hours=2): "2 h",
}
ALL = ("work", "queue", "wait", "run")  # the charts
BESIDE = ("work", "queue", "run")  # those beside other figures, in the order of `throughput.html`
TOGETHER = 6  # slots that one link of a live page stands for; it divides the slots of every range


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A series of a chart as an SVG path. ``kind`` is its hue, ``shape`` is area, line or bars.

    ``width`` is that of each bar, None for other shapes.
    """

    kind: str
    label: str
    path: str
    shape: str = "line"
    width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """The place of one slot, with the filter of the tasks that ended in it and its numbers in words."""

    x: int
    width: int
    query: str
    start: datetime
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The place of an event in the plane, with its words and the address of its page."""

    x: float
    words: str
    url: str


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart with its layers, the first one lowest. ``ticks`` are the labels of the y axis from the top down.

    ``words`` puts the numbers of a slot into words, "" for none.
    """

    name: str
    title: str
    ticks: Sequence[str]
    layers: Sequence[Layer]
    cuts: str  # path of the breaks of cut values; "" without one
    slots: Sequence[history.Slot] = field(repr=False)
    words: Callable[[history.Slot], str] = field(repr=False)

    @cached_property
    def hits(self) -> list[Hit]:
        return _hits(self.slots, self.words)

    @property
    def is_empty(self) -> bool:
        return not any(self.words(slot) for slot in self.slots)

    @property
    def grid(self) -> str:
        """The path of the lines at the ticks."""
        distance = plots.HEIGHT / (len(self.ticks) - 1)
        return "".join(f"M0 {distance * place:.4g}H{plots.WIDTH}" for place in range(len(self.ticks)))


def range_named(value: str | None) -> plots.Range:
    """Return the range of this name, an hour for None; raise `InvalidRequestError`."""
    return plots.RANGES[choice_of("range", value, plots.RANGES, plots.HOUR.name)]


def context_of(
    range_name: str | None, now: datetime, party: int | None = None, *, names: Sequence[str] = ALL
) -> dict[str, Any]:
    """Return the context of the charts of an agent, by primary key, None for the hub, over the range of this name.

    ``names`` are the charts that the page draws, in their order.
    """
    scale = range_named(range_name)
    slots = history.read(history.Span(start=scale.start(now), step=scale.step, slots=scale.bars), party)
    merged = [_sum(slots[place : place + TOGETHER]) for place in range(0, len(slots), TOGETHER)]
    return {
        "scale": scale,
        "ranges": plots.RANGES.values(),
        "slots": slots,
        "ends": slots[-1].end,
        "posted": plots.posted(slots[0].start),
        "totals": _sum(slots),
        "peak": max(slot.results for slot in slots),
        "charts": [_CHARTS[name](slots, scale) for name in names],
        "links": _hits(merged, _work_words),
        "times": plots.time_ticks(slots[0].start, slots[-1].end, timezone.get_current_timezone()),
        "counted": series.COUNTED,
    }


def _work(slots: Sequence[history.Slot], scale: plots.Range) -> Chart:
    totals, arrivals = [slot.results for slot in slots], [slot.arrivals for slot in slots]
    axis = plots.axis([*totals, *arrivals])
    layers, floors = [], [0] * len(slots)
    for status in series.STATUSES:
        values = [getattr(slot, status) for slot in slots]
        path = plots.bars(values, floors, axis)
        layers.append(Layer(kind=status, label=status, path=path, shape="bars", width=plots.bar_width(len(slots))))
        floors = [floor + value for floor, value in zip(floors, values, strict=True)]
    layers.append(Layer(kind="arrivals", label="arrived", path=plots.line(arrivals, axis)))
    most = [max(pair) for pair in zip(totals, arrivals, strict=True)]
    title = f"Arrivals and results per {_STEPS[scale.step]}"
    return _chart("work", title, axis, layers, slots, most, _work_words)


def _queue(slots: Sequence[history.Slot], scale: plots.Range) -> Chart:
    columns = {name: [getattr(slot, name) for slot in slots] for name in ("queued", "leased", "stale")}
    axis = plots.axis([value for values in columns.values() for value in values])
    layers = [
        Layer(kind="queued", label="queued", path=plots.area(columns["queued"], axis), shape="area"),
        Layer(kind="leased", label="in flight", path=plots.line(columns["leased"], axis)),
        Layer(kind="stale", label="stale", path=plots.line(columns["stale"], axis)),
    ]
    most = [max(slot.queued or 0, slot.leased or 0) for slot in slots]
    return _chart("queue", "Queue and leases", axis, layers, slots, most, _queue_words)


def _latency(name: str, title: str) -> Callable[[Sequence[history.Slot], plots.Range], Chart]:
    def drawn(slots: Sequence[history.Slot], scale: plots.Range) -> Chart:
        p50, p95 = ([_seconds(getattr(slot, f"{name}_{share}")) for slot in slots] for share in ("p50", "p95"))
        axis = plots.axis(p95, whole=False)
        layers = [
            Layer(kind="p95", label="p95", path=plots.line(p95, axis)),
            Layer(kind="p50", label="p50", path=plots.line(p50, axis)),
        ]
        most = [value or 0 for value in p95]
        return _chart(name, title, axis, layers, slots, most, _latency_words(name), write=_duration)

    return drawn


def _chart(
    name: str,
    title: str,
    axis: plots.Axis,
    layers: Sequence[Layer],
    slots: Sequence[history.Slot],
    most: Sequence[float],
    words: Callable[[history.Slot], str],
    write: Callable[[float], str] = lambda value: thresholds.grouped(round(value)),
) -> Chart:
    """Return the chart. ``most`` are the greatest values of the slots; ``write`` puts those of the axis into words."""
    ticks = [write(value) for value in reversed(axis.ticks)]
    cuts = plots.cuts(most, axis)
    return Chart(name=name, title=title, ticks=ticks, layers=layers, cuts=cuts, slots=slots, words=words)


def _hits(slots: Sequence[history.Slot], words: Callable[[history.Slot], str]) -> list[Hit]:
    wide = plots.WIDTH / len(slots)
    return [
        Hit(
            x=round(place * wide),
            width=round(wide),
            query=plots.finished(slot.start, slot.end),
            start=slot.start,
            words=text,
        )
        for place, slot in enumerate(slots)
        if slot.is_known and (text := words(slot))
    ]


def _sum(slots: Sequence[history.Slot]) -> history.Slot:
    """Return the counts of neighbouring slots as one slot."""
    sums = {name: sum(getattr(slot, name) for slot in slots) for name in ("arrivals", *series.STATUSES)}
    return history.Slot(start=slots[0].start, end=slots[-1].end, **sums)


def _work_words(slot: history.Slot) -> str:
    counts = [(slot.arrivals, "arrived"), *((getattr(slot, status), status) for status in series.STATUSES)]
    return ", ".join(f"{thresholds.grouped(count)} {what}" for count, what in counts if count)


def _queue_words(slot: history.Slot) -> str:
    if slot.queued is None:
        return ""
    return f"{slot.queued or 0} queued, {slot.leased or 0} in flight, {slot.stale or 0} stale"


def _latency_words(name: str) -> Callable[[history.Slot], str]:
    def words(slot: history.Slot) -> str:
        shares = [(share, _seconds(getattr(slot, f"{name}_{share}")) or 0) for share in ("p50", "p95")]
        return ", ".join(f"{share} {_duration(seconds)}" for share, seconds in shares if seconds)

    return words


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span / SECOND


def _duration(seconds: float) -> str:
    if not seconds:
        return "0"
    if seconds < 1:
        return f"{max(1, round(seconds * 1000))} ms"
    return f"{seconds:.3g} s" if seconds < 60 else times.write(timedelta(seconds=round(seconds)))


_CHARTS: Mapping[str, Callable[[Sequence[history.Slot], plots.Range], Chart]] = {
    "work": _work,
    "queue": _queue,
    "wait": _latency("wait", "Wait in queue"),
    "run": _latency("run", "Run time"),
}


class Charts(SavablePage):
    """The work of the hub, or of one agent, over time. Repairs, pauses and retries are marked."""

    name = "charts"

    def chosen_values(self) -> dict[str, str]:
        agent, values = self._agent, {"range": range_named(self.request.GET.get("range")).name}
        return {**values, "agent": agent.display} if agent else values

    @cached_property
    def _agent(self) -> Agent | None:
        name = self.request.GET.get("agent")
        return directory.typed(self.caller, name) if name else None

    def get(self, request: HttpRequest) -> HttpResponse:
        agent = self._agent
        context = context_of(request.GET.get("range"), self.now, agent.pk if agent else None)
        context |= {
            "agent": agent,
            "among": f"q=to:{agent.display}&" if agent else "",
            "marks": self._marks(context, agent),
            **self.saved_views(),
        }
        hits = [[(hit.query, hit.words) for hit in chart.hits] for chart in context["charts"]]
        shown = context["ends"], hits, [(mark.url, mark.x) for mark in context["marks"]]
        return self.live("ops/charts.html", context, shown)

    def _marks(self, context: dict[str, Any], agent: Agent | None) -> list[Mark]:
        start, end = context["slots"][0].start, context["ends"]
        events = history.marks(start, self.now, agent.display if agent else None)
        return [
            Mark(
                x=round(plots.WIDTH * ((event.at - start) / (end - start)), 1),
                words=in_words(event).what,
                url=path_of("ops:audit-event", event.pk),
            )
            for event in events
        ]
