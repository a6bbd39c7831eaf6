"""The journal, tasks, leases, results and cached results in Django's admin: to look at, never to change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http.response import HttpResponseBase
from django.urls import path, reverse
from django.utils import timezone

from dashboard import attention, export
from dashboard.admin.bounded import ByDate, ByTask, Chosen, RowsAdmin, Typed
from dashboard.views.audit import AuditList
from mailbox import search
from mailbox.envelopes import TaskSource
from mailbox.errors import InvalidRequestError
from mailbox.kinds import Kind
from mailbox.models import AuditEvent, Lease, ReplayEntry, Result, Task
from mailbox.search import Moment

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.urls import URLPattern


class SearchedAdmin(RowsAdmin):
    """Rows that the query language of the dashboard searches."""

    search_fields = ("pk",)  # so that there is a box; what is typed there is a query

    def found(self, text: str, at: Moment) -> QuerySet[Any]:
        """Return the rows that fit a query; raise `InvalidRequestError`."""
        raise NotImplementedError

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term.strip():
            return queryset, False
        try:
            at = Moment(now=timezone.now(), stale_after=attention.stale_after())
            return queryset.filter(pk__in=self.found(search_term, at).order_by().values("pk")), False
        except InvalidRequestError as error:
            messages.error(request, error.fields.get("q", error.message))
            return queryset.none(), False


class ByKind(Chosen):
    title = parameter_name = "kind"
    values = sorted(Kind)


class BySource(Chosen):
    title = parameter_name = "source"
    values = tuple(TaskSource)


class ByStatus(Chosen):
    title = parameter_name = "status"
    values = tuple(Result.Status.values)


class ByActor(Typed):
    title = "actor"
    parameter_name = "actor"
    lookup = "actor"
    hint = "user:ana"


class ByHolder(Typed):
    title = "holder"
    parameter_name = "holder"
    lookup = "holder__display"
    hint = "hotels@local"


class ByTaskOfRow(ByTask):
    lookup = "task_id"


class BySourceTask(ByTask):
    lookup = "source_task_id"


def by_date(of: str) -> type[ByDate]:
    """Return the filter by date of the field ``of``."""
    return type("ByDateOfRow", (ByDate,), {"field": of})


def help_of(keys: Iterable[str], *, words: bool = False) -> str:
    """Return what may be typed into the box."""
    known = " ".join(f"{key}:" for key in keys)
    return f"{known}, or words among the newest" if words else known


@admin.register(AuditEvent)
class AuditEventAdmin(SearchedAdmin):
    list_display = ("at", "kind", "actor", "source", "task_id", "on_dashboard")
    list_filter = (ByKind, ByActor, ByTaskOfRow, "source", by_date("at"))
    search_help_text = help_of(search.EVENT_KEYS)

    def found(self, text: str, at: Moment) -> QuerySet[Any]:
        return search.events(text, at)

    def page_of(self, row: AuditEvent) -> str:
        return reverse("ops:audit-event", args=[row.pk])

    def get_urls(self) -> list[URLPattern]:
        name = "mailbox_auditevent_export"
        return [path("export.<slug:form>", self.admin_site.admin_view(self.exported), name=name), *super().get_urls()]

    def exported(self, request: HttpRequest, form: str) -> HttpResponseBase:
        """Stream what the list shows with the filters of this address."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        found = self.get_changelist_instance(request).get_queryset(request)
        return export.stream(found, AuditList.columns, form, "audit")


@admin.register(Task)
class TaskAdmin(SearchedAdmin):
    list_display = ("uuid", "state", "outcome", "sender", "recipient", "attempt", "sent_at", "on_dashboard")
    list_filter = ("state", "outcome", BySource, by_date("sent_at"))
    list_select_related = ("sender", "recipient")
    search_help_text = help_of(search.TASK_KEYS, words=True)

    def found(self, text: str, at: Moment) -> QuerySet[Any]:
        return search.tasks(text, at)

    def page_of(self, row: Task) -> str:
        return reverse("ops:task", args=[row.uuid])


@admin.register(Lease)
class LeaseAdmin(SearchedAdmin):
    list_display = ("lease_id", "holder", "attempt", "leased_at", "ended_at", "end", "on_dashboard")
    list_filter = (ByTask, ByHolder, "end", by_date("leased_at"))
    list_select_related = ("holder",)
    search_help_text = help_of(search.LEASE_KEYS, words=True)

    def found(self, text: str, at: Moment) -> QuerySet[Any]:
        return search.attempts(text, at)

    def page_of(self, row: Lease) -> str:
        return reverse("ops:lease", args=[row.lease_id])


@admin.register(Result)
class ResultAdmin(SearchedAdmin):
    list_display = ("task", "status", "sender", "recipient", "posted_at", "delivery", "on_dashboard")
    list_filter = (ByTask, "status", "delivery", by_date("posted_at"))
    list_select_related = ("task", "sender", "recipient")
    search_help_text = help_of(search.RESULT_KEYS)

    def found(self, text: str, at: Moment) -> QuerySet[Any]:
        return search.results(text, at)

    def page_of(self, row: Result) -> str:
        return f"{reverse('ops:task', args=[row.task.uuid])}#result"


@admin.register(ReplayEntry)
class ReplayEntryAdmin(SearchedAdmin):
    list_display = ("key", "status", "source_task_id", "stored_at", "hits", "last_hit_at", "on_dashboard")
    list_filter = (BySourceTask, ByStatus, by_date("stored_at"))
    search_help_text = help_of(search.REPLAY_KEYS)
    exclude: ClassVar = ("cache_key",)

    def found(self, text: str, at: Moment) -> QuerySet[Any]:
        return search.replay_entries(text, at)

    def page_of(self, row: ReplayEntry) -> str:
        return reverse("ops:cached-result", args=[row.pk])
