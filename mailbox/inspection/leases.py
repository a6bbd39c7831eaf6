"""Leases, live and ended: of one task, of one agent, and the events after one lease."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from mailbox.models import Agent, AuditEvent, Lease, Result, Task
from mailbox.models.lease import LeaseQuerySet


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """A lease and its task as they are now, both with their parties.

    ``live`` is the task's live lease, None without one. ``result`` is None until the task is resolved. ``events`` are
    the first journal rows of the task since the lease ended; a live lease has none.
    """

    lease: Lease
    task: Task
    live: Lease | None
    result: Result | None
    events: Sequence[AuditEvent]


def attempts_at(task: Task, *, most: int) -> Sequence[Lease]:
    """Return the ``most`` newest leases of a task, newest first, with their holders."""
    return list(task.leases.select_related("holder").order_by("-attempt")[:most])


def oldest_held_by(agent: Agent, *, most: int) -> Sequence[Lease]:
    """Return the ``most`` oldest live leases of the agent, oldest first, with the openings of their tasks."""
    held = Lease.objects.live().filter(holder=agent)
    oldest = held.order_by("leased_at", "pk").values("pk")[:most]  # alone, so that the index of holders is used
    return list(Lease.objects.filter(pk__in=oldest).with_task_opening().oldest_first())


def live(now: datetime, stale_after: timedelta | None = None) -> LeaseQuerySet:
    """Return the live leases as an unordered queryset: all, or those at least ``stale_after`` old."""
    return Lease.objects.live() if stale_after is None else Lease.objects.stale(now, stale_after)


def named(ids: Collection[UUID]) -> LeaseQuerySet:
    """Return the leases of these ids, live or ended, as an unordered queryset."""
    return Lease.objects.named(ids)


def aftermath(seen: Lease, *, most: int) -> Aftermath:
    """Read a lease and its task again, with at most ``most`` journal rows since the lease ended."""
    task = Task.objects.with_parties().get(pk=seen.task_id)
    lease = Lease.objects.with_task().get(pk=seen.pk)
    events = AuditEvent.objects.of_task(task.uuid)
    return Aftermath(
        lease=lease,
        task=task,
        live=task.live_lease(),
        result=Result.objects.filter(task=task).first(),
        events=list(events.since(lease.ended_at)[:most]) if lease.ended_at else [],
    )
