from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.http import HttpResponse

from dashboard import attention
from dashboard.access import Page
from mailbox import capabilities, paging, spans
from mailbox.errors import InvalidRequestError
from mailbox.models import Lease
from mailbox.models.lease import LeaseQuerySet

ROWS = 50


class LeaseList(Page):
    """Live leases; the question is what is stuck, so the oldest come first."""

    def get(self, request: object) -> HttpResponse:
        found, stale_after = self._filtered(), attention.stale_after()
        newest_first = self.request.GET.get("sort") == "newest"
        page = paging.keyset(
            found.with_task(),
            "leased_at",
            datetime,
            newest_first=newest_first,
            limit=ROWS,
            cursor=self.request.GET.get("cursor"),
            name="ops-leases",
        )
        context = {
            "page": page,
            "total": attention.counted(found),
            "stale_before": self.now - stale_after,
            "stale_after": stale_after,
            "newest_first": newest_first,
            "may_requeue": self.holds(capabilities.REQUEUE),
            "may_force_error": self.holds(capabilities.FORCE_ERROR),
            "is_filtered": any(
                self.request.GET.get(name) for name in ("state", "agent", "safety", "min_age", "max_age")
            ),
            "filters": self.request.GET,
        }
        is_stale = [lease.is_stale(self.now, stale_after) for lease in page.items]
        rows = [(lease.pk, lease.last_seen_at) for lease in page.items]
        return self.live("ops/leases.html", context, (rows, is_stale, context["total"]))

    def _filtered(self) -> LeaseQuerySet:
        asked = self.request.GET
        stale = asked.get("state") == "stale"
        found = attention.stale_leases(self.now) if stale else Lease.objects.live()
        if agent := asked.get("agent", "").strip():
            found = found.held_by(agent)
        if (safety := asked.get("safety")) in ("idempotent", "unsafe"):
            found = found.idempotent(safety == "idempotent")
        if least := self._span("min_age"):
            found = found.stale(self.now, least)
        if most := self._span("max_age"):
            found = found.younger(self.now, most)
        return found

    def _span(self, name: str) -> timedelta | None:
        text = self.request.GET.get(name, "").strip()
        span = spans.parse(text)
        if text and span is None:
            raise InvalidRequestError({name: f'"{text[:50]}" is no age; write 90s, 5m, 2h or 1d'})
        return span


class LeasePage(Page):
    """One attempt, for good: the link holds also when the lease has ended."""

    def get(self, request: object, lease_id: UUID) -> HttpResponse:
        lease = Lease.objects.with_task().filter(lease_id=lease_id).first()
        if lease is None:
            return self.gone(lease_id)
        context = {
            "lease": lease,
            "task": lease.task,
            "is_stale": lease.is_stale(self.now, attention.stale_after()),
            "stale_after": attention.stale_after(),
            "attempts": lease.task.leases.select_related("holder").order_by("-attempt")[:20],
            "may_requeue": self.holds(capabilities.REQUEUE),
            "may_force_error": self.holds(capabilities.FORCE_ERROR),
        }
        return self.page("ops/lease.html", context)
