from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import uuid5

from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property

from dashboard.base.page import DashboardView
from dashboard.base.saved_views import SavablePage
from dashboard.figures import failure_bars
from dashboard.figures.charts import Range
from dashboard.figures.failure_bars import RANGES
from dashboard.forms import choices
from dashboard.forms.repair import PlanOfCopiesForm
from dashboard.views.plan import to_plan
from dashboard.views.repairs import new_token
from mailbox.access import actions
from mailbox.access.agents import directory
from mailbox.inspection.search import queries
from mailbox.inspection.search.queries import Moment
from mailbox.inspection.statistics import failures
from mailbox.models import Agent
from mailbox.repairs import copy_plans
from mailbox.words.errors import InvalidRequestError

AGENTS_OFFERED, TASKS_SHOWN = 200, 20


class FailureList(SavablePage):
    """The failures of a time range, grouped by agent and message."""

    name = "failures"

    def chosen_values(self) -> dict[str, str]:
        scale, sort, agent = self._chosen
        values = {"range": scale.name, "sort": sort}
        return {**values, "agent": agent.display} if agent else values

    @cached_property
    def _chosen(self) -> tuple[Range, str, Agent | None]:
        asked = self.request.GET
        scale = failure_bars.range_named(asked.get("range"))
        sort = choices.one_of("sort", asked.get("sort"), ["count", "last"], "count")
        name = asked.get("agent", "").strip()
        return scale, sort, directory.typed(self.caller, name) if name else None

    def get(self, request: HttpRequest) -> HttpResponse:
        scale, sort, agent = self._chosen
        start = failure_bars.start_of(scale, self.now)
        found = failures.read(start, slot=scale.step, agent=agent, by_last=sort == "last")
        rows = [failure_bars.row_of(group, scale, self.now) for group in found.groups]
        context = {
            "rows": rows,
            "found": found,
            "count": sum(row.group.count for row in rows),
            "scale": scale,
            "ranges": RANGES,
            "sort": sort,
            "agent": agent,
            "agents": directory.first_names(most=AGENTS_OFFERED),
            "limits": {"groups": failures.GROUPS, "counted": failures.COUNTED, "unfiled": failures.UNFILED},
            **self.saved_views(),
        }
        return self.live("ops/failures.html", context, [row.version for row in rows])


class FailurePage(DashboardView):
    """One group of failures with its newest tasks. A POST plans to send its tasks again."""

    needs = actions.SEND

    def get(self, request: HttpRequest, fingerprint: str) -> HttpResponse:
        scale = failure_bars.range_named(request.GET.get("range"))
        start = failure_bars.start_of(scale, self.now)
        group = failures.group_of(fingerprint, start, slot=scale.step)
        term = queries.term("failure", fingerprint)
        tasks: Any = queries.tasks(term, Moment(now=self.now, stale_after=scale.span))
        newest = list(tasks.with_parties().with_opening().with_error_line().order_by("-pk")[:TASKS_SHOWN])
        if group is None and not newest:
            return self.problem(HTTPStatus.NOT_FOUND, "Failure not found", "No failed task has this fingerprint.")
        row = failure_bars.row_of(group, scale, self.now) if group else None
        context = {
            "fingerprint": fingerprint,
            "row": row,
            "tasks": newest,
            "term": term,
            "scale": scale,
            "ranges": RANGES,
            "form_token": new_token(),
            "allowed": self.holds(self.needs),
            "needs": self.needs,
        }
        return self.live("ops/failure.html", context, (row and row.version, len(newest)))

    def post(self, request: HttpRequest, fingerprint: str) -> HttpResponse:
        scale = failure_bars.range_named(request.GET.get("range"))
        form = PlanOfCopiesForm(request.POST)
        if not form.is_valid():
            return self._nothing_planned("The form was incomplete. Go back, reload the page and try again.")
        start = failure_bars.start_of(scale, self.now)
        query = f"{queries.term('failure', fingerprint)} finished:{start:%Y-%m-%dT%H:%MZ}.."
        found = queries.tasks(query, Moment(now=self.now, stale_after=scale.span))
        token = uuid5(form.cleaned_data["form_token"], f"{fingerprint} {scale.name}")
        try:
            plan = copy_plans.make(self.caller, found, token=token, query=query)
        except InvalidRequestError:
            why = f"No failed task of this group ended in the last {scale.words}. New failures are grouped in a minute."
            return self._nothing_planned(why)
        return to_plan(plan)

    def _nothing_planned(self, why: str) -> HttpResponse:
        return self.problem(HTTPStatus.UNPROCESSABLE_ENTITY, "Nothing planned", why)
