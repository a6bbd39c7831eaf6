"""The place that resolves tasks, with two exceptions.

`replay.answer` resolves a task with a cached result. The fast form, `mailbox/verbs/hot`, posts a plain result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.db import transaction

from mailbox.gate import quotas
from mailbox.gate.audit import Journal
from mailbox.models import Agent, Lease, Result, Task
from mailbox.verbs.life import callbacks, replay
from mailbox.words.kinds import LifeEntry


def resolve(
    task: Task,
    outcome: Task.Outcome,
    journal: Journal,
    entry: LifeEntry[Any],
    *,
    end: Lease.End,
    lease: Lease | None = None,
    content: Sequence[Mapping[str, Any]] = (),
    error_message: str | None = None,
    posted_by: Agent | None = None,
) -> Result:
    """Resolve ``task``, journal ``entry``, write its callback, and settle the duplicates that waited on it.

    ``lease`` is the live lease, None without one; it ends as ``end``. ``posted_by`` None is the hub itself. The task
    row must be locked, and the task's parties loaded. `plain.post_result` does not call this function, because it
    leaves tasks with a callback or a cache key to the whole form. A step that is added here needs such a guard there.
    """
    if lease is not None:
        lease.finish(end, journal.now)
    result = task.resolve(outcome, journal.now, content=content, error_message=error_message, posted_by=posted_by)
    transaction.on_commit(partial(quotas.grow_by_result, task.sender_id, result.size))
    journal.life(task, entry)
    callbacks.enqueue(task, result, journal.now)
    replay.settle(task, result, journal)
    return result
