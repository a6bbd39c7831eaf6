"""Read-only pages of Django's admin for the journal, tasks and the rows of tasks, and for cached results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, path, reverse

from dashboard.admin.bounded import Between, ByDate, Chosen, Keyed, RowsAdmin, Typed, id_of, moment, problem_of, reason
from dashboard.audit import AuditList
from dashboard.base import export
from mailbox.inspection.search import queries
from mailbox.inspection.search.keys import EVENT_KEYS, LEASE_KEYS, REPLAY_KEYS, RESULT_KEYS, SPOKEN_KEYS, TASK_KEYS
from mailbox.inspection.search.terms import Moment, Reading
from mailbox.models import Artifact, AuditEvent, Lease, Message, ReplayEntry, Result, Task
from mailbox.words.envelopes import TaskSource
from mailbox.words.errors import InvalidRequestError
from mailbox.words.kinds import Kind

WHOLE_ID = "full ID"
LONE_ID = re.compile(r"[0-9a-fA-F]{8}[0-9a-fA-F-]{0,28}|[0-9a-fA-F]{4}…[0-9a-fA-F]{4}")  # whole, begun, or by its ends
_PROBLEM = "a2a_problem"
Filter = TypeVar("Filter", bound=Keyed)


class SearchedAdmin(RowsAdmin):
    """Rows that the query language of the dashboard searches."""

    search_fields = ("pk",)  # shows the search box, whose text is a query
    keys: ClassVar[Mapping[str, Reading]]  # of the query language, also for the filters
    id_key: ClassVar[str]  # the one of them that a lone id is a value of
    matching: ClassVar[staticmethod[[str, Moment], QuerySet[Any]]]  # the rows of a query; raises `InvalidRequestError`

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Return the list. If the query is malformed, the list is empty and says why, with the status 400."""
        response = super().changelist_view(request, extra_context)
        if problem := getattr(request, _PROBLEM, ""):
            messages.error(request, problem)
            response.status_code = HTTPStatus.BAD_REQUEST
        return response

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        text = search_term.strip()
        if not text:
            return queryset, False
        if LONE_ID.fullmatch(text):
            text = f"{self.id_key}:{text}"
        try:
            return queryset & self.matching(text, moment()).order_by(), False
        except InvalidRequestError as refusal:
            setattr(request, _PROBLEM, problem_of(refusal))
            return queryset.none(), False


def chosen(name: str, values: Iterable[str], key: str = "") -> type[Chosen]:
    """Return a filter with the given ``values`` of ``key``, which defaults to ``name``."""
    return _keyed(Chosen, name, key, values=tuple(map(str, values)))


def typed(name: str, hint: str, key: str = "") -> type[Typed]:
    """Return a filter whose value of ``key`` is typed. ``key`` defaults to ``name``."""
    return _keyed(Typed, name, key, hint=hint)


def _keyed(base: type[Filter], name: str, key: str, **attributes: object) -> type[Filter]:
    named = {"title": name, "parameter_name": name, "key": key or name}
    return type(f"By{name.title()}", (base,), named | attributes)


def by_date(of: str, mark: str = "") -> type[ByDate]:
    """Return the filter by date of the field ``of``.

    ``mark`` names the mark of the roll-ups that bounds the rows.
    """
    return type("ByDateOfRow", (ByDate,), {"field": of, "mark": mark})


def between(of: str, mark: str = "") -> type[Between]:
    """Return the filter by a range of the field ``of``. ``mark`` is as for `by_date`."""
    return type("BetweenOfRow", (Between,), {"field": of, "mark": mark})


def help_of(keys: Iterable[str], *, words: bool = False) -> str:
    """Return the help text of the search box."""
    known = " ".join(f"{key}:" for key in keys)
    return f"{known}, or words of the newest rows" if words else known


@admin.register(AuditEvent)
class AuditEventAdmin(SearchedAdmin):
    list_display = ("at", "kind", "actor", reason, id_of("task_id", "task"), "source", "address", "on_dashboard")
    id_key = "task"
    list_filter = (
        between("at", "last_event"),
        typed("actor", "user:ana"),
        typed("task", WHOLE_ID),
        chosen("source", AuditEvent.Source.values),
        by_date("at", "last_event"),
        chosen("kind", sorted(Kind)),
    )
    keys = EVENT_KEYS
    search_help_text = help_of(EVENT_KEYS)
    matching = staticmethod(queries.events)
    page = ("audit-event", "pk")

    def get_urls(self) -> list[URLPattern]:
        name = "mailbox_auditevent_export"
        return [path("export.<slug:form>", self.admin_site.admin_view(self.exported), name=name), *super().get_urls()]

    def exported(self, request: HttpRequest, form: str) -> HttpResponseBase:
        """Stream the rows that the list shows with the filters of this address."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            rows = self.get_changelist_instance(request).get_queryset(request)
            if problem := getattr(request, _PROBLEM, ""):
                raise InvalidRequestError({"q": problem})
        except InvalidRequestError as refusal:
            return HttpResponse(f"{problem_of(refusal)}\n", status=400, content_type="text/plain; charset=utf-8")
        return export.stream(rows, AuditList.columns, form, "audit")


@admin.register(Task)
class TaskAdmin(SearchedAdmin):
    list_display = (
        *(id_of("uuid", "task"), "state", "awaits", "outcome", "sender", "recipient", "attempt", "sent_at"),
        "on_dashboard",
    )
    id_key = "id"
    list_filter = (
        chosen("state", Task.State.values),
        chosen("awaits", Task.Awaits.values),
        chosen("outcome", Task.Outcome.values, "state"),
        chosen("source", TaskSource),
        between("sent_at", "last_task"),
        by_date("sent_at", "last_task"),
    )
    list_select_related = ("sender", "recipient")
    keys = TASK_KEYS
    search_help_text = help_of(TASK_KEYS, words=True)
    matching = staticmethod(queries.tasks)
    page = ("task", "uuid")


@admin.register(Lease)
class LeaseAdmin(SearchedAdmin):
    list_display = (*(id_of("lease_id", "lease"), "holder", "attempt", "leased_at", "ended_at", "end", "on_dashboard"),)
    id_key = "id"
    list_filter = (
        typed("task", WHOLE_ID),
        typed("holder", "hotels@local", "agent"),
        "end",
        between("leased_at", "last_lease"),
        by_date("leased_at", "last_lease"),
    )
    list_select_related = ("holder",)
    keys = LEASE_KEYS
    search_help_text = help_of(LEASE_KEYS, words=True)
    matching = staticmethod(queries.attempts)
    page = ("lease", "lease_id")


class SpokenAdmin(SearchedAdmin):
    """Rows of one task's conversation. The lists read no content."""

    list_select_related = ("task",)
    list_filter = (typed("task", WHOLE_ID),)
    keys = SPOKEN_KEYS
    search_help_text = help_of(SPOKEN_KEYS)
    id_key = "task"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        match = request.resolver_match
        is_list = match is not None and str(match.url_name).endswith("_changelist")
        return rows.defer("content", "extra", "task__intent_text", "task__metadata") if is_list else rows


@admin.register(Message)
class MessageAdmin(SpokenAdmin):
    list_display = (id_of("task.uuid", "task"), "seq", "role", "said_at", "on_dashboard")

    matching = staticmethod(queries.messages)

    def page_of(self, row: Message) -> str:
        return f"{reverse('ops:task', args=[row.task.uuid])}?before={row.seq + 1}#said-{row.seq}"


@admin.register(Artifact)
class ArtifactAdmin(SpokenAdmin):
    list_display = (
        *(id_of("task.uuid", "task"), "seq", "artifact_id", "append", "last_chunk", "said_at", "on_dashboard"),
    )

    matching = staticmethod(queries.artifacts)

    def page_of(self, row: Artifact) -> str:
        return f"{reverse('ops:task', args=[row.task.uuid])}#conversation"


@admin.register(Result)
class ResultAdmin(SearchedAdmin):
    list_display = (
        *(id_of("task.uuid", "task"), "status", "sender", "recipient", "posted_at", "delivery", "on_dashboard"),
    )
    id_key = "task"
    list_filter = (
        typed("task", WHOLE_ID),
        chosen("status", Result.Status.values),
        chosen("delivery", Result.Delivery.values),
        between("posted_at", "last_result"),
        by_date("posted_at", "last_result"),
    )
    list_select_related = ("task", "sender", "recipient")
    keys = RESULT_KEYS
    search_help_text = help_of(RESULT_KEYS)
    matching = staticmethod(queries.results)

    def page_of(self, row: Result) -> str:
        return f"{reverse('ops:task', args=[row.task.uuid])}#result"


@admin.register(ReplayEntry)
class ReplayEntryAdmin(SearchedAdmin):
    list_display = (
        *("key", "status", id_of("source_task_id", "source"), "stored_at", "hits", "last_hit_at", "on_dashboard"),
    )
    id_key = "source"
    list_filter = (
        typed("task", WHOLE_ID, "source"),
        chosen("status", Result.Status.values),
        between("stored_at"),
        by_date("stored_at"),
    )
    keys = REPLAY_KEYS
    search_help_text = help_of(REPLAY_KEYS)
    exclude: ClassVar = ("cache_key",)
    matching = staticmethod(queries.replay_entries)
    page = ("cached-result", "pk")
