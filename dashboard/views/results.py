from __future__ import annotations

from typing import Any, ClassVar

from dashboard.base.list_page import ALL, ListPage
from mailbox.database.paging import Page
from mailbox.inspection.search import queries
from mailbox.models import Result
from mailbox.models.result import ResultQuerySet

TABS = (*Result.Delivery.values, ALL)


class ResultList(ListPage):
    """Results by their delivery. Undelivered results come oldest first."""

    name = "results"
    has_full_text = True
    tab = "delivery"
    default = Result.Delivery.PENDING
    parameters: ClassVar = {"status": ("status", ""), "posted": ("posted", ""), "within": ("age", "<")}
    columns: ClassVar = {
        "task_id": lambda result: result.task.uuid,
        "status": lambda result: result.status,
        "sender": lambda result: result.sender.display,
        "recipient": lambda result: result.recipient.display,
        "delivery": lambda result: result.delivery,
        "posted_at": lambda result: result.posted_at,
        "replayed_from": lambda result: result.replayed_from,
        "error_message": lambda result: result.error_message,
    }

    @property
    def newest_first(self) -> bool:  # type: ignore[override]
        return self.chosen != Result.Delivery.PENDING

    def found(self, text: str) -> ResultQuerySet:
        return queries.results(text, self.at).with_opening()

    def listed(self, found: ResultQuerySet) -> ResultQuerySet:
        return found.with_error_line()

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {"tabs": TABS, "keys": queries.RESULT_KEYS}
