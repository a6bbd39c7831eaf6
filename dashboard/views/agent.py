from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils.html import format_html

from agentcards import card_signing, official_card, registry
from agentcards.card_checks import checks_of
from agentcards.card_document import build_agent_card_for_profile
from agentcards.models import AgentProfile
from dashboard.base import reasons
from dashboard.base.act import Act
from dashboard.base.frame import HtmxRequest
from dashboard.base.reasons import ReasonForm
from dashboard.figures import thresholds, time_charts
from dashboard.figures.charts import HOUR, SPARK
from dashboard.figures.trends import rows_of
from dashboard.forms.send import SendForm
from mailbox.access import actions
from mailbox.access.agents import directory, openness, registration
from mailbox.access.limits import quota_usage
from mailbox.access.own_agents import OWN_AGENTS
from mailbox.inspection import leases
from mailbox.inspection.statistics import backlogs, dealings, failures, series
from mailbox.models import Agent, ApiKey

HELD_SHOWN, JOBS_SHOWN, PEERS_SHOWN, TASKS_SHOWN, COUNTERPARTS_SHOWN = 10, 20, 50, 5, 8


class AgentDetailPage(Act[Agent]):
    """An agent with its figures, its card and the form that pauses or resumes it."""

    needs = actions.PAUSE
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

    def show(self, subject: Agent, form: ReasonForm, *, status: int = HTTPStatus.OK) -> HttpResponse:
        agent: Any = subject
        figures = series.read(
            self.now,
            start=self.now,
            runs_from=HOUR.start(self.now),
            agents=[agent.pk],
            agents_start=SPARK.start(self.now),
        )
        (row,) = rows_of([agent], figures, self.now)
        shown = {
            "agent": agent,
            "row": row,
            "held": leases.oldest_held_by(agent, most=HELD_SHOWN),
            "errors": failures.newest_of(agent, most=TASKS_SHOWN),
            "waiting": dealings.next_queued(agent, most=TASKS_SHOWN),
            "stale_before": self.now - thresholds.stale_after(),
            "may_requeue": self.holds(actions.REQUEUE),
            "may_force_error": self.holds(actions.FORCE_ERROR),
            "is_late": figures.is_late(self.now),
            "figures": figures,
            "among": f"q=to:{agent.display}&",
            **time_charts.context(self.request.GET.get("range"), self.now, agent.pk, names=time_charts.BESIDE),
        }
        if row.remote:
            shown |= {
                "card_fetched_at": row.remote.card_fetched_at(),
                "submitted_at": row.remote.submitted_at or dealings.last_leased_at(agent),
            }
        if not self.is_fragment:
            shown |= _card(agent) | self._besides(agent, form) | {"has_changed": status == HTTPStatus.CONFLICT}
        if status != HTTPStatus.OK:
            return self.page("ops/agent.html", {**shown, "version": ""}, status=status)
        listed = [[one.pk for one in shown[name]] for name in ("held", "errors", "waiting")]
        drawn = shown["charts"], shown["totals"], shown["links"]
        return self.live("ops/agent.html", shown, (row.version, agent.asks, agent.is_asked, drawn, listed))

    def _besides(self, agent: Agent, form: ReasonForm) -> dict[str, Any]:
        """Return the context that is not live: the agent's keys, counterparts and peers, and the form."""
        peers = directory.newest_peers(agent, most=PEERS_SHOWN)
        return {
            "keys": _with_states(directory.live_keys(agent, self.now), self.now),
            "signing_key": directory.live_signing_key(agent),
            "quotas": quota_usage.of_agent(agent, cards=registry.count_of(agent)),
            "counterparts": dealings.counterparts(agent, most=COUNTERPARTS_SHOWN),
            "counted_among": dealings.AMONG,
            "peers": [(peer, peer.status(self.now)) for peer in peers],
            "form": form,
            "seen": self.seen(agent),
            "may_pause": self.holds(actions.PAUSE),
            "needs": self.needs,
            "opening_needs": actions.GRANT,
            "may_open": self.holds(actions.GRANT),
            "is_own": agent.display in OWN_AGENTS,
            "trial": SendForm.trial(agent.display),
            "may_send": self.holds(actions.SEND),
            "sending_needs": actions.SEND,
            "reasons": reasons.offered(self.request),
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
    is_open = openness.is_open(profile.agent)
    card = official_card.for_clients(profile, is_open=is_open, version="1.0")
    return {
        "is_open": is_open,
        "official": json.dumps(card, indent=2, ensure_ascii=False),
        "base_url": official_card.base_url(profile.agent.display),
        "key_id": card_signing.key_id(),
    }


def _card(agent: Agent) -> dict[str, Any]:
    profile = AgentProfile.of(agent)
    card, jobs = build_agent_card_for_profile(profile), registry.jobs_of(agent, most=JOBS_SHOWN)
    checks = checks_of(profile, card, jobs)
    return {
        "card": json.dumps(card, indent=2, ensure_ascii=False),
        "skills": card["skills"],
        "jobs": jobs,
        "checks": checks,
        **_official(profile),
        "problems": sum(not check.passed and not check.is_note for check in checks),
        "notes": sum(not check.passed and check.is_note for check in checks),
    }
