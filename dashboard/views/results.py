from __future__ import annotations

from typing import ClassVar

from dashboard.lists import ListPage
from mailbox import readings, spans
from mailbox.errors import InvalidRequestError
from mailbox.models import Result
from mailbox.models.result import ResultQuerySet


class ResultList(ListPage):
    """Results by what became of them; those that wait for their sender come oldest first."""

    name = "results"
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
        return self.request.GET.get("delivery", "pending") != Result.Delivery.PENDING

    def model(self) -> ResultQuerySet:
        return Result.objects.select_related("task", "sender", "recipient")

    def found(self) -> ResultQuerySet:
        delivery = self.request.GET.get("delivery", Result.Delivery.PENDING)
        found = self.model().filter(delivery=delivery) if delivery in Result.Delivery.values else self.model()
        if (status := self.request.GET.get("status")) in Result.Status.values:
            found = found.with_status(Result.Status(status))
        if text := self.request.GET.get("within"):
            span = spans.parse(text)
            if span is None:
                raise InvalidRequestError({"q": f'"{text[:50]}" is no span; write 90s, 5m, 2h or 1d'})
            found = found.posted_between(self.now - span, None)
        if text := self.request.GET.get("posted"):
            found = found.posted_between(*readings.moments(text, self.now))
        return found
