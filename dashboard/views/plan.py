from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from dashboard.base import export, lost_form, reasons
from dashboard.base.frame import HtmxRequest
from dashboard.base.list_page import ROWS
from dashboard.base.page import DashboardView, choice_of
from dashboard.forms.repair import ApplyForm
from dashboard.views.repairs import new_token
from dashboard.wording import commands
from mailbox.access import actions
from mailbox.database import paging
from mailbox.inspection import lookup
from mailbox.models import RepairPlan, RepairPlanRow
from mailbox.models.repair_plan import RepairPlanRowQuerySet
from mailbox.repairs import plan_execution, plans
from mailbox.repairs.plans import PlanTally
from mailbox.words.errors import InvalidRequestError, PlanClosedError, UnknownPlanError

BITE = 3.0  # seconds of repairs within a request
SORTS: dict[str, tuple[str, type]] = {
    "age": ("leased_at", datetime),
    "attempt": ("attempt", int),
    "holder": ("holder", str),
}
GROUPS = (*RepairPlanRow.Verdict.values, *RepairPlanRow.Outcome.values, "pending", "planned")
TEMPLATE: Mapping[str, str] = {
    RepairPlan.Verb.REQUEUE: "ops/plan.html",
    RepairPlan.Verb.FORCE_ERROR: "ops/plan.html",
    RepairPlan.Verb.SEND_AGAIN: "ops/copies.html",
}
COLUMNS = {
    "task_id": lambda row: row.task_id,
    "lease_id": lambda row: row.lease_id,
    "copy_id": lambda row: row.copy_id,
    "sender": lambda row: row.sender,
    "holder": lambda row: row.holder,
    "attempt": lambda row: row.attempt,
    "leased_at": lambda row: row.leased_at,
    "safety": lambda row: "idempotent" if row.is_idempotent else "unsafe",
    "verdict": lambda row: row.verdict,
    "outcome": lambda row: row.outcome,
    "detail": lambda row: row.detail,
    "settled_at": lambda row: row.settled_at,
    "intent_text": lambda row: row.intent,
}


class PlanPage(DashboardView):
    """A plan at a permanent address: first its preview, then its progress, then its receipt."""

    needs = actions.REQUEUE

    def get(self, request: HttpRequest, number: str) -> HttpResponse:
        plan = plan_of(number)
        context = self._context(plan)
        if request.GET.get("part") == "progress":
            return self.live(TEMPLATE[plan.verb], context, (plan.state, context["tally"]), part="progress")
        return self.live(
            TEMPLATE[plan.verb], context, (plan.state, [(row.pk, row.outcome) for row in context["page"].items])
        )

    def post(self, request: HtmxRequest, number: str) -> HttpResponse:
        filled = ApplyForm(request.POST)
        if filled.is_broken:
            return lost_form.answer(request, status=400)
        if not filled.is_valid():
            return self._refused(number, filled)
        chosen = filled.cleaned_data
        reasons.remember(request, chosen["reason"])
        try:
            plan = plans.apply(
                self.caller,
                plan_of(number).pk,
                reason=chosen["reason"],
                message=chosen["message"],
                with_unsafe=chosen["with_unsafe"],
                typed=chosen["typed"],
            )
        except InvalidRequestError as error:
            for field, problem in error.fields.items():
                filled.add_error(field if field in filled.fields else None, f"{problem[:1].upper()}{problem[1:]}.")
            return self._refused(number, filled)
        plan_execution.work(plan, seconds=BITE)
        return to_plan(plan)

    def _refused(self, number: str, filled: ApplyForm) -> HttpResponse:
        plan = plan_of(number)
        if plan.state != RepairPlan.State.PREVIEW:
            return to_plan(plan)
        return self.page(TEMPLATE[plan.verb], {**self._context(plan), "form": filled, "version": ""}, status=422)

    def _context(self, plan: RepairPlan) -> dict[str, Any]:
        sort = choice_of("sort", self.request.GET.get("sort"), [*SORTS, *(f"-{name}" for name in SORTS)])
        field, kind = SORTS.get(sort.removeprefix("-"), ("pk", int))
        page = paging.keyset(
            rows_of(plan, self.request),
            field,
            kind,
            newest_first=sort.startswith("-"),
            limit=ROWS,
            at_once=ROWS + 1,
            cursor=self.request.GET.get("cursor"),
            name=f"plan-{field}",
        )
        tally = PlanTally.of(plan)
        action = plans.ACTION[RepairPlan.Verb(plan.verb)]
        return {
            "plan": plan,
            "tally": tally,
            "has_expired": plan.has_expired(self.now),
            "is_applied": plan.state in (RepairPlan.State.APPLYING, RepairPlan.State.DONE),
            "settled": tally.planned - tally.pending,
            "is_worked_on": plan.is_worked_on(self.now),
            "live_again": plan.rows.that_became("changed").leases_again().count() if tally.outcomes["changed"] else 0,
            "page": page,
            "commands": "\n".join(_command(plan, row) for row in page.items if row.verdict != "skipped"),
            "show": group_of(self.request),
            "sort": sort,
            "form": ApplyForm(initial={"form_token": new_token(), "reason": self.request.GET.get("reason", "")}),
            "form_token": new_token(),
            "to_type": [tally.to_type(False), tally.to_type(True)],
            "included": [tally.included(False), tally.included(True)],
            "cap": plans.CAP,
            "reasons": reasons.offered(self.request),
            "allowed": self.holds(action),
            "needs": action,
        }


class PlanTwin(DashboardView):
    """The export of a plan's leases."""

    def get(self, request: HttpRequest, number: str, form: str) -> HttpResponseBase:
        return export.stream(rows_of(plan_of(number), request), COLUMNS, form, f"repair-{number}")


class Discard(DashboardView):
    """Close a plan that was not applied."""

    needs = actions.REQUEUE
    http_method_names = ["post"]

    def post(self, request: HttpRequest, number: str) -> HttpResponse:
        plan = plans.discard(self.caller, plan_of(number).pk)
        messages.success(request, f"Plan #{plan.pk} was discarded; nothing was changed.")
        home = "ops:failures" if plan.verb == RepairPlan.Verb.SEND_AGAIN else "ops:leases"
        return HttpResponseRedirect(reverse(home), status=303)


class Continue(DashboardView):
    """Continue a plan at once. The scheduler would continue it within a minute."""

    needs = actions.REQUEUE
    http_method_names = ["post"]

    def post(self, request: HttpRequest, number: str) -> HttpResponse:
        plan = plan_of(number)
        if plan.state == RepairPlan.State.PREVIEW:
            raise PlanClosedError(f"plan #{number} was not applied yet")
        plan_execution.work(plan, seconds=BITE)
        return to_plan(plan)


def plan_of(number: str) -> RepairPlan:
    """Return the plan; raise `UnknownPlanError`."""
    is_number = number.isdecimal() and len(number) < 19
    plan = lookup.plan(int(number)) if is_number else None
    if plan is None:
        raise UnknownPlanError(f"Plan #{number} not found.")
    return plan


def rows_of(plan: RepairPlan, request: HttpRequest) -> RepairPlanRowQuerySet:
    """Return the leases of a plan that the address selects."""
    return plan.rows.all().in_group(group_of(request))


def group_of(request: HttpRequest) -> str:
    """Return the group of leases that the address selects, "" for all; raise `InvalidRequestError`."""
    return choice_of("show", request.GET.get("show"), GROUPS)


def _command(plan: RepairPlan, row: RepairPlanRow) -> str:
    if row.lease_id is None:
        return ""
    if plan.verb == RepairPlan.Verb.FORCE_ERROR:
        return commands.force_error(row.task_id, row.lease_id, message=plan.message, reason=plan.reason)
    risk = "idempotent" if row.is_idempotent else "operator_accepted"
    return commands.requeue(row.task_id, row.lease_id, risk=risk, reason=plan.reason)


def to_plan(plan: RepairPlan) -> HttpResponse:
    return HttpResponseRedirect(reverse("ops:plan", args=[plan.pk]), status=303)
