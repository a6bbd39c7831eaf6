"""A page whose query people can save under a name. It lists its saved views below the search box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode

from django.urls import reverse

from dashboard.base.page import DashboardView
from mailbox.access import requests
from mailbox.access.people import saved_views
from mailbox.models import SavedView

SHOWN = 12  # views beside a search box


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
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
    """A page with a query. ``name`` is its value of `SavedView.Page`."""

    name: ClassVar[str]

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
        found = saved_views.of_page(person, self.name, most=SHOWN + 1)
        links = [
            Link(view=view, url=url_of(view), is_own=view.person_id == person, is_current=view.query == query)
            for view in found[:SHOWN]
        ]
        return {
            "saved_views": links,
            "has_more_views": len(found) > SHOWN,
            "saved_page": self.name,
            "to_save": query,
            "longest_name": SavedView.LONGEST_NAME,
            "may_share": self.holds(requests.SHARE_VIEWS),
        }
