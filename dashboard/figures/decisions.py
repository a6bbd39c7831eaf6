"""The decisions that need an operator, each with a link; and the checks that need none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone

from dashboard.figures import thresholds
from dashboard.figures.standing import OverviewFigures
from dashboard.figures.thresholds import grouped
from mailbox.inspection import backlogs
from mailbox.inspection.series import Figures
from mailbox.models import Agent
from mailbox.verbs.repairs.auto_retry import AutoRetry
from mailbox.words import times

AGENTS_NAMED = 3  # quiet agents, and as many paused agents with work


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision about ``subject``, which links to ``url``; ``text`` is its problem.

    ``count`` is the number of things that it stands for. ``also`` are further links as (words, address).
    """

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


def find(standing: OverviewFigures, figures: Figures, now: datetime) -> Findings:
    """Return all that a person may have to decide."""
    agents = _named(standing, now)
    decisions: list[Decision] = []
    calm: list[str] = []
    for words, found in (
        (f"No lease is older than {times.write(thresholds.stale_after())}", _leases(standing)),
        ("Agents with work call", _agents(standing, agents, now)),
        ("No paused agent has work waiting", _paused(standing, agents)),
        ("Callbacks arrive or are being tried", _callbacks(standing)),
        ("The scheduler keeps its time", _scheduler(standing, figures, now)),
    ):
        wrong = list(found)
        decisions += wrong
        if not wrong:
            calm.append(words)
    return Findings(decisions=decisions, calm=calm)


def _leases(standing: OverviewFigures) -> Iterator[Decision]:
    if stale := standing.stale:
        url = f"{reverse('ops:leases')}?state=stale"
        unsafe, also = stale - standing.stale_safe, []
        if standing.stale_safe:
            also.append((f"{grouped(standing.stale_safe)} idempotent, safe to requeue", f"{url}&safety=idempotent"))
        if unsafe:
            also.append((f"{grouped(unsafe)} unsafe, for your judgement", f"{url}&safety=unsafe"))
        text = f"past {times.write(thresholds.stale_after())}"
        yield Decision(subject=_many(stale, "lease"), text=text, url=url, count=stale, also=also)


def _named(standing: OverviewFigures, now: datetime) -> Sequence[Any]:
    """Return the busiest agents in trouble, with backlog and signs. If all is calm, make no query."""
    if not standing.quiet and not standing.paused:
        return []
    before = thresholds.quiet_before(now)
    named = backlogs.first_of_each(AGENTS_NAMED, backlogs.quiet(before), backlogs.paused_with_work())
    return list(backlogs.busiest_first(backlogs.with_signs(backlogs.with_backlog(named), before)))


def _agents(standing: OverviewFigures, agents: Sequence[Any], now: datetime) -> Iterator[Decision]:
    quiet = [agent for agent in agents if agent.is_quiet]
    for agent in quiet:
        called_at = agent.last_called_at()
        since = f"has not called for {times.write(now - called_at)}" if called_at else "has never called"
        yield Decision(subject=agent.display, text=f"{since}; {_work(agent)}", url=_page(agent))
    if (more := standing.quiet.value - len(quiet)) > 0:
        url = f"{reverse('ops:agents')}?state=quiet"
        yield Decision(
            subject=_many(more, "more agent"),
            text=f"with work do{'es' if more == 1 else ''} not call",
            url=url,
            count=more,
        )


def _paused(standing: OverviewFigures, agents: Sequence[Any]) -> Iterator[Decision]:
    paused = [agent for agent in agents if agent.paused_at]
    for agent in paused:
        yield Decision(subject=agent.display, text=f"is paused; {_work(agent)}", url=_page(agent))
    if (more := standing.paused.value - len(paused)) > 0:
        url = f"{reverse('ops:agents')}?state=paused"
        yield Decision(
            subject=_many(more, "more agent"),
            text=f"{'is' if more == 1 else 'are'} paused with work waiting",
            url=url,
            count=more,
        )


def _callbacks(standing: OverviewFigures) -> Iterator[Decision]:
    if standing.given_up:
        number = standing.given_up
        yield Decision(
            subject=f"{number} callback{'' if number.value == 1 else 's'}",
            text="given up: send again, or tell the sender",
            url=f"{reverse('ops:deliveries')}?state=disabled",
            count=number.value,
        )


def _scheduler(standing: OverviewFigures, figures: Figures, now: datetime) -> Iterator[Decision]:
    url = reverse("ops:scheduler")
    if figures.is_late(now) and figures.through:
        since = timezone.localtime(figures.through)
        text = f"seems to stand still since {since:%Y-%m-%d %H:%M}: no roll-ups, expiry, callbacks or retries"
        yield Decision(subject="The task cluster", text=text, url=url)
    wanted = AutoRetry.from_settings()
    if not wanted.policy.enabled:
        return
    if standing.scan.get("error"):
        text = f"failed in its last pass: {str(standing.scan['error'])[:120]}"
        yield Decision(subject="The retry scheduler", text=text, url=url)
    if standing.scanned_at is None or now - standing.scanned_at > 3 * wanted.interval:
        ago = f"{times.write(now - standing.scanned_at)} ago" if standing.scanned_at else "never"
        text = f"is on, and its last pass was {ago}"
        yield Decision(subject="The retry scheduler", text=text, url=url)


def _work(agent: Any) -> str:
    parts = [
        f"{grouped(agent.queued)} queued" if agent.queued else "",
        f"{agent.leased} leased" if agent.leased else "",
    ]
    return ", ".join(filter(None, parts))


def _page(agent: Agent) -> str:
    return reverse("ops:agent", args=[agent.display])


def _many(number: int, what: str) -> str:
    return f"{grouped(number)} {what}{'' if number == 1 else 's'}"
