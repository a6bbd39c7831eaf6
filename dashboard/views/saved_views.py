from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse

from dashboard.agents.views import AgentList
from dashboard.base.page import DashboardView
from dashboard.base.saved_views import Link, SavablePage, url_of
from dashboard.failures import FailureList
from dashboard.leases import LeaseList
from dashboard.repairs import PlanList, RepairList
from dashboard.time_charts import Charts
from dashboard.trees.views import TreeList
from dashboard.views.audit import AuditList
from dashboard.views.deliveries import DeliveryList
from dashboard.views.idempotency import ReplayList
from dashboard.views.results import ResultList
from dashboard.views.scheduler import Scheduler
from dashboard.views.tasks import TaskList
from mailbox.access import actions
from mailbox.access.people import saved_views
from mailbox.models import SavedView
from mailbox.words.errors import InvalidRequestError

LONGEST_ID = 19  # digits
PAGES: Mapping[str, type[SavablePage]] = {
    page.name: page
    for page in (
        *(TaskList, LeaseList, ResultList, FailureList, AuditList, DeliveryList, AgentList, TreeList, Charts),
        *(ReplayList, RepairList, PlanList, Scheduler),
    )
}


class SavedViews(DashboardView):
    """The views that the person may open. A POST saves one more, under a name."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.list_of()

    def post(self, request: HttpRequest) -> HttpResponse:
        page, asked = request.POST.get("page", ""), request.POST
        query = self._checked(page, asked.get("query", ""))
        try:
            view = saved_views.save(
                self.caller,
                self.person,
                page=page,
                name=asked.get("name", ""),
                query=query,
                is_shared=asked.get("is_shared") == "1",
            )
        except InvalidRequestError as error:
            form = {
                "saved_page": SavedView.Page(page),
                "to_save": query,
                "form_name": asked.get("name", ""),
                "wants_to_share": asked.get("is_shared") == "1",
            }
            return self.list_of(error.fields.get("name", error.message), form)
        messages.success(request, f"Saved as “{view.name}”.")
        return HttpResponseRedirect(url_of(view), status=HTTPStatus.SEE_OTHER)

    def list_of(self, problem: str = "", form: Mapping[str, Any] | None = None) -> HttpResponse:
        """Return the page with all views. ``form`` is what the person typed to save a view, if that was refused."""
        links = [
            Link(view=view, url=url_of(view), is_own=view.person_id == self.person.pk)
            for view in saved_views.visible_to(self.person.pk)
        ]
        context = {
            "own": [link for link in links if link.is_own],
            "others": [link for link in links if not link.is_own],
            "problem": problem,
            "longest_name": SavedView.LONGEST_NAME,
            "may_share": self.holds(actions.SHARE_VIEWS),
            "needs": actions.SHARE_VIEWS,
            "most": saved_views.MOST,
            **(form or {}),
        }
        status = HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK
        return self.page("ops/saved_views.html", context, status=status)

    def _checked(self, page: str, query: str) -> str:
        """Return the query string as its page reads it; raise the error of the page for an invalid one."""
        if page not in PAGES:
            raise InvalidRequestError({"page": f'"{page[:50]}" is no page with views'})
        request = copy(self.request)
        request.GET = QueryDict(query[: saved_views.LONGEST_QUERY])
        shown = PAGES[page](request=request, caller=self.caller, now=self.now)
        return shown.to_save()


class ChangeView(SavedViews):
    """One saved view. A POST renames, shares or deletes it, or ends its sharing."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, number: str = "") -> HttpResponse:
        act = ACTS.get(request.POST.get("act", ""))
        if act is None:
            raise InvalidRequestError({"act": f"must be one of {', '.join(ACTS)}"})
        is_number = number.isdecimal() and len(number) < LONGEST_ID
        try:
            done = act(self, int(number)) if is_number else None
        except InvalidRequestError as error:
            return self.list_of(error.fields.get("name", error.message))
        if done is None:
            return self.problem(HTTPStatus.NOT_FOUND, "View not found", "It was deleted, or you may not change it.")
        messages.success(request, done)
        return HttpResponseRedirect(reverse("ops:views"), status=HTTPStatus.SEE_OTHER)

    def rename(self, number: int) -> str | None:
        view = saved_views.rename(self.caller, self.person, number, self.request.POST.get("name", ""))
        return f"Renamed to “{view.name}”." if view else None

    def share(self, number: int) -> str | None:
        view = saved_views.share(self.caller, self.person, number)
        return f"“{view.name}” is shared with everyone." if view else None

    def unshare(self, number: int) -> str | None:
        view = saved_views.unshare(self.caller, self.person, number)
        return f"“{view.name}” is no longer shared." if view else None

    def delete(self, number: int) -> str | None:
        view = saved_views.delete(self.caller, self.person, number)
        return f"“{view.name}” is deleted." if view else None


ACTS = {
    "rename": ChangeView.rename,
    "share": ChangeView.share,
    "unshare": ChangeView.unshare,
    "delete": ChangeView.delete,
}
