"""The base of all lists: filters in the address, keyset pages, a bounded count, and exports."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase

from dashboard.base import export
from dashboard.figures import thresholds
from dashboard.saved_views import SavablePage
from mailbox.database import paging
from mailbox.inspection.search import terms
from mailbox.words.errors import InvalidRequestError

ROWS = 50
ALL = "all"  # the tab with all rows


def no_bytes(row: object) -> int:
    """Return the bytes of a row as a page counts them: `ListPage.listed` leaves the payloads out."""
    return 0


class ListPage(SavablePage):
    """A list in the order of its rows' age. `matching` returns the rows of a query; exports have the ``columns``.

    ``keys`` are those of the query language. ``parameters`` maps a parameter that other pages link with to its key and
    to a sign before its value. ``tab`` is the parameter of the list's ``tabs``, and also their key. ``file`` begins the
    names of exports.
    """

    keys: ClassVar[Mapping[str, Any]]
    tabs: ClassVar[Sequence[Any]] = ()
    most: ClassVar[int] = ROWS  # rows of a page
    file: ClassVar[str] = ""  # by default the name of the page
    field: ClassVar[str] = "pk"
    kind: ClassVar[type] = int
    newest_first: bool = True
    has_full_text: ClassVar[bool] = False  # whether the words of a query are those of a full-text search
    rows: Any  # those of the query, none if it is invalid; `get` sets them before it calls `besides`
    columns: ClassVar[Mapping[str, Any]]
    parameters: ClassVar[Mapping[str, tuple[str, str]]] = {}
    tab: ClassVar[str] = ""
    default: ClassVar[str] = ""

    @property
    def query(self) -> str:
        """The query that selects the rows, as the search box shows it.

        It is the query of the address with the parameters that other pages link with. The parameter of the tabs
        replaces what the query asks of the tabs' key; `ALL` only removes it.
        """
        params = self.request.GET
        parts = [
            terms.term(key, f"{sign}{value.strip()}")
            for name, (key, sign) in self.parameters.items()
            if (value := params.get(name, "")).strip()
        ]
        query = " ".join([*filter(None, [params.get("q", "").strip()]), *parts])
        if not self.tab or not (tab := params.get(self.tab, self.default if not query and "q" not in params else "")):
            return query
        query = terms.without(query, self.tab)
        return query if tab == ALL else f"{query} {terms.term(self.tab, tab)}".strip()

    @property
    def chosen(self) -> str:
        """The chosen tab: the one value that the query asks of its key, else empty."""
        return terms.chosen(self.query, self.tab) if self.tab else ""

    def matching(self, text: str) -> QuerySet[Any]:
        """Return the rows that match the query ``text``; raise `InvalidRequestError`."""
        raise NotImplementedError

    def listed(self, rows: Any) -> QuerySet[Any]:
        """Return the ``rows`` as the page shows it, without the payloads that only the exports have."""
        shown: QuerySet[Any] = rows
        return shown

    def exported(self, rows: Any) -> QuerySet[Any]:
        """Return the ``rows`` with all that the columns of the exports need."""
        shown: QuerySet[Any] = rows
        return shown

    def besides(self, page: paging.Page[Any]) -> dict[str, Any]:
        """Return the template's context besides the rows."""
        return {}

    def total(self, rows: Any, page: paging.Page[Any]) -> thresholds.Count:
        """Return the number of all rows, of which ``page`` shows some."""
        return thresholds.counted(rows, has_words=self.has_full_text and terms.asks_words(self.query))

    def paged(self, rows: Any) -> paging.Page[Any]:
        """Return the rows after the cursor of the address; raise `InvalidRequestError` for that of another list."""
        return paging.keyset(
            self.listed(rows),
            self.field,
            self.kind,
            newest_first=self.newest_first,
            limit=self.most,
            at_once=self.most + 1,
            weigh=no_bytes,
            cursor=self.request.GET.get("cursor"),
            name=self.name,
        )

    def chosen_values(self) -> dict[str, str]:
        """Return the query, also an empty one: without a query, a list chooses its own."""
        return {"q": self.query}

    def check(self) -> None:
        self.matching(self.query)

    def get(self, request: HttpRequest, form: str = "") -> HttpResponseBase:
        if form:
            rows = self.exported(self.matching(self.query))
            return export.stream(rows, self.columns, form, self.file or self.name, self.query)
        problem = ""
        try:
            rows = self.matching(self.query)
        except InvalidRequestError as error:
            problem = error.fields.get("q", error.message)
            rows = self.matching("").none()
        self.rows = rows
        page = self.paged(rows)
        context = {
            "page": page,
            "total": self.total(rows, page),
            "problem": problem,
            "q": self.query,
            "filters": request.GET,
            "tab": self.tab,
            "tabs": self.tabs,
            "keys": self.keys,
            "chosen": self.chosen,
            "is_filtered": self.query not in ("", self.default and terms.term(self.tab, self.default)),
            "name": self.name,
            **self.besides(page),
            **self.saved_views(problem=problem),
        }
        if problem:
            return self.page(f"ops/{self.name}.html", {**context, "version": ""}, status=400)
        return self.live(f"ops/{self.name}.html", context, self.shown(page, context))

    def shown(self, page: paging.Page[Any], context: Mapping[str, Any]) -> object:
        """Return a value that changes when the list looks different."""
        return [self.version_of(row) for row in page.items], context["total"]

    def version_of(self, row: Any) -> object:
        """Return a value that changes when the row looks different."""
        return row.pk
