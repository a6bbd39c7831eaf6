"""A carrier's round, one step at a time, in the thread of the test."""

from __future__ import annotations

from django.utils import timezone

from agentcards import carrier
from agentcards.models import RemoteCall
from mailbox.models import Result, Task


def submit_all() -> list[RemoteCall]:
    calls = carrier.take_on(timezone.now(), limit=10)
    for call in calls:
        carrier.submit(call)
    return calls


def look_all() -> list[RemoteCall]:
    calls = carrier.take_due(timezone.now(), limit=10)
    for call in calls:
        carrier.look(call)
    carrier.forget_ended()
    return calls


def result_of(task: Task) -> Result:
    return Result.objects.get(task=task)
