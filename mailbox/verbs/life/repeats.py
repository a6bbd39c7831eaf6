"""Repeated sends of a batch, which are recognised together."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.utils import timezone

from mailbox.gate.callers import Caller
from mailbox.models import Agent, Task
from mailbox.verbs.hot import plain
from mailbox.words.envelopes import TaskEnvelope
from mailbox.words.errors import InvalidRequestError


def of_batch(caller: Caller, envelopes: Sequence[TaskEnvelope]) -> list[Task | None]:
    """Return for each envelope the earlier task that it repeats, None if it repeats none or is not plain.

    `sending.send_task` returns the same task, and journals nothing either. A task that may have run out of time counts
    as not plain. One query, without a lock.
    """
    sender = caller.agent
    ids = {envelope.id for envelope in envelopes if isinstance(envelope.id, UUID)}
    if sender is None or not ids:
        return [None] * len(envelopes)
    earlier = {task.uuid: task for task in Task.objects.whole().filter(uuid__in=ids, sender=sender, calls_back=False)}
    return [
        task if envelope.id and (task := earlier.get(envelope.id)) and _is_repeated(task, envelope, sender) else None
        for envelope in envelopes
    ]


def _is_repeated(task: Task, envelope: TaskEnvelope, sender: Agent) -> bool:
    try:
        envelope.check()
    except InvalidRequestError:
        return False
    named, recipient = envelope.recipient, task.recipient
    if named.display != recipient.display or named.pubkey not in (None, recipient.pubkey):
        return False
    may_be_due = task.state != Task.State.RESOLVED and (task.deadline_ms is not None or task.work_timeout is not None)
    if may_be_due or not plain.is_plain(envelope, sender):
        return False
    return task.says(Task.from_envelope(envelope, sender=sender, recipient=recipient, now=timezone.now()))
