from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from dashboard import attention, words
from dashboard.access import Page
from dashboard.lists import ListPage
from mailbox import by_hand, capabilities, inspection, json_text, search
from mailbox.dialects.base import JSONRenderer
from mailbox.dialects.covenant import wire
from mailbox.errors import UnknownTaskError
from mailbox.models import AuditEvent, Task
from mailbox.models.task import TaskQuerySet
from mailbox.paging import Page as Rows

SHOWN = 64 * 1024  # characters of a payload; the rest is in the download
TABS = ("queued", "in_flight", "stale", "ok", "partial", "error")


class TaskList(ListPage):
    """All tasks, newest first."""

    name = "tasks"
    columns: ClassVar = {
        "id": lambda task: task.uuid,
        "state": lambda task: task.outcome or task.state,
        "sender": lambda task: task.sender.display,
        "recipient": lambda task: task.recipient.display,
        "attempt": lambda task: task.attempt,
        "kind": lambda task: task.task_kind,
        "idempotency_key": lambda task: task.idempotency_key,
        "parent": lambda task: task.parent,
        "sent_at": lambda task: task.sent_at,
        "resolved_at": lambda task: task.resolved_at,
        "intent_text": lambda task: task.intent_text,
    }

    def model(self) -> TaskQuerySet:
        return Task.objects.with_parties()

    @property
    def query(self) -> str:
        """What the box holds: the query, with the range of time that a chart's bar links with."""
        finished = self.request.GET.get("finished", "").strip()
        term = search.term("finished", finished) if finished else ""
        return f"{self.request.GET.get('q', '')} {term}".strip()

    def found(self) -> TaskQuerySet:
        text = self.query
        if state := self.request.GET.get("state"):
            text = f"{text} state:{state}"
        return search.tasks(text, self.at).with_parties()

    def besides(self, page: Rows[Any]) -> dict[str, Any]:
        text = self.query
        return {
            "q": text,
            "tabs": TABS,
            "keys": search.TASK_KEYS,
            "words_among": search.WORDS_AMONG if any(":" not in part for part in text.split()) else 0,
        }

    def shown(self, page: Rows[Any], context: Any) -> object:
        return [(task.pk, task.journal_seq) for task in page.items], context["total"]


class TaskPage(Page):
    """One task: what it is now, how it came to that, what it carries."""

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        task = Task.objects.with_parties().select_related("waits_on", "result").filter(uuid=task_id).first()
        if task is None:
            raise UnknownTaskError.of(task_id)
        attempts = list(task.leases.select_related("holder").order_by("-attempt")[:50])
        lease = next((one for one in attempts if one.ended_at is None), None)
        acts = [words.in_words(event) for event in AuditEvent.objects.filter(task_id=task_id).order_by("-pk")[:100]]
        stale_after = attention.stale_after()
        context = {
            "task": task,
            "lease": lease,
            "is_stale": lease is not None and lease.is_stale(self.now, stale_after),
            "stale_after": stale_after,
            "state": _state(task, lease is not None and lease.is_stale(self.now, stale_after)),
            "result": getattr(task, "result", None),
            "attempts": attempts,
            "children": list(Task.objects.with_parties().filter(parent=task.uuid).order_by("-pk")[:21]),
            "acts": [act for act in acts if act.is_life],
            "beside": [act for act in acts if not act.is_life],
            "shown": SHOWN,
            "by_hand": task.sender.display == by_hand.OPERATORS,
            "may_send": self.holds(capabilities.SEND),
            "may_requeue": self.holds(capabilities.REQUEUE),
            "may_force_error": self.holds(capabilities.FORCE_ERROR),
        }
        return self.page("ops/task.html", context)


class TaskJson(Page):
    """The whole of a task, its result and its journal, exactly."""

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        entry = inspection.task(self.caller, task_id)
        result = inspection.result(self.caller, task_id)
        whole = {
            "entry": wire.queue_entry(entry),
            "metadata": json_text.loads(entry.task.metadata),
            "result": wire.result(result) if result else None,
            "journal": [
                {"kind": event.kind, "actor": event.actor, "at": event.at.isoformat(), "data": event.fields}
                for event in AuditEvent.objects.filter(task_id=task_id).order_by("pk")
            ],
        }
        response = HttpResponse(JSONRenderer().render(whole), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="task-{task_id}.json"'
        return response


def _state(task: Task, is_stale: bool) -> str:
    if is_stale:
        return "stale"
    if task.waits_on_id is not None:
        return "waiting"
    return task.outcome or task.state
