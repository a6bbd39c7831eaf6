"""What became of a lease that somebody looked at a while ago."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dashboard.wording.journal import Act, in_words
from mailbox.gate.callers import Caller
from mailbox.models import AuditEvent, Lease, Result, Task

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
    between: Sequence[Act]
    at: datetime

    @property
    def is_resolved(self) -> bool:
        return self.task.state == Task.State.RESOLVED


def what_happened(seen: Lease, at: datetime) -> Conflict:
    """Read the task anew and what its journal says since the lease that was seen ended."""
    task = Task.objects.with_parties().get(pk=seen.task_id)
    seen = Lease.objects.with_task().get(pk=seen.pk)
    events = AuditEvent.objects.of_task(task.uuid)
    since = events.since(seen.ended_at)[:SHOWN] if seen.ended_at else []
    return Conflict(
        seen=seen,
        task=task,
        now=task.live_lease(),
        result=Result.objects.filter(task=task).first(),
        between=[in_words(event) for event in since],
        at=at,
    )


def already_done(caller: Caller, task: Task) -> AuditEvent | None:
    """Return the journal row of the repair that this very form made before, if it did."""
    return AuditEvent.objects.of_task(task.uuid).of_request(caller.name, caller.request_id).first()
