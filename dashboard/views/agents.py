from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from dashboard.access import Page
from dashboard.forms import ReasonForm
from dashboard.lists import ListPage
from mailbox import capabilities, registration
from mailbox.models import Agent, Lease
from mailbox.models.agent import AgentQuerySet


class AgentList(ListPage):
    """Who there is, with what waits for each."""

    name = "agents"
    field = "display"
    kind = str
    newest_first = False
    columns: ClassVar = {
        "display": lambda agent: agent.display,
        "pubkey": lambda agent: agent.pubkey,
        "queued": lambda agent: agent.queued,
        "leased": lambda agent: agent.leased,
        "paused_at": lambda agent: agent.paused_at,
        "paused_reason": lambda agent: agent.paused_reason,
    }

    def model(self) -> AgentQuerySet:
        return Agent.objects.with_backlog()

    def found(self) -> AgentQuerySet:
        text = self.request.GET.get("q", "").strip()
        found = self.model()
        if self.request.GET.get("state") == "paused":
            found = found.paused()
        return found.filter(display__icontains=text) if text else found


class AgentPage(Page):
    """One agent: its backlog, what it holds, and the switch that lets its tasks wait."""

    needs = capabilities.PAUSE

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        return self._shown(name, ReasonForm(initial={"form_token": uuid.uuid4()}))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        agent = registration.agent_at(name)
        form = ReasonForm(request.POST)
        if not form.is_valid():
            return self._shown(name, form, status=422)
        caller, reason = self.named(form.cleaned_data["form_token"]), form.cleaned_data["reason"]
        if request.POST.get("act") == "resume":
            registration.resume_agent(caller, agent, reason=reason)
            messages.success(request, f"{agent} leases again.")
        else:
            registration.pause_agent(caller, agent, reason=reason)
            messages.success(
                request, f"{agent} is paused: its tasks wait until it is resumed; what it holds it may finish."
            )
        return HttpResponseRedirect(request.path, status=303)

    def _shown(self, name: str, form: ReasonForm, *, status: int = 200) -> HttpResponse:
        agent = Agent.objects.with_backlog().get(pk=registration.agent_at(name).pk)
        context = {
            "agent": agent,
            "form": form,
            "held": list(Lease.objects.live().filter(holder=agent).with_task().oldest_first()[:10]),
            "may_pause": self.holds(capabilities.PAUSE),
            "needs": self.needs,
            "reasons": self.request.session.get("reasons", []),
        }
        return self.page("ops/agent.html", context, status=status)
