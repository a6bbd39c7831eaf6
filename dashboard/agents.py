"""The agents as rows with their recent results, their list, the page of an agent, and its acts.

To open or close an agent to callers without a key is a change of rights, so it needs a proof.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any, ClassVar

from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from agentcards import card_checks, card_document, card_signing, official_agents, official_card, registry, remote_states
from agentcards.models import AgentProfile
from dashboard import send, time_charts
from dashboard.base import export, reasons
from dashboard.base.act import Act, Wording
from dashboard.base.frame import HtmxRequest
from dashboard.base.list_page import ListPage, no_bytes
from dashboard.base.page import choice_of
from dashboard.figures import plots, thresholds
from dashboard.people import proof
from mailbox.access import own_agents, requests
from mailbox.access.agents import directory, grants, registration
from mailbox.access.limits import quota_usage
from mailbox.database import paging
from mailbox.inspection import leases
from mailbox.inspection.search import keys, queries
from mailbox.inspection.statistics import agents as agents_module
from mailbox.inspection.statistics import backlogs, failures, series
from mailbox.inspection.statistics import standing as standing_module
from mailbox.models import Agent, ApiKey
from mailbox.models.agent import AgentQuerySet

HELD_SHOWN, JOBS_SHOWN, PEERS_SHOWN, TASKS_SHOWN, COUNTERPARTS_SHOWN = 10, 20, 50, 5, 8
SORTS = ("name", "trouble", "queued", "leased", "errors", "called")
WORST_FIRST = "-trouble"


@dataclass(frozen=True, kw_only=True)
class AgentRow:
    """An agent with its results of the last hour, and of the last two hours as small bars."""

    agent: Any
    hour: series.Sum
    buckets: Sequence[plots.Bucket]
    posted: str  # filter of the last hour's results
    used: int = 0  # percent of its fullest quota
    remote: remote_states.RemoteState | None = None  # None: it calls the hub itself

    @property
    def path(self) -> str:
        """The path of the small bars, in the plane of `plots`."""
        counts = [bucket.sum.results for bucket in self.buckets]
        return plots.bars(counts, [0] * len(counts), plots.Axis(ticks=[0, max(1, *counts)]))

    @cached_property
    def results(self) -> int:
        """The number of results that the bars stand for."""
        return sum(bucket.sum.results for bucket in self.buckets)

    @property
    def bar_width(self) -> int:
        return plots.bar_width(len(self.buckets))

    @cached_property
    def peak(self) -> int:
        """The results of the highest bar."""
        return max(bucket.sum.results for bucket in self.buckets)

    @property
    def version(self) -> object:
        """A value that changes when the row looks different. Ages do not count: they tick in the browser."""
        agent, hour = self.agent, self.hour
        standing = (agent.pk, agent.queued, agent.leased, agent.waits_since, agent.is_quiet, agent.is_unserved)
        return (
            standing,
            agent.holds_stale,
            agent.paused_at,
            hour.results,
            hour.error,
            self.results,
            self.remote or agent.last_called_at(),
            self.used,
        )

    @property
    def state(self) -> str:
        """The worst that is known of the agent, as a state of `dashboard.templatetags.ops.pill`."""
        if self.agent.paused_at:
            return "paused"
        if self.remote is not None and self.remote.is_down:
            return "unreachable"
        if self.agent.is_quiet:
            return "quiet"
        if self.agent.is_unserved:
            return "unserved"
        if self.is_failing:
            return "mostly_errors"
        return "stale_lease" if self.agent.holds_stale else "leasing"

    @property
    def is_failing(self) -> bool:
        """Whether at least half of its results of the last hour are errors, and these are not too few to tell."""
        return self.hour.error >= standing_module.ALL_ERRORS and 2 * self.hour.error >= self.hour.results

    @property
    def error_share(self) -> float | None:
        return 100 * self.hour.error / self.hour.results if self.hour.results else None


def rows_of(
    agents: Sequence[Agent], figures: series.Figures, now: datetime, used: Mapping[int, int] | None = None
) -> list[AgentRow]:
    """Return the agents with their figures. ``used`` is the share of the fullest quota in percent, by agent."""
    since, remote = plots.HOUR.start(now), remote_states.of_agents(agents)
    return [
        AgentRow(
            agent=agent,
            hour=series.Sum.of(point for point in points if point.minute >= since),
            buckets=plots.buckets(points, plots.SPARK, now),
            posted=plots.posted(since),
            used=(used or {}).get(agent.pk, 0),
            remote=remote.get(agent.pk),
        )
        for agent in agents
        for points in [figures.agents[agent.pk]]
    ]


class AgentDetailPage(Act[Agent]):
    """An agent with its figures, its card and the form that pauses or resumes it."""

    needs = requests.PAUSE
    home = "ops:agents"

    def subject(self, **where: Any) -> Agent:
        return backlogs.with_questions_of(directory.typed(self.caller, where["name"]).pk, thresholds.limits(self.now))

    def seen(self, subject: Agent) -> str:
        return subject.paused_at.isoformat() if subject.paused_at else ""

    def after(self, subject: Agent) -> str:
        return self.request.path

    def again(self) -> str:
        return self.request.path

    def post(self, request: HtmxRequest, **where: Any) -> HttpResponse:
        if request.POST.get("act") not in ("pause", "resume"):
            return self.problem(400, "Nothing was changed", "Choose pause or resume.")
        return super().post(request, **where)

    def apply(self, subject: Agent, chosen: dict[str, Any]) -> str:
        if self.request.POST["act"] == "resume":
            registration.resume_agent(self.caller, subject, reason=chosen["reason"], since=subject.paused_at)
            return f"{subject} resumed."
        registration.pause_agent(self.caller, subject, reason=chosen["reason"], renews=False)
        return format_html(
            '{} paused: new tasks wait, current leases can finish. <a href="{}#id_reason">Resume</a>',
            subject,
            self.request.path,
        )

    def show(self, subject: Agent, form: reasons.ReasonForm, *, status: int = HTTPStatus.OK) -> HttpResponse:
        agent: Any = subject
        figures = series.read(
            self.now,
            start=self.now,
            runs_from=plots.HOUR.start(self.now),
            agents=[agent.pk],
            agents_start=plots.SPARK.start(self.now),
        )
        (row,) = rows_of([agent], figures, self.now)
        shown = {
            "agent": agent,
            "row": row,
            "held": leases.oldest_held_by(agent, most=HELD_SHOWN),
            "errors": failures.newest_of(agent, most=TASKS_SHOWN),
            "waiting": agents_module.next_queued(agent, most=TASKS_SHOWN),
            "stale_before": self.now - thresholds.stale_after(),
            "is_late": figures.is_late(self.now),
            "figures": figures,
            "among": f"q=to:{agent.display}&",
            **time_charts.context_of(self.request.GET.get("range"), self.now, agent.pk, names=time_charts.BESIDE),
        }
        if row.remote:
            shown |= {
                "card_fetched_at": row.remote.card_fetched_at(),
                "submitted_at": row.remote.submitted_at or agents_module.last_leased_at(agent),
            }
        if not self.is_fragment:
            shown |= _card(agent) | self._besides(agent, form) | {"has_changed": status == HTTPStatus.CONFLICT}
        if status != HTTPStatus.OK:
            return self.page("ops/agent.html", {**shown, "version": ""}, status=status)
        listed = [[one.pk for one in shown[name]] for name in ("held", "errors", "waiting")]
        drawn = shown["charts"], shown["totals"].counts, shown["peak"], shown["links"]
        return self.live("ops/agent.html", shown, (row.version, agent.asks, agent.is_asked, drawn, listed))

    def _besides(self, agent: Agent, form: reasons.ReasonForm) -> dict[str, Any]:
        """Return the context that is not live: the agent's keys, counterparts and peers, and the form."""
        peers = directory.newest_peers(agent, most=PEERS_SHOWN)
        return {
            "keys": _with_states(directory.live_keys(agent, self.now), self.now),
            "signing_key": directory.live_signing_key(agent),
            "quotas": quota_usage.usage_of(agent, cards=registry.count_of(agent)),
            "counterparts": agents_module.counterparts(agent, most=COUNTERPARTS_SHOWN),
            "counted_among": agents_module.AMONG,
            "peers": [(peer, peer.status(self.now)) for peer in peers],
            "form": form,
            "seen": self.seen(agent),
            "is_own": agent.display in own_agents.OWN_AGENTS,
            "trial": send.SendForm.trial(agent.display),
        }


def _with_states(keys: Sequence[ApiKey], now: datetime) -> list[tuple[ApiKey, str]]:
    """Return each key with the state that a person may have to act on, "" without one."""
    replaced = {key.replaces for key in keys}
    due = {key.public_id for key in keys if key.expires_soon(now)}
    return [
        (key, "replaced" if key.public_id in replaced else "expires_soon" if key.public_id in due else "")
        for key in keys
    ]


def _official(profile: AgentProfile) -> dict[str, Any]:
    """Return the context of the card of the official protocol, as a client of version 1.0 reads it."""
    is_open = grants.is_open(profile.agent)
    card = official_card.for_clients(profile, is_open=is_open, version="1.0")
    return {
        "is_open": is_open,
        "official": json.dumps(card, indent=2, ensure_ascii=False),
        "base_url": official_card.base_url(profile.agent.display),
        "key_id": card_signing.key_id(),
    }


def _card(agent: Agent) -> dict[str, Any]:
    profile = AgentProfile.of(agent)
    card, jobs = card_document.build_agent_card_for_profile(profile), registry.jobs_of(agent, most=JOBS_SHOWN)
    checks = card_checks.checks_of(profile, card, jobs)
    return {
        "card": json.dumps(card, indent=2, ensure_ascii=False),
        "skills": card["skills"],
        "jobs": jobs,
        "checks": checks,
        **_official(profile),
        "problems": sum(not check.passed and not check.is_note for check in checks),
        "notes": sum(not check.passed and check.is_note for check in checks),
    }


class AgentList(ListPage):
    """The agents, each with its backlog; those in trouble come first."""

    name = "agents"
    keys = keys.AGENT_KEYS
    field = "display"
    kind = str
    tab = "state"
    columns: ClassVar = export.columns(
        "display pubkey queued leased waits_since last_called_at paused_at paused_reason"
    )

    @property
    def sort(self) -> str:
        """The chosen order: a name of `SORTS`, with a leading minus for the most, latest or last first."""
        known = [f"{sign}{name}" for name in SORTS for sign in ("", "-")]
        return choice_of("sort", self.request.GET.get("sort"), known, WORST_FIRST)

    @property
    def newest_first(self) -> bool:  # type: ignore[override]
        return self.sort == "-name"

    def chosen_values(self) -> dict[str, str]:
        return {**super().chosen_values(), "sort": self.sort}

    def matching(self, text: str) -> AgentQuerySet:
        return queries.agents(text, self.at)

    def listed(self, rows: AgentQuerySet) -> AgentQuerySet:
        return backlogs.with_standing(rows, thresholds.limits(self.now))

    def exported(self, rows: AgentQuerySet) -> AgentQuerySet:
        return self.listed(rows)

    def paged(self, agents: AgentQuerySet) -> paging.Page[Any]:
        """Return the page in the chosen order. More than `agents_module.SORTED_TO` agents are listed by name."""
        pks = None if self.sort.endswith("name") else self._sorted(agents)
        self.is_too_long = pks is None and not self.sort.endswith("name")
        self.number = None if pks is None else len(pks)
        if pks is None:
            return super().paged(agents)
        name = f"{self.name} by {self.sort}"
        position = paging.after(self.request.GET.get("cursor"), name, (int,))
        start = 0 if position is None else position[0] + 1
        wanted = pks[start : start + self.most + 1]
        rows = backlogs.standing_of(wanted, thresholds.limits(self.now))
        page_rows = ((rows[pk], (start + place,)) for place, pk in enumerate(wanted) if pk in rows)
        return paging.page(page_rows, self.most, name, weigh=no_bytes)

    def _sorted(self, agents: AgentQuerySet) -> Sequence[int] | None:
        trouble = agents_module.Trouble(
            now=self.now,
            limits=thresholds.limits(self.now),
            unreachable=remote_states.unreachable(),
        )
        return agents_module.sorted_keys(agents, self.sort, trouble)

    def besides(self, page: paging.Page[Any]) -> dict[str, Any]:
        figures = series.read(
            self.now,
            start=plots.SPARK.start(self.now),
            runs_from=plots.HOUR.start(self.now),
            agents=[agent.pk for agent in page.items],
            sampled=False,
        )
        rows = rows_of(page.items, figures, self.now, quota_usage.fullest(page.items))
        return {
            "rows": rows,
            "is_late": figures.is_late(self.now),
            "sort": "name" if self.is_too_long else self.sort,
            "sorted_to": agents_module.SORTED_TO if self.is_too_long else 0,
        }

    def total(self, rows: AgentQuerySet, page: paging.Page[Any]) -> thresholds.Count:
        """Return the number of the sorted agents, which costs no query. Agents by name are counted."""
        return super().total(rows, page) if self.number is None else thresholds.Count(self.number)

    def shown(self, page: paging.Page[Any], context: Any) -> object:
        return [row.version for row in context["rows"]], context["total"]


class OpennessAct(Act[Agent]):
    """One of the two acts. ``opens`` says which."""

    needs = requests.GRANT
    home = "ops:agents"
    opens: ClassVar[bool]

    def subject(self, **where: Any) -> Agent:
        return directory.typed(self.caller, where["name"])

    def closed(self, subject: Agent) -> str:
        if grants.is_open(subject) != self.opens:
            return ""
        return f"{subject} is {'open to anyone' if self.opens else 'not open'} already."

    def after(self, subject: Agent) -> str:
        return reverse("ops:agent", args=[subject.display])

    def again(self) -> str:
        return reverse("ops:agent", args=[self.kwargs["name"]])

    def post(self, request: HtmxRequest, **where: Any) -> HttpResponse:
        return proof.demanded(request) or super().post(request, **where)

    def apply(self, subject: Agent, chosen: dict[str, Any]) -> str:
        change = grants.open_to_anyone if self.opens else grants.close_to_anyone
        change(self.caller, subject, reason=chosen["reason"])
        official_agents.forget()
        if self.opens:
            return f"{subject} is open to anyone. Callers need no key."
        return f"{subject} requires an API key from every caller."

    def besides(self, subject: Agent, form: reasons.ReasonForm) -> dict[str, Any]:
        return {
            "opens": self.opens,
            "base_url": official_card.base_url(subject.display),
            "anonymous": own_agents.ANONYMOUS,
            "command": f"manage.py a2a agents {'open' if self.opens else 'close'} {subject}",
        }


class OpenToAnyone(OpennessAct):
    opens = True
    wording = Wording(
        heading="Open 1 agent to anyone", verb="Open to anyone", busy="Opening…", about="ops/openness.html"
    )


class CloseToAnyone(OpennessAct):
    opens = False
    wording = Wording(
        heading="Require an API key for 1 agent", verb="Require key", busy="Saving…", about="ops/openness.html"
    )
