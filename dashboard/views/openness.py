"""Opening an agent to callers without a key, and closing it. Both are changes of rights, so they need a proof."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpResponse
from django.urls import reverse

from agentcards import official_agents, official_card
from dashboard.base.act import Act, Wording
from dashboard.base.frame import HtmxRequest
from dashboard.base.reasons import ReasonForm
from dashboard.people import proof
from mailbox.access import actions
from mailbox.access.agents import directory, openness
from mailbox.access.own_agents import ANONYMOUS
from mailbox.models import Agent


class OpennessAct(Act[Agent]):
    """One of the two acts. ``opens`` says which."""

    needs = actions.GRANT
    home = "ops:agents"
    opens: ClassVar[bool]

    def subject(self, **where: Any) -> Agent:
        return directory.typed(self.caller, where["name"])

    def closed(self, subject: Agent) -> str:
        if openness.is_open(subject) != self.opens:
            return ""
        return f"{subject} is {'open to anyone' if self.opens else 'not open'} already."

    def after(self, subject: Agent) -> str:
        return reverse("ops:agent", args=[subject.display])

    def again(self) -> str:
        return reverse("ops:agent", args=[self.kwargs["name"]])

    def post(self, request: HtmxRequest, **where: Any) -> HttpResponse:
        return proof.demanded(request) or super().post(request, **where)

    def besides(self, subject: Agent, form: ReasonForm) -> dict[str, Any]:
        return {
            "opens": self.opens,
            "base_url": official_card.base_url(subject.display),
            "anonymous": ANONYMOUS,
            "command": f"manage.py a2a agents {'open' if self.opens else 'close'} {subject}",
        }


class OpenToAnyone(OpennessAct):
    opens = True
    wording = Wording(
        heading="Open 1 agent to anyone",
        verb="Open to anyone",
        busy="Opening…",
        keep="Cancel",
        about="ops/openness.html",
    )

    def apply(self, subject: Agent, chosen: dict[str, Any]) -> str:
        openness.open_to_anyone(self.caller, subject, reason=chosen["reason"])
        official_agents.forget()
        return f"{subject} is open to anyone. Callers need no key."


class CloseToAnyone(OpennessAct):
    opens = False
    wording = Wording(
        heading="Require an API key for 1 agent",
        verb="Require key",
        busy="Saving…",
        keep="Cancel",
        about="ops/openness.html",
    )

    def apply(self, subject: Agent, chosen: dict[str, Any]) -> str:
        openness.close_to_anyone(self.caller, subject, reason=chosen["reason"])
        official_agents.forget()
        return f"{subject} requires an API key from every caller."
