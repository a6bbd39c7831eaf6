from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpResponse

from dashboard.base.list_page import ListPage
from dashboard.base.page import DashboardView, choice_of
from dashboard.figures import thresholds
from dashboard.wording import task_story
from mailbox.access import actions
from mailbox.database.paging import Page
from mailbox.inspection import leases, lookup
from mailbox.inspection.search import queries
from mailbox.models.lease import LeaseQuerySet
from mailbox.repairs import plans

ATTEMPTS_SHOWN = 20


class LeaseList(ListPage):
    """Live leases, oldest first, because operators look for stuck work."""

    name = "leases"
    field = "leased_at"
    kind = datetime
    tab = "state"
    parameters: ClassVar = {
        "agent": ("agent", ""),
        "safety": ("safety", ""),
        "min_age": ("age", ">="),
        "max_age": ("age", "<"),
    }
    columns: ClassVar = {
        "lease_id": lambda lease: lease.lease_id,
        "task_id": lambda lease: lease.task.uuid,
        "sender": lambda lease: lease.task.sender.display,
        "recipient": lambda lease: lease.task.recipient.display,
        "holder": lambda lease: lease.holder.display,
        "attempt": lambda lease: lease.attempt,
        "leased_at": lambda lease: lease.leased_at,
        "last_seen_at": lambda lease: lease.last_seen_at,
        "times_out_at": lambda lease: lease.times_out_at,
        "safety": lambda lease: "idempotent" if lease.task.is_idempotent else "unsafe",
        "idempotency_key": lambda lease: lease.task.idempotency_key,
        "intent_text": lambda lease: lease.task.intent_text,
    }

    @property
    def newest_first(self) -> bool:  # type: ignore[override]
        return choice_of("sort", self.request.GET.get("sort"), ["newest"]) == "newest"

    def chosen_values(self) -> dict[str, str]:
        return {**super().chosen_values(), **({"sort": "newest"} if self.newest_first else {})}

    def found(self, text: str) -> LeaseQuerySet:
        return queries.leases(text, self.at).with_task()

    def listed(self, found: LeaseQuerySet) -> LeaseQuerySet:
        return found.with_task_opening()

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {
            "keys": queries.LEASE_KEYS,
            "stale_after": thresholds.stale_after(),
            "stale_before": self.now - thresholds.stale_after(),
            "newest_first": self.newest_first,
            "cap": plans.CAP,
            "form_token": uuid.uuid4(),
            "may_select": self.holds(actions.REQUEUE),
            "may_requeue": self.holds(actions.REQUEUE),
            "may_force_error": self.holds(actions.FORCE_ERROR),
        }

    def shown(self, page: Page[Any], context: Mapping[str, Any]) -> object:
        stale_after = thresholds.stale_after()
        rows = [(lease.pk, lease.last_seen_at, lease.is_stale(self.now, stale_after)) for lease in page.items]
        return rows, context["total"]


class LeaseDetailPage(DashboardView):
    """A lease at a permanent address, which stays valid after the lease has ended."""

    def get(self, request: object, lease_id: UUID) -> HttpResponse:
        lease = lookup.lease(lease_id)
        if lease is None:
            return self.gone(lease_id)
        context = {
            "lease": lease,
            "task": lease.task,
            "ending": task_story.ending_of(lease, lease.task),
            "is_stale": lease.is_stale(self.now, thresholds.stale_after()),
            "stale_by": self.now - lease.leased_at - thresholds.stale_after(),
            "attempts": task_story.attempts(lease.task, leases.attempts_at(lease.task, most=ATTEMPTS_SHOWN), self.now),
            "may_requeue": self.holds(actions.REQUEUE),
            "may_force_error": self.holds(actions.FORCE_ERROR),
        }
        return self.page("ops/lease.html", context)
