"""The one way a task becomes final."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
    """Resolve ``task``, journal it as ``entry``, and settle the duplicates that waited on it.

    ``lease`` is the live lease if there is one, ended as ``end``. ``posted_by`` None means the hub itself.
    The caller holds the task row's lock, and the task's parties are loaded. `plain.post_result` does without this
    where there is nobody to call back and no duplicate to settle: what is added here must be excluded there.
    """
    if lease is not None:
        lease.finish(end, journal.now)
    result = task.resolve(outcome, journal.now, content=content, error_message=error_message, posted_by=posted_by)
    journal.life(task, entry)
    callbacks.enqueue(task, result, journal.now)
    replay.settle(task, result, journal)
    return result
