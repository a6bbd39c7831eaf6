from __future__ import annotations

from typing import Any, ClassVar

from dashboard.base.list_page import ListPage
from dashboard.figures import thresholds
from dashboard.figures.thresholds import Count
from mailbox.database.paging import Page
from mailbox.inspection import leases
from mailbox.inspection.search import queries
from mailbox.models import Task
from mailbox.models.task import TaskQuerySet

TABS = ("queued", "in_flight", "stale", "interrupted", *Task.Outcome.values)


class TaskList(ListPage):
    """All tasks, newest first."""

    name = "tasks"
    has_full_text = True
    tab = "state"
    parameters: ClassVar = {"finished": ("finished", "")}
    columns: ClassVar = {
        "id": lambda task: task.uuid,
        "state": lambda task: task.outcome or task.state,
        "awaits": lambda task: task.awaits,
        "sender": lambda task: task.sender.display,
        "recipient": lambda task: task.recipient.display,
        "attempt": lambda task: task.attempt,
        "turn": lambda task: task.turn,
        "kind": lambda task: task.task_kind,
        "idempotency_key": lambda task: task.idempotency_key,
        "parent": lambda task: task.parent,
        "sent_at": lambda task: task.sent_at,
        "resolved_at": lambda task: task.resolved_at,
        "error_message": lambda task: task.error_message,
        "intent_text": lambda task: task.intent_text,
    }

    def found(self, text: str) -> TaskQuerySet:
        return queries.tasks(text, self.at).with_parties().with_stale(self.now, self.at.stale_after)

    def listed(self, found: TaskQuerySet) -> TaskQuerySet:
        return found.with_opening().with_error_line()

    def exported(self, found: TaskQuerySet) -> TaskQuerySet:
        return found.with_error()

    def total(self, found: TaskQuerySet, page: Page[Any]) -> Count:
        """Return the number of all tasks. Every task in flight has one live lease, and these are counted sooner."""
        if self.query == queries.term(self.tab, "in_flight"):
            return thresholds.counted(leases.live(self.now))
        if self.query == queries.term(self.tab, "stale"):
            return thresholds.counted(leases.live(self.now, self.at.stale_after))
        return super().total(found, page)

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {
            "tabs": TABS,
            "keys": queries.TASK_KEYS,
        }

    def shown(self, page: Page[Any], context: Any) -> object:
        return [(task.pk, task.journal_seq, task.is_stale) for task in page.items], context["total"]
