from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from dashboard.base.list_page import ListPage
from dashboard.forms.repair import PlanForm
from dashboard.wording import journal
from mailbox.access import requests
from mailbox.database.paging import Page
from mailbox.inspection import leases, lookup
from mailbox.inspection.search import queries
from mailbox.models import RepairPlan
from mailbox.models.audit import AuditEventQuerySet
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.repair_plan import RepairPlanQuerySet
from mailbox.repairs import plans
from mailbox.repairs.auto_retry import AutoRetry
from mailbox.words.errors import InvalidRequestError, UnknownPlanError

ALL_LIVE = "state:in_flight"


class RepairList(ListPage):
    """All repairs of single leases, newest first."""

    name = "repairs"
    columns: ClassVar = {
        "id": lambda event: event.pk,
        "at": lambda event: event.at,
        "action": lambda event: event.fields.get("action"),
        "actor": lambda event: event.actor,
        "source": lambda event: event.source,
        "task_id": lambda event: event.task_id,
        "lease_id": lambda event: event.fields.get("lease_id"),
        "attempt": lambda event: event.fields.get("attempt"),
        "duplicate_risk": lambda event: event.fields.get("duplicate_risk"),
        "reason": lambda event: event.fields.get("reason"),
        "request_id": lambda event: event.request_id,
        "address": lambda event: event.address,
    }

    def found(self, text: str) -> AuditEventQuerySet:
        return queries.events(text, self.at).repairs().one_by_one()

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {"acts": [journal.in_words(event) for event in page.items], "keys": queries.EVENT_KEYS}


class Repairs(RepairList):
    """The list. A POST makes a plan for many leases."""

    needs = requests.REQUEUE

    def post(self, request: HttpRequest) -> HttpResponse:
        form = PlanForm(request.POST)
        if not form.is_valid():
            return self._nothing_planned("The form was incomplete. Go back, reload the page and select again.")
        chosen = form.cleaned_data
        try:
            plan = plans.make(
                self.caller,
                RepairPlan.Verb(chosen["verb"]),
                self._leases(chosen),
                token=form.asked,
                max_attempts=AutoRetry.from_settings().policy.max_attempts,
                query=(chosen["q"] or ALL_LIVE) if chosen["everything"] else "",
                among=chosen["q"] if chosen["lease"] and not chosen["everything"] else "",
                after=self._after(chosen),
            )
        except InvalidRequestError as error:
            return self._nothing_planned(error.fields.get("q") or "Select at least one lease first.")
        return HttpResponseRedirect(reverse("ops:plan", args=[plan.pk]), status=303)

    def _leases(self, chosen: dict[str, Any]) -> LeaseQuerySet:
        if earlier := self._after(chosen):
            changed = earlier.rows.that_became("changed")
            return earlier.rows.all().leases() if chosen["which"] == "all" else changed.leases_again()
        if chosen["everything"]:
            return queries.leases(chosen["q"], self.at)
        return leases.named(chosen["lease"])

    def _after(self, chosen: dict[str, Any]) -> RepairPlan | None:
        if chosen["after"] is None:
            return None
        plan = lookup.plan(chosen["after"])
        if plan is None:
            raise UnknownPlanError(f"Plan #{chosen['after']} not found.")
        return plan

    def _nothing_planned(self, why: str) -> HttpResponse:
        return self.problem(422, "Nothing planned", why)


class PlanList(ListPage):
    """Plans to repair many leases at once, newest first, each with its outcome."""

    name = "plans"
    columns: ClassVar = {
        "plan": lambda plan: plan.pk,
        "verb": lambda plan: plan.verb,
        "state": lambda plan: plan.state,
        "query": lambda plan: plan.query,
        "among": lambda plan: plan.among,
        "made_by": lambda plan: plan.made_by,
        "made_at": lambda plan: plan.made_at,
        "decided_by": lambda plan: plan.decided_by,
        "decided_at": lambda plan: plan.decided_at,
        "finished_at": lambda plan: plan.finished_at,
        "leases": lambda plan: plan.leases,
        "repaired": lambda plan: plan.repaired,
        "reason": lambda plan: plan.reason,
    }

    def found(self, text: str) -> RepairPlanQuerySet:
        return queries.plans(text, self.at).with_counts()

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        listed = [(plan, plan.has_expired(self.now)) for plan in page.items]
        return {"plans": listed, "keys": queries.PLAN_KEYS}

    def shown(self, page: Page[Any], context: Any) -> object:
        rows = [(plan.pk, plan.state, plan.repaired, plan.has_expired(self.now)) for plan in page.items]
        return rows, context["total"]


def new_token() -> str:
    """Return the token of a new form, under which it acts once."""
    return str(uuid.uuid4())
