"""The state of the hub now, in one query, and the decisions that need an operator, each with a link."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self
from urllib.parse import quote

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from dashboard.figures import plots, thresholds
from dashboard.figures.thresholds import COUNTED_TO, Count, grouped
from mailbox.inspection.statistics import backlogs, series, standing
from mailbox.inspection.statistics.standing import Standing
from mailbox.models.rollup import floor
from mailbox.repairs.auto_retry import AutoRetry
from mailbox.words import json_text, times

EDGES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 360))  # of the ages of leases
AGENTS_NAMED = 3  # of each kind of trouble; a link leads to the others


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Leases at least ``least`` old and younger than ``most``. None is no bound."""

    least: timedelta
    most: timedelta | None

    @property
    def label(self) -> str:
        if self.most is None:
            return f"≥ {_short(self.least)}"
        return f"< {_short(self.most)}" if not self.least else f"{_short(self.least)}-{_short(self.most)}"

    @property
    def edge(self) -> str:
        return _short(self.least) if self.least else "0"

    @property
    def query(self) -> str:
        least = f"min_age={self.least // timedelta(seconds=1)}s" if self.least else ""
        most = f"max_age={self.most // timedelta(seconds=1)}s" if self.most else ""
        return "&".join(filter(None, (least, most)))


def bands_of(stale_after: timedelta) -> list[Band]:
    """Return the age bands. The stale threshold is an edge, so the stale bars are the stale leases."""
    edges = [timedelta(0), *sorted({*EDGES, stale_after} - {timedelta(0)})]
    return [Band(least=least, most=most) for least, most in zip(edges, [*edges[1:], None], strict=True)]


def histogram(counts: Sequence[tuple[Band, int]], stale_after: timedelta, *, height: float = 100) -> list[plots.Bar]:
    """Return a bar for each band. A band with any lease has a visible bar."""
    top = max((count for _, count in counts), default=0) or 1
    bars = []
    for place, (band, count) in enumerate(counts):
        tall = max(2.0, round(height * count / top, 1)) if count else 0.0
        bars.append(
            plots.Bar(
                x=6.0 + 60 * place,
                y=28 + height - tall,
                width=48,
                height=tall,
                kind="stale" if band.least >= stale_after else "leased",
                label=band.label,
                count=count,
                query=band.query,
                edge=band.edge,
                is_first_stale=band.least == stale_after,
            )
        )
    return bars


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewFigures:
    """The figures of the hub now. ``ages`` counts the live leases of each band.

    ``scan`` is the data of the scheduler's newest pass of the retry gate.
    """

    figures: Standing
    ages: Sequence[tuple[Band, int]]
    scan: Mapping[str, Any]

    @classmethod
    def read(cls, now: datetime) -> Self:
        """Read the figures in one query."""
        stale_after = thresholds.stale_after()
        bands = bands_of(stale_after)
        figures = standing.read(
            now,
            bands=[(band.least, band.most) for band in bands],
            stale_after=stale_after,
            limits=thresholds.limits(now),
            most=COUNTED_TO,
        )
        ages = list(zip(bands, figures.ages, strict=True))
        return cls(figures=figures, ages=ages, scan=json_text.loads(figures.scan) if figures.scan else {})

    @property
    def in_flight(self) -> int:
        return sum(count for _, count in self.ages)

    @property
    def stale(self) -> int:
        """The number of leases in the bands at and above the threshold, which is an edge of the bands."""
        stale_after = thresholds.stale_after()
        return sum(count for band, count in self.ages if band.least >= stale_after)


def _short(span: timedelta) -> str:
    return times.write(span).replace(" ", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision about ``subject``, which links to ``url``; ``text`` is its problem.

    ``key`` names it as long as it waits. ``count`` is the number of things that it stands for. ``also`` are further
    links as (words, address).
    """

    key: str
    subject: str
    text: str
    url: str
    count: int = 1
    also: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    decisions: Sequence[Decision]
    calm: Sequence[str]  # checks without a decision, in words

    @property
    def count(self) -> int:
        return sum(decision.count for decision in self.decisions)


def find(
    standing: OverviewFigures,
    figures: series.Figures,
    now: datetime,
    *,
    named: int = AGENTS_NAMED,
    busiest: Sequence[Any] = (),
) -> Findings:
    """Return all that a person may have to decide, the most urgent first.

    ``named`` agents of each kind of trouble have a decision of their own; one decision stands for the others. The
    agents of `backlogs.busiest` spare a query if they hold all that are named.
    """
    agents = _named(standing, now, named, busiest)
    decisions: list[Decision] = []
    calm: list[str] = []
    for words, found in (
        ("Background worker on schedule", _cluster(figures, now)),
        (f"No lease older than {_span(thresholds.stale_after())}", _leases(standing)),
        ("All agents with work are polling", _quiet(standing, agents, now)),
        (f"No task queued for over {_span(settings.A2A_ATTENTION_QUEUED)}", _unserved(standing, agents, now)),
        ("No error spike", _errors(figures, now, named)),
        ("No callback failing", _callbacks(standing)),
        ("No paused agent has tasks waiting", _paused(standing, agents)),
        ("Retry scheduler on schedule", _scheduler(standing, now)),
    ):
        wrong = list(found)
        decisions += wrong
        if not wrong:
            calm.append(words)
    return Findings(decisions=decisions, calm=calm)


def _cluster(figures: series.Figures, now: datetime) -> Iterator[Decision]:
    if figures.is_late(now) and figures.through:
        since = timezone.localtime(figures.through)
        text = f"stopped at {since:%Y-%m-%d %H:%M}: no roll-ups, expiry, callbacks or retries"
        yield Decision(key="cluster", subject="Background worker", text=text, url=reverse("ops:health"))


def _leases(standing: OverviewFigures) -> Iterator[Decision]:
    if stale := standing.stale:
        url = f"{reverse('ops:leases')}?state=stale"
        unsafe, also = stale - standing.figures.stale_safe, []
        if standing.figures.stale_safe:
            also.append((f"{grouped(standing.figures.stale_safe)} safe to requeue", f"{url}&safety=idempotent"))
        if unsafe:
            need = "needs" if unsafe == 1 else "need"
            also.append((f"{grouped(unsafe)} {need} review", f"{url}&safety=unsafe"))
        text = f"(over {_span(thresholds.stale_after())})"
        yield Decision(key="leases", subject=_many(stale, "stale lease"), text=text, url=url, count=stale, also=also)


def _named(standing: OverviewFigures, now: datetime, most: int, busiest: Sequence[Any]) -> Sequence[Any]:
    """Return the busiest agents in trouble, with backlog and signs. If all is calm, make no query."""
    if not standing.figures.quiet and not standing.figures.unserved and not standing.figures.paused_with_work:
        return []
    if (chosen := _in_trouble(busiest, standing, most)) is not None:
        return chosen
    before, late, _ = limits = thresholds.limits(now)
    named = backlogs.first_of_each(
        most, backlogs.quiet(before), backlogs.unserved(late, before), backlogs.paused_with_work()
    )
    return list(backlogs.busiest_first(backlogs.with_pace(backlogs.with_standing(named, limits), late)))


def _in_trouble(busiest: Sequence[Any], standing: OverviewFigures, most: int) -> Sequence[Any] | None:
    """Return the first ``most`` of each kind of trouble; None if they are not all among the ``busiest``."""
    kinds = (
        (standing.figures.quiet, [agent for agent in busiest if agent.is_quiet]),
        (standing.figures.unserved, [agent for agent in busiest if agent.is_unserved and not agent.is_quiet]),
        (standing.figures.paused_with_work, [agent for agent in busiest if agent.paused_at and agent.queued]),
    )
    if any(len(found) < min(most, number) for number, found in kinds):
        return None
    chosen = {agent.pk for _, found in kinds for agent in found[:most]}
    return [agent for agent in busiest if agent.pk in chosen]


def _of_agents(
    kind: str,
    number: int,
    agents: Sequence[Any],
    what: str,
    text: Callable[[Any], str],
    also: Callable[[Any], Sequence[tuple[str, str]]] = lambda agent: (),
) -> Iterator[Decision]:
    """Yield a decision for each of the ``agents``, and one for the rest of the ``number`` that are in this trouble."""
    for agent in agents:
        yield Decision(
            key=f"{kind}:{agent.display}",
            subject=agent.display,
            text=f"{text(agent)} · {_work(agent)}",
            url=reverse("ops:agent", args=[agent.display]),
            also=also(agent),
        )
    if number > len(agents):
        yield _rest(kind, number - len(agents), what, f"{reverse('ops:agents')}?state={kind}")


def _quiet(standing: OverviewFigures, agents: Sequence[Any], now: datetime) -> Iterator[Decision]:
    def text(agent: Any) -> str:
        called_at = agent.last_called_at()
        return f"no contact for {_span(now - called_at)}" if called_at else "never connected"

    quiet = [agent for agent in agents if agent.is_quiet]
    return _of_agents("quiet", standing.figures.quiet, quiet, "with work not polling", text)


def _unserved(standing: OverviewFigures, agents: Sequence[Any], now: datetime) -> Iterator[Decision]:
    def text(agent: Any) -> str:
        pace = "falling behind" if agent.takes_work else "not picking up tasks"
        return f"{pace}: oldest queued {_span(now - agent.waits_since)}"

    def queue(agent: Any) -> Sequence[tuple[str, str]]:
        return [("Queue", f"{reverse('ops:tasks')}?state=queued&q=to:{quote(agent.display)}")]

    unserved = [agent for agent in agents if agent.is_unserved and not agent.is_quiet]
    return _of_agents("unserved", standing.figures.unserved, unserved, "with a backlog", text, queue)


def _errors(figures: series.Figures, now: datetime, most: int) -> Iterator[Decision]:
    if not any(point.error for point in figures.hub):
        return
    shares, failures = standing.error_shares(now), f"{reverse('ops:failures')}?range=1h"
    for share in shares[:most]:
        span = f"in the last {_span(floor(now) - share.since)}"
        text = f"{share.percent} % errors {span}: {grouped(share.errors)} of {_many(share.results, 'result')}"
        url = f"{failures}&agent={quote(share.agent)}" if share.agent else failures
        key = f"errors:{share.agent or 'hub'}"
        yield Decision(key=key, subject=share.agent or "Whole hub", text=text, url=url)
    if more := shares[most:]:
        yield _rest("errors", len(more), "with an error spike", failures)


def _paused(standing: OverviewFigures, agents: Sequence[Any]) -> Iterator[Decision]:
    paused = [agent for agent in agents if agent.paused_at]
    number = standing.figures.paused_with_work
    return _of_agents("paused", number, paused, "paused with tasks waiting", lambda agent: "paused")


def _callbacks(standing: OverviewFigures) -> Iterator[Decision]:
    late = _span(settings.A2A_ATTENTION_CALLBACK)
    for number, text, state in (
        (standing.figures.given_up, "failed permanently: resend or notify the sender", "disabled"),
        (standing.figures.failing, f"failing for over {late}, still retrying", "failing"),
    ):
        if number:
            subject = f"{Count(number)} callback{'' if number == 1 else 's'}"
            url = f"{reverse('ops:deliveries')}?state={state}"
            yield Decision(key=f"callbacks:{state}", subject=subject, text=text, url=url, count=number)


def _scheduler(standing: OverviewFigures, now: datetime) -> Iterator[Decision]:
    wanted = AutoRetry.from_settings()
    if not wanted.policy.enabled:
        return
    url, scanned_at = reverse("ops:scheduler"), standing.figures.scanned_at
    if standing.scan.get("error"):
        text = f"last run failed: {str(standing.scan['error'])[:120]}"
        yield Decision(key="scheduler:failed", subject="Retry scheduler", text=text, url=url)
    if scanned_at is None or now - scanned_at > 3 * wanted.interval:
        last = f"last run {_span(now - scanned_at)} ago" if scanned_at else "no run yet"
        yield Decision(key="scheduler:late", subject="Retry scheduler", text=f"on, but {last}", url=url)


def _rest(kind: str, number: int, what: str, url: str) -> Decision:
    return Decision(key=f"{kind}:more", subject=_many(number, "more agent"), text=what, url=url, count=number)


def _work(agent: Any) -> str:
    parts = [
        f"{grouped(agent.queued)} queued" if agent.queued else "",
        f"{agent.leased} leased" if agent.leased else "",
    ]
    return ", ".join(filter(None, parts))


def _many(number: int, what: str) -> str:
    return f"{grouped(number)} {what}{'' if number == 1 else 's'}"


def _span(span: timedelta) -> str:
    """Write a span as sentences do, such as ``1 h 31 min``."""
    return re.sub(r"(\d) m\b", r"\1 min", times.write(span))
