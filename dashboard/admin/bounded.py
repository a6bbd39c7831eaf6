"""Lists of a million rows, and how they write values. No page counts, sorts or loads all rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from dashboard.admin.access import OnDashboard
from dashboard.figures import thresholds
from dashboard.templatetags.ops import as_id
from dashboard.wording import journal
from mailbox.inspection.search.terms import Moment, Reading
from mailbox.models.rollup import during
from mailbox.words.errors import InvalidRequestError

COUNTED_TO = 5_000


def id_of(path: str, title: str) -> Callable[[Any], SafeString | str]:
    """Return the column of a short id, whose title is the whole one. ``path`` names its field, as `task.uuid`."""

    @admin.display(description=title)
    def id_(row: Any) -> SafeString | str:
        value = row
        for name in path.split("."):
            value = getattr(value, name)
        return "" if value is None else as_id(value)

    return id_


@admin.display(description="reason")
def reason(event: Any) -> str:
    return journal.in_words(event).reason


def indented(row: Model, name: str) -> Callable[[Any], SafeString] | str:
    """Return a field that writes the JSON text of the column ``name``, indented; the name itself for other values."""
    value = getattr(row, name)
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return name
    try:
        text = json.dumps(json.loads(value), indent=2, ensure_ascii=False)
    except ValueError:
        return name

    @admin.display(description=str(row._meta.get_field(name).verbose_name))  # type: ignore[union-attr]
    def written(shown: Any) -> SafeString:
        return format_html('<pre class="json">{}</pre>', text)

    return written


def moment() -> Moment:
    return Moment(now=timezone.now(), stale_after=thresholds.stale_after())


def problem_of(refusal: InvalidRequestError) -> str:
    """Return the problem of a query, without the name of its parameter."""
    return refusal.fields.get("q", refusal.message)


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Pages of the newest rows. A narrower search shows older rows."""

    @cached_property
    def count(self) -> int:
        return min(self._counted, COUNTED_TO)

    @property
    def is_cut(self) -> bool:
        """Whether there are more rows than the pages show."""
        return self._counted > COUNTED_TO

    @property
    def total(self) -> str:
        """The number of rows, as `5,000+` if there are more than the pages show."""
        return f"{self.count:,}{'+' if self.is_cut else ''}"

    @cached_property
    def _counted(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[: COUNTED_TO + 1].count())


class RowsAdmin(OnDashboard):
    """Rows that only the hub's verbs write, newest first."""

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # a facet would count all rows
    list_per_page = 50
    list_max_show_all = 50
    ordering = ("-pk",)
    sortable_by: ClassVar = ()
    actions = None

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Return the list, or a page with the problem if a filter or the query is malformed."""
        try:
            return super().changelist_view(request, {"title": self._title(), **(extra_context or {})})
        except InvalidRequestError as refusal:
            context = {
                **self.admin_site.each_context(request),
                "title": self._title(),
                "opts": self.opts,
                "problem": problem_of(refusal),
                "q": request.GET.get("q", ""),
                "has_box": bool(self.search_fields),
            }
            return TemplateResponse(request, "admin/refused.html", context, status=400)

    def _title(self) -> str:
        return str(self.opts.verbose_name_plural).capitalize()

    def get_fields(self, request: HttpRequest, obj: Any | None = None) -> Any:
        """Return the fields of a row's page, with JSON texts indented."""
        names = super().get_fields(request, obj)
        return names if obj is None else [indented(obj, str(name)) for name in names]


class Keyed(admin.SimpleListFilter):
    """A filter for a ``key`` of the query language of its list.

    It uses the same index as the search box, and refuses the same values.
    """

    key: ClassVar[str]

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        self.known: Mapping[str, Reading] = model_admin.keys

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        text = (self.value() or "").strip()
        return queryset.filter(self.reads(text)) if text else queryset

    def reads(self, value: str) -> Q:
        """Return the condition of the rows that match; raise `InvalidRequestError`."""
        try:
            return self.known[self.key](value, moment())
        except InvalidRequestError as refusal:
            raise InvalidRequestError({"q": f"{self.title}: {problem_of(refusal)}"}) from refusal


class Chosen(Keyed):
    """A filter with a fixed set of values."""

    values: ClassVar[Sequence[str]]

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [(value, value.removeprefix("a2a_").replace("_", " ")) for value in self.values]

    def reads(self, value: str) -> Q:
        if value not in self.values:
            raise InvalidRequestError({"q": f'{self.title}: unknown value "{value[:50]}"'})
        return super().reads(value)


class Typed(Keyed):
    """A filter whose value is typed."""

    template = "admin/typed.html"
    hint: ClassVar[str]

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [("", "")]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        others = _others(changelist, self.expected_parameters())
        yield {"others": others, "name": self.parameter_name, "value": self.value() or "", "hint": self.hint}


class ByDate(admin.SimpleListFilter):
    """A filter by year, month and day.

    It looks like the admin's date hierarchy. That hierarchy reads every row to list its dates.
    """

    title = "date"
    parameter_name = "date"
    field: ClassVar[str]
    mark: ClassVar[str]  # name of the roll-ups' mark; "" for none

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        rows = model_admin.model._default_manager.order_by("pk").values_list(self.field, flat=True)
        first, last = rows.first(), rows.last()
        if first is None or last is None:
            return []
        chosen = self.value() or ""
        choices: list[tuple[str, str]] = []
        for year in [f"{number:04}" for number in range(first.year, last.year + 1)]:
            choices.append((year, year))
            for month in [f"{year}-{number:02}" for number in range(1, 13)] if chosen[:4] == year else []:
                choices.append((month, f"\N{EN DASH} {month}"))
                days = [f"{month}-{number:02}" for number in range(1, 32)] if chosen[:7] == month else []
                choices += [(day, f"\N{EN DASH} \N{EN DASH} {day}") for day in days if span_of(day)]
        return choices

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        text = self.value()
        if not text:
            return queryset
        span = span_of(text)
        if span is None:
            raise InvalidRequestError({"q": f'date: invalid value "{text[:50]}". Use 2026, 2026-01 or 2026-01-31'})
        return queryset.filter(during(self.field, *span, self.mark))


class Between(admin.ListFilter):
    """A filter by a range of moments, each of which may be missing. The moments are in UTC."""

    title = "time"
    template = "admin/between.html"
    field: ClassVar[str]
    mark: ClassVar[str]  # name of the roll-ups' mark; "" for none
    ends: ClassVar = (("since", "From"), ("until", "To"))

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        for name, _ in self.ends:
            if name in params:
                self.used_parameters[name] = params.pop(name)[-1]

    def has_output(self) -> bool:
        return True

    def expected_parameters(self) -> list[str | None]:
        return [name for name, _ in self.ends]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        others = _others(changelist, self.expected_parameters())
        ends = [(name, label, self.used_parameters.get(name, "")) for name, label in self.ends]
        yield {"others": others, "ends": ends}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        start, end = (self._moment(name) for name, _ in self.ends)
        if start is None and end is None:
            return queryset
        return queryset.filter(during(self.field, start or datetime(2000, 1, 1, tzinfo=UTC), end, self.mark))

    def _moment(self, name: str) -> datetime | None:
        text = str(self.used_parameters.get(name, "")).strip()
        if not text:
            return None
        try:
            return datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError:
            raise InvalidRequestError({"q": f'{name}: invalid time "{text[:50]}". Use 2026-01-31T18:30'}) from None


def _others(changelist: ChangeList, own: Sequence[str | None]) -> list[tuple[str, str]]:
    """Return the parameters of the other filters, which a form of this one keeps."""
    return [(name, values[-1]) for name, values in changelist.filter_params.items() if name not in own]


def span_of(text: str) -> tuple[datetime, datetime] | None:
    """Return the first and last moment of a year, a month or a day; None for other text."""
    try:
        start = datetime.strptime((text + "-01-01")[:10], "%Y-%m-%d").replace(tzinfo=UTC)
        if len(text) == 4:
            return start, start.replace(year=start.year + 1)
        if len(text) == 7:
            return start, (start + timedelta(days=31)).replace(day=1)
        return (start, start + timedelta(days=1)) if len(text) == 10 else None
    except (ValueError, OverflowError):
        return None
