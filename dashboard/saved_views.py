"""Saved views: a query of a page under a name, one click away. A page with a query lists them below its search box."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from http import HTTPStatus
from typing import Any, ClassVar, NamedTuple
from urllib.parse import parse_qsl, urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse

from dashboard.base.page import DashboardView, number_in
from mailbox.access.people import saved_views
from mailbox.models import SavedView
from mailbox.words.errors import InvalidRequestError

SHOWN = 12  # views beside a search box
PAGES: dict[str, type[SavablePage]] = {}  # by name; `dashboard.urls` imports them all
# The message to the person after each change of a view.
CHANGES = {
    "rename": "Renamed to “{}”.",
    "share": "“{}” is shared with everyone.",
    "unshare": "“{}” is no longer shared.",
    "delete": "“{}” is deleted.",
}


class Link(NamedTuple):
    """A saved view with the address that it leads to."""

    view: SavedView
    url: str
    is_own: bool
    is_current: bool = False

    @property
    def words(self) -> str:
        """The query as a person reads it: that of a search box as it is, other parameters as ``name=value``."""
        pairs = parse_qsl(self.view.query)
        return " · ".join(value if name == "q" else f"{name}={value}" for name, value in pairs)


def url_of(view: SavedView) -> str:
    """Return the address of the view's page with its query."""
    return f"{reverse(f'ops:{view.page}')}?{view.query}"


class SavablePage(DashboardView):
    """A page with a query. ``name`` is its value of `SavedView.Page`. The page then stands in `PAGES`."""

    name: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            PAGES[cls.name] = cls

    def chosen_values(self) -> dict[str, str]:
        """Return the parameters that show the same page again; raise the error of the page for an invalid one."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise the error of the page for a query that `chosen_values` does not read itself."""

    def to_save(self) -> str:
        """Return the query string that a view of this page saves; raise the error of the page for an invalid query."""
        self.check()
        return urlencode(self.chosen_values())

    def saved_views(self, *, problem: str = "") -> dict[str, Any]:
        """Return what the template of the row of saved views needs. A part of a page has no such row.

        A page with a ``problem`` in its query has no form to save that query.
        """
        if self.is_fragment:
            return {}
        query = None if problem else urlencode(self.chosen_values())
        person = self.person.pk
        views = saved_views.of_page(person, self.name, most=SHOWN + 1)
        links = [
            Link(view=view, url=url_of(view), is_own=view.person_id == person, is_current=view.query == query)
            for view in views[:SHOWN]
        ]
        return {
            "saved_views": links,
            "has_more_views": len(views) > SHOWN,
            "saved_page": self.name,
            "to_save": query,
            "longest_name": SavedView.LONGEST_NAME,
        }


class SavedViews(DashboardView):
    """The views that the person may open. A POST saves one more, under a name."""

    needs = ""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.list_of()

    def post(self, request: HttpRequest) -> HttpResponse:
        page, name = (request.POST.get(field, "") for field in ("page", "name"))
        query, is_shared = self._checked(page, request.POST.get("query", "")), request.POST.get("is_shared") == "1"
        try:
            view = saved_views.save(self.caller, self.person, page=page, name=name, query=query, is_shared=is_shared)
        except InvalidRequestError as error:
            form = {
                "saved_page": SavedView.Page(page),
                "to_save": query,
                "form_name": name,
                "wants_to_share": is_shared,
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

    needs = ""
    http_method_names = ["post"]

    def post(self, request: HttpRequest, number: str = "") -> HttpResponse:
        act, key = request.POST.get("act", ""), number_in(number)
        if act not in CHANGES:
            raise InvalidRequestError({"act": f"must be one of {', '.join(CHANGES)}"})
        try:
            view = None if key is None else self._changed(act, key)
        except InvalidRequestError as error:
            return self.list_of(error.fields.get("name", error.message))
        if view is None:
            return self.problem(HTTPStatus.NOT_FOUND, "View not found", "It was deleted, or you may not change it.")
        messages.success(request, CHANGES[act].format(view.name))
        return HttpResponseRedirect(reverse("ops:views"), status=HTTPStatus.SEE_OTHER)

    def _changed(self, act: str, key: int) -> SavedView | None:
        """Change the view; return it as it is then or was last, None if it is not the person's to change."""
        if act == "rename":
            return saved_views.rename(self.caller, self.person, key, self.request.POST.get("name", ""))
        verbs = {"share": saved_views.share, "unshare": saved_views.unshare, "delete": saved_views.delete}
        return verbs[act](self.caller, self.person, key)
