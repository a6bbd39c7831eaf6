"""The place that resolves tasks, with two exceptions.

`replay.answer` resolves a task with a cached result. The fast form, `mailbox/life/fast_path`, posts a plain result.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.db import transaction

from mailbox.access.audit import Journal
from mailbox.access.limits import quotas
from mailbox.life import outbox, replay, task_limits
from mailbox.models import Agent, Artifact, Lease, Message, Result, Task
from mailbox.words import json_text
from mailbox.words.conversation import Details
from mailbox.words.kinds import LifeEntry


def resolve(
    task: Task,
    outcome: Task.Outcome,
    journal: Journal,
    entry: LifeEntry,
    *,
    end: Lease.End,
    lease: Lease | None = None,
    content: Sequence[Mapping[str, Any]] = (),
    error_message: str | None = None,
    posted_by: Agent | None = None,
    closing: Sequence[Mapping[str, Any]] = (),
    is_direct: bool = False,
    details: Details | None = None,
) -> Result:
    """Resolve ``task``, journal ``entry``, write its callback, and settle the duplicates that waited on it.

    ``lease`` is the live lease, None without one; it ends as ``end``. ``posted_by`` None is the hub itself. ``closing``
    are words that close the conversation, stored as a message with ``details``. The task row must be locked, and its
    parties loaded.

    `plain.post_result` does not call this function, because it leaves tasks with a callback or a cache key to the whole
    form. A step that is added here needs such a guard there.
    """
    if lease is not None:
        lease.finish(end, journal.now)
    has_message = bool(closing or details)
    size = task_limits.size_of_closing(closing, details) if has_message else 0
    task.size += size
    result = task.resolve(
        outcome,
        journal.now,
        content=content,
        error_message=error_message,
        posted_by=posted_by,
        is_direct=is_direct,
        # A task whose whole life is its send and its lease is not looked up.
        has_more=has_message or (task.journal_seq > 2 and Artifact.objects.filter(task=task).exists()),
    )
    if has_message:
        _close(task, closing, details or Details(), journal)
    transaction.on_commit(partial(quotas.grow_by_result, task.sender_id, result.size + size))
    journal.life(task, entry)
    outbox.enqueue(task, result, journal.now)
    replay.settle(task, result, journal)
    return result


def _close(task: Task, blocks: Sequence[Mapping[str, Any]], details: Details, journal: Journal) -> None:
    """Store the message that closes a task. A direct answer has its blocks in the result, and none here."""
    Message.objects.create(
        task=task,
        seq=task.journal_seq,
        content=json_text.dumps([dict(block) for block in blocks]),
        message_id=details.message_id,
        extra=details.extra,
        said_at=journal.now,
    )
