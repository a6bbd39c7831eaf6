from __future__ import annotations

from typing import Any, ClassVar

from django.http import Http404, HttpRequest, HttpResponse

from dashboard.base.list_page import ListPage
from dashboard.base.page import DashboardView
from dashboard.figures import thresholds
from dashboard.figures.thresholds import Count
from dashboard.wording import journal
from mailbox.database.paging import Page
from mailbox.inspection import lookup, search
from mailbox.models import AuditEvent
from mailbox.models.audit import AuditEventQuerySet
from mailbox.words.kinds import Kind

TABS = (
    ("Repairs", "kind:a2a_repair_*"),
    ("Capabilities", "kind:capability_*"),
    ("By people here", f"source:{AuditEvent.Source.DASHBOARD}"),
    ("Failed sign-ins of keys", f"kind:{Kind.AUTHENTICATION_FAILED}"),
)


class AuditList(ListPage):
    """The journal, newest first."""

    name = "audit"
    columns: ClassVar = {
        "id": lambda event: event.pk,
        "at": lambda event: event.at,
        "kind": lambda event: event.kind,
        "actor": lambda event: event.actor,
        "source": lambda event: event.source,
        "task_id": lambda event: event.task_id,
        "seq": lambda event: event.seq,
        "request_id": lambda event: event.request_id,
        "address": lambda event: event.address,
        "data": lambda event: event.data,
    }

    def found(self, text: str) -> AuditEventQuerySet:
        return search.events(text, self.at)

    def total(self, found: AuditEventQuerySet, page: Page[Any]) -> Count:
        """Count from the newest row on. In another order, a count since a moment reads the whole journal."""
        return thresholds.counted(found, newest_first=True)

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        acts = [journal.in_words(event) for event in page.items]
        return {"acts": acts, "keys": search.EVENT_KEYS, "tabs": TABS}


class AuditPage(DashboardView):
    """A row of the journal, at a permanent address."""

    def get(self, request: HttpRequest, number: str) -> HttpResponse:
        event = lookup.event(int(number)) if number.isdecimal() and len(number) < 19 else None
        if event is None:
            raise Http404
        return self.page("ops/audit_event.html", {"act": journal.in_words(event), "event": event})
