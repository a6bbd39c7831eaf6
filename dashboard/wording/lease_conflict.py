"""What became of a lease that somebody looked at a while ago."""

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
    """The lease that was on screen, what the task is now, and what was done between.

    ``now`` is the live lease, None when nobody holds the task; ``result`` is None until it is resolved.
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
    """Read the task anew and what its journal says since the lease that was seen ended."""
    after = leases.aftermath(seen, most=SHOWN)
    return Conflict(
        seen=after.lease,
        task=after.task,
        now=after.live,
        result=after.result,
        between=[in_words(event) for event in after.events],
        at=at,
    )
