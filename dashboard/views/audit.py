from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse

from dashboard.base.list_page import ListPage
from dashboard.base.page import DashboardView
from dashboard.figures import audit_facets, thresholds
from dashboard.figures.audit_facets import NO_CHECKS
from dashboard.figures.thresholds import Count
from dashboard.wording import journal, json_tree
from mailbox.database.paging import Page
from mailbox.inspection import lookup
from mailbox.inspection.search import queries
from mailbox.models import AuditEvent
from mailbox.models.audit import AuditEventQuerySet
from mailbox.words.kinds import Kind

TABS = (
    ("All", ""),
    ("Without capability checks", NO_CHECKS),
    ("Repairs", "kind:a2a_repair_*"),
    ("Capabilities", "kind:capability_*"),
    ("Dashboard users", f"source:{AuditEvent.Source.DASHBOARD}"),
    ("Failed API-key logins", f"kind:{Kind.AUTHENTICATION_FAILED}"),
)

EVER = "1970-01-02T00:00"  # before every row


class AuditList(ListPage):
    """The journal, newest first. An address without a query leaves out the checks of capabilities."""

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

    @property
    def query(self) -> str:
        asked = self.request.GET
        start, end = (asked.get(name, "").strip() for name in ("from", "to"))
        query = asked.get("q", NO_CHECKS).strip()
        if not start and not end:
            return query
        return f"{queries.without(query, 'at')} {queries.term('at', f'{start or EVER}..{end}')}".strip()

    def chosen_values(self) -> dict[str, str]:
        return {**super().chosen_values(), **({"follow": "1"} if self.follows else {})}

    @property
    def follows(self) -> bool:
        """Whether new events appear at the top by themselves."""
        return self.request.GET.get("follow") == "1"

    def found(self, text: str) -> AuditEventQuerySet:
        return queries.events(text, self.at)

    def total(self, found: AuditEventQuerySet, page: Page[Any]) -> Count:
        """Count from the newest row on. In another order, a count since a moment reads the whole journal."""
        return thresholds.counted(found, newest_first=True, has_words=queries.asks_words(self.query))

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {
            "acts": [journal.in_words(event) for event in page.items],
            "keys": queries.EVENT_KEYS,
            "tabs": TABS,
            "figures": audit_facets.read(self.rows, self.query),
            "follows": self.follows,
            "is_filtered": self.query not in ("", NO_CHECKS),
        }


class AuditPage(DashboardView):
    """A row of the journal, at a permanent address."""

    def get(self, request: HttpRequest, number: str) -> HttpResponse:
        event = lookup.event(int(number)) if number.isdecimal() and len(number) < 19 else None
        if event is None:
            raise Http404
        tree, _ = json_tree.tree_of(event.fields, json_tree.MOST)
        older, newer = lookup.neighbours(event)
        context = {
            "act": journal.in_words(event),
            "event": event,
            "tree": tree,
            "older": older,
            "newer": newer,
            "lease_id": _id(event.fields, "lease_id"),
            "agents": lookup.agents_named(_names(event)),
        }
        return self.page("ops/audit_event.html", context)


def _id(fields: Mapping[str, Any], name: str) -> UUID | None:
    try:
        return UUID(str(fields.get(name)))
    except ValueError:
        return None


def _names(event: AuditEvent) -> list[str]:
    """Return the names of agents that a row may have: of its actor, and in its data."""
    return [one for one in (event.actor, *event.fields.values()) if isinstance(one, str) and "@" in one]
