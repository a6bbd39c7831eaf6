"""Lists of a million rows: nothing in them counts, sorts or lists them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.utils.html import format_html
from django.utils.safestring import SafeString

from agentcards.admin import ReadByRole

if TYPE_CHECKING:
    from django.contrib.admin.views.main import ChangeList
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest

    RowsBase = admin.ModelAdmin[Model]
    PaginatorBase = Paginator[Model]
else:
    RowsBase, PaginatorBase = admin.ModelAdmin, Paginator

COUNTED_TO = 5_000


class BoundedPaginator(PaginatorBase):
    """Pages of the newest rows; further back leads a narrower search."""

    @cached_property
    def count(self) -> int:
        found: Any = self.object_list
        return int(found.order_by()[:COUNTED_TO].count())


class RowsAdmin(ReadByRole, RowsBase):
    """Rows that only the hub's verbs write, newest first."""

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER  # each would count all rows
    list_per_page = 50
    list_max_show_all = 50
    ordering = ("-pk",)
    sortable_by: ClassVar = ()
    actions = None

    def page_of(self, row: Any) -> str:
        """Return the address of the row's own page under ``/ops/``."""
        raise NotImplementedError

    @admin.display(description="dashboard")
    def on_dashboard(self, row: Any) -> SafeString:
        return format_html('<a href="{}">open</a>', self.page_of(row))

    def view_on_site(self, row: Any) -> str:
        return self.page_of(row)


class Chosen(admin.SimpleListFilter):
    """One of the values there can be; ``parameter_name`` is the field."""

    values: ClassVar[Iterable[str]]

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [(value, value.removeprefix("a2a_").replace("_", " ")) for value in self.values]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{str(self.parameter_name): self.value()}) if self.value() else queryset


class Typed(admin.SimpleListFilter):
    """A value that is typed, not chosen from all there are; ``lookup`` is the field that equals it."""

    template = "admin/typed.html"
    lookup: ClassVar[str]
    hint: ClassVar[str] = ""

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [("", "")]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        others = [
            (name, values[-1]) for name, values in changelist.filter_params.items() if name != self.parameter_name
        ]
        yield {"others": others, "name": self.parameter_name, "value": self.value() or "", "hint": self.hint}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        text = (self.value() or "").strip()
        try:
            return queryset.filter(**{self.lookup: text}) if text else queryset
        except (ValidationError, ValueError):  # no id
            return queryset.none()


class ByTask(Typed):
    title = "task"
    parameter_name = "task"
    lookup = "task__uuid"
    hint = "id, in full"


class ByDate(admin.SimpleListFilter):
    """Year, month, day, each within the other: like the admin's own hierarchy, which reads every row to make it."""

    title = "date"
    parameter_name = "date"
    field: ClassVar[str]

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Any]) -> list[tuple[str, str]]:
        rows = model_admin.model._default_manager.order_by("pk").values_list(self.field, flat=True)
        first, last = rows.first(), rows.last()
        if first is None or last is None:
            return []
        chosen = self.value() or ""
        found: list[tuple[str, str]] = []
        for year in [f"{number:04}" for number in range(first.year, last.year + 1)]:
            found.append((year, year))
            for month in [f"{year}-{number:02}" for number in range(1, 13)] if chosen[:4] == year else []:
                found.append((month, f"\N{EN DASH} {month}"))
                days = [f"{month}-{number:02}" for number in range(1, 32)] if chosen[:7] == month else []
                found += [(day, f"\N{EN DASH} \N{EN DASH} {day}") for day in days if span_of(day)]
        return found

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        span = span_of(self.value() or "")
        if span is None:
            return queryset
        return queryset.filter(**{f"{self.field}__gte": span[0], f"{self.field}__lt": span[1]})


def span_of(text: str) -> tuple[datetime, datetime] | None:
    """Read a year, a month or a day as the moments it begins and ends; None for anything else."""
    try:
        start = datetime.strptime((text + "-01-01")[:10], "%Y-%m-%d").replace(tzinfo=UTC)
        if len(text) == 4:
            return start, start.replace(year=start.year + 1)
        if len(text) == 7:
            return start, (start + timedelta(days=31)).replace(day=1)
        return (start, start + timedelta(days=1)) if len(text) == 10 else None
    except (ValueError, OverflowError):
        return None
