"""A carrier's round, one step at a time, in the thread of the test."""

from __future__ import annotations

from django.utils import timezone

from agentcards import carriage
from agentcards.models import RemoteCall
from mailbox.models import Result, Task


def submit_all() -> list[RemoteCall]:
    calls = carriage.take_on(limit=10)
    for call in calls:
        carriage.submit(call)
    return calls


def look_all() -> list[RemoteCall]:
    calls = carriage.take_due(timezone.now(), limit=10)
    for call in calls:
        carriage.look(call)
    carriage.forget_ended()
    return calls


def result_of(task: Task) -> Result:
    return Result.objects.get(task=task)
