"""The changes since a person looked at a lease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.wording.journal import JournalLine, in_words
from mailbox.inspection import leases
from mailbox.models import Lease, Result, Task

SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """The lease that was on screen, its task now, and the journal rows between.

    ``now`` is the live lease, None if no agent holds the task. ``result`` is None until the task is resolved.
    """

    seen: Lease
    task: Task
    now: Lease | None
    result: Result | None
    between: Sequence[JournalLine]
    at: datetime

    @property
    def is_resolved(self) -> bool:
        return self.task.state == Task.State.RESOLVED


def what_happened(seen: Lease, at: datetime) -> Conflict:
    """Read the task again, with its journal rows since the end of the lease that was on screen."""
    after = leases.aftermath(seen, most=SHOWN)
    return Conflict(
        seen=after.lease,
        task=after.task,
        now=after.live,
        result=after.result,
        between=[in_words(event) for event in after.events],
        at=at,
    )
