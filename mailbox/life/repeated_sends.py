"""Repeated sends of a batch, which are recognised together."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models.functions import Length
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.life.fast_path import plain
from mailbox.models import Agent, Task
from mailbox.words.envelopes import TaskEnvelope
from mailbox.words.errors import InvalidRequestError

# An earlier task is compared here if its payload is at most so many times that of the envelope. JSON text of the same
# metadata differs in length if another version wrote it.
MOST_TIMES = 2


def of_batch(caller: Caller, envelopes: Sequence[TaskEnvelope]) -> list[Task | None]:
    """Return for each envelope the earlier task that it repeats, None if it repeats none or is not plain.

    `sending.send_task` returns the same task, with the same mark, and journals nothing either. A task that may have run
    out of time counts as not plain. The content of a result is read when it is first used. Two queries, without a lock.
    """
    sender = caller.agent
    given = [envelope.id if _is_valid(envelope) else None for envelope in envelopes]
    sizes = {task_id: envelope.size for task_id, envelope in zip(given, envelopes, strict=True) if task_id}
    if sender is None or not sizes:
        return [None] * len(envelopes)
    earlier = _earlier(sender, sizes)
    return [
        task if task_id and (task := earlier.get(task_id)) and _is_repeated(task, envelope, sender) else None
        for task_id, envelope in zip(given, envelopes, strict=True)
    ]


def without_content(task: Task) -> Task:
    """Return the task with the content of its result left out, which is read again when it is next used."""
    result = task.result_or_none
    if result is not None and result.pk is not None:
        for name in ("content", "error_message"):
            result.__dict__.pop(name, None)
    return task


def _earlier(sender: Agent, sizes: dict[UUID, int]) -> dict[UUID, Task]:
    """Return the tasks of these ids that the sender sent, without those that are far larger than given."""
    sent = Task.objects.filter(uuid__in=sizes, sender=sender, calls_back=False)
    stored = sent.values_list("pk", "uuid", Length("intent_text") + Length("metadata"))
    fitting = [pk for pk, task_id, size in stored if size <= MOST_TIMES * sizes[task_id]]
    if not fitting:
        return {}
    found = Task.objects.whole().defer("result__content", "result__error_message").filter(pk__in=fitting)
    for task in found:
        task.was_sent_before = True
    return {task.uuid: task for task in found}


def _is_valid(envelope: TaskEnvelope) -> bool:
    try:
        envelope.check()
    except InvalidRequestError:
        return False
    return True


def _is_repeated(task: Task, envelope: TaskEnvelope, sender: Agent) -> bool:
    named, recipient = envelope.recipient, task.recipient
    if named.display != recipient.display or named.pubkey not in (None, recipient.pubkey):
        return False
    may_be_due = task.state != Task.State.RESOLVED and (task.deadline_ms is not None or task.work_timeout is not None)
    if may_be_due or not plain.is_plain(envelope, sender):
        return False
    return task.says(Task.from_envelope(envelope, sender=sender, recipient=recipient, now=timezone.now()))
