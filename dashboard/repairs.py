"""The lists of repairs and of plans, and the page of a plan, which repairs many leases at once."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID, uuid5

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from dashboard.base import export, lost_form, reasons
from dashboard.base.frame import HtmxRequest
from dashboard.base.list_page import ROWS, ListPage
from dashboard.base.page import DashboardView, choice_of, id_in, number_in
from dashboard.wording import commands, journal
from mailbox.access import requests
from mailbox.database import paging
from mailbox.inspection import leases, lookup
from mailbox.inspection.search import keys, queries, terms
from mailbox.models import RepairPlan, RepairPlanRow, audit, repair_plan
from mailbox.models.lease import LeaseQuerySet
from mailbox.repairs import auto_retry, plan_execution, plans, repair
from mailbox.words.errors import InvalidRequestError, PlanClosedError, UnknownPlanError

ALL_LIVE = "state:in_flight"
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


class LeaseIdsField(forms.Field):
    """The ids of the ticked leases, at most as many as a plan takes."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: list[str] | None) -> list[UUID]:
        ids = [id_in(one) for one in (value or [])[: plans.CAP]]
        if None in ids:
            raise forms.ValidationError("Invalid lease ID.")
        return [one for one in ids if one]


class PlanForm(forms.Form):
    """The leases to plan: ticked leases, all leases that match ``q``, or those of an earlier plan."""

    verb = forms.ChoiceField(choices=RepairPlan.Verb.choices)
    form_token = forms.UUIDField()
    lease = LeaseIdsField(required=False)
    everything = forms.BooleanField(required=False)
    q = forms.CharField(max_length=terms.LONGEST, required=False, empty_value="")
    after = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    which = forms.ChoiceField(choices=[("changed", "changed"), ("all", "all")], required=False)

    @property
    def request_token(self) -> UUID:
        """The identity of the request.

        The form sent twice makes the same request. Another verb or choice makes another request.
        """
        chosen = self.cleaned_data
        if chosen["after"] is not None:
            leases = f"{chosen['which'] or 'changed'} of {chosen['after']}"
        elif chosen["everything"]:
            leases = f"all of {chosen['q']}"
        else:
            leases = " ".join(sorted(map(str, chosen["lease"])))
        return uuid5(chosen["form_token"], f"{chosen['verb']} {leases}")


class RepairList(ListPage):
    """All repairs of single leases, newest first."""

    name = "repairs"
    keys = keys.EVENT_KEYS
    columns: ClassVar = export.columns(
        "id=pk at action=fields.action actor source task_id lease_id=fields.lease_id attempt=fields.attempt "
        "duplicate_risk=fields.duplicate_risk reason=fields.reason request_id address"
    )

    def matching(self, text: str) -> audit.AuditEventQuerySet:
        return queries.events(text, self.at).repairs().one_by_one()

    def besides(self, page: paging.Page[Any]) -> dict[str, Any]:
        return {"acts": [journal.in_words(event) for event in page.items]}


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
                token=form.request_token,
                max_attempts=auto_retry.AutoRetry.from_settings().policy.max_attempts,
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
    keys = keys.PLAN_KEYS
    columns: ClassVar = export.columns(
        "plan=pk verb state query among made_by made_at decided_by decided_at finished_at leases repaired reason"
    )

    def matching(self, text: str) -> repair_plan.RepairPlanQuerySet:
        return queries.plans(text, self.at).with_counts()

    def besides(self, page: paging.Page[Any]) -> dict[str, Any]:
        return {"plans": [(plan, plan.has_expired(self.now)) for plan in page.items]}

    def version_of(self, row: Any) -> object:
        return row.pk, row.state, row.repaired, row.has_expired(self.now)


COLUMNS = export.columns(
    "task_id lease_id copy_id sender holder attempt leased_at safety verdict outcome detail settled_at "
    "intent_text=intent",
    safety=lambda row: "idempotent" if row.is_idempotent else "unsafe",
)


class ApplyForm(reasons.ReasonForm):
    """The consent to a plan. ``with_unsafe`` is None until it is chosen; ``typed`` is the typed number of leases."""

    message = forms.CharField(max_length=repair.MESSAGE_MAX_LENGTH, required=False)
    with_unsafe = forms.TypedChoiceField(
        choices=[("leave", "leave"), ("include", "include")],
        coerce=lambda chosen: chosen == "include",
        empty_value=None,
        required=False,
    )
    typed = forms.IntegerField(required=False, min_value=0, max_value=plans.CAP)


class PlanPage(DashboardView):
    """A plan at a permanent address: first its preview, then its progress, then its receipt."""

    needs = requests.REQUEUE

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
        tally = plans.PlanTally.of(plan)
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
            "form": ApplyForm(initial={"form_token": uuid.uuid4(), "reason": self.request.GET.get("reason", "")}),
            "form_token": uuid.uuid4(),
            "to_type": [tally.to_type(False), tally.to_type(True)],
            "included": [tally.included(False), tally.included(True)],
            "cap": plans.CAP,
            "allowed": self.holds(action),
            "needs": action,
        }


class PlanTwin(DashboardView):
    """The export of a plan's leases."""

    def get(self, request: HttpRequest, number: str, form: str) -> HttpResponseBase:
        return export.stream(rows_of(plan_of(number), request), COLUMNS, form, f"repair-{number}")


class Discard(DashboardView):
    """Close a plan that was not applied."""

    needs = requests.REQUEUE
    http_method_names = ["post"]

    def post(self, request: HttpRequest, number: str) -> HttpResponse:
        plan = plans.discard(self.caller, plan_of(number).pk)
        messages.success(request, f"Plan #{plan.pk} was discarded; nothing was changed.")
        home = "ops:failures" if plan.verb == RepairPlan.Verb.SEND_AGAIN else "ops:leases"
        return HttpResponseRedirect(reverse(home), status=303)


class Continue(DashboardView):
    """Continue a plan at once. The scheduler would continue it within a minute."""

    needs = requests.REQUEUE
    http_method_names = ["post"]

    def post(self, request: HttpRequest, number: str) -> HttpResponse:
        plan = plan_of(number)
        if plan.state == RepairPlan.State.PREVIEW:
            raise PlanClosedError(f"plan #{number} was not applied yet")
        plan_execution.work(plan, seconds=BITE)
        return to_plan(plan)


def plan_of(number: str) -> RepairPlan:
    """Return the plan; raise `UnknownPlanError`."""
    key = number_in(number)
    plan = None if key is None else lookup.plan(key)
    if plan is None:
        raise UnknownPlanError(f"Plan #{number} not found.")
    return plan


def rows_of(plan: RepairPlan, request: HttpRequest) -> repair_plan.RepairPlanRowQuerySet:
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
