"""Looking without touching: the queue, what is recent, one task, its tree and its timeline.

Every look shows a caller only what it is party to, and filters before it limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from mailbox.database.paging import Page, after, page
from mailbox.gate.callers import Caller
from mailbox.gate.visibility import visible_leases, visible_tasks
from mailbox.inspection.tasks import QueueEntry
from mailbox.models import (
    Agent,
    AuditEvent,
    CapabilityGrant,
    Lease,
    PublicRoute,
    PushDelivery,
    ReplayEntry,
    Result,
    Task,
)
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.words.times import epoch_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFilter:
    """What a look at the queue narrows to; None everywhere is the whole queue.

    ``min_lease_age`` drops younger leases and nothing else; ``deadline_within`` keeps only tasks whose
    deadline is at most that far away, past ones included. Source: Covenant A2A, status surface.
    """

    state: Task.State | None = None
    min_lease_age: timedelta | None = None
    deadline_within: timedelta | None = None


def queue(
    caller: Caller, wanted: QueueFilter = QueueFilter(), *, limit: int = 10, cursor: str | None = None
) -> Page[QueueEntry]:
    """Return queued tasks in the order they will be leased, then leases, oldest first.

    Raises `InvalidRequestError` for a cursor this hub did not give out.
    """
    position = after(cursor, "queue", (str, datetime, int))
    entries: list[tuple[QueueEntry, tuple[object, ...]]] = []
    if wanted.state != Task.State.IN_FLIGHT and (position is None or position[0] == "queued"):
        queued = _within_deadline(
            visible_tasks(caller).queued().with_parties().select_related("waits_on").in_order(), wanted
        )
        if position:
            queued = queued.filter(Q(queued_at__gt=position[1]) | Q(queued_at=position[1], pk__gt=position[2]))
        entries += [(QueueEntry(task=task), ("queued", task.queued_at, task.pk)) for task in queued[: limit + 1]]
    if wanted.state != Task.State.QUEUED and len(entries) <= limit:
        leases = _leases(caller, wanted)
        if position and position[0] == "in_flight":
            leases = leases.filter(Q(leased_at__gt=position[1]) | Q(leased_at=position[1], pk__gt=position[2]))
        entries += [
            (QueueEntry(task=lease.task, lease=lease), ("in_flight", lease.leased_at, lease.pk))
            for lease in leases[: limit + 1 - len(entries)]
        ]
    return page(entries, limit, "queue")


def recent_tasks(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[Task]:
    """Return tasks still queued, oldest first, without leasing them."""
    position = after(cursor, "tasks", (datetime, int))
    tasks = visible_tasks(caller).queued().with_parties().in_order()
    if position:
        tasks = tasks.filter(Q(queued_at__gt=position[0]) | Q(queued_at=position[0], pk__gt=position[1]))
    return page([(task, (task.queued_at, task.pk)) for task in tasks[: limit + 1]], limit, "tasks")


def recent_results(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[Result]:
    """Return results that wait to be drained, oldest first, without draining them."""
    position = after(cursor, "results", (datetime, int))
    results = Result.objects.addressed_to(caller.party).pending().in_order().select_related("task")
    if position:
        results = results.filter(Q(posted_at__gt=position[0]) | Q(posted_at=position[0], pk__gt=position[1]))
    return page([(result, (result.posted_at, result.pk)) for result in results[: limit + 1]], limit, "results")


def leases(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[Lease]:
    """Return the live leases the caller holds, oldest first; people see everyone's."""
    position = after(cursor, "leases", (datetime, int))
    live = Lease.objects.live().of_holder(caller.party).with_task().order_by("leased_at", "pk")
    if position:
        live = live.filter(Q(leased_at__gt=position[0]) | Q(leased_at=position[0], pk__gt=position[1]))
    return page([(lease, (lease.leased_at, lease.pk)) for lease in live[: limit + 1]], limit, "leases")


def newest_sent(caller: Caller, *, dialect: str, limit: int, offset: int) -> tuple[Sequence[Task], int]:
    """Return a slice of the tasks of ``dialect`` that the caller sent, newest first, and how many there are in all."""
    sent = Task.objects.filter(dialect=dialect).sent_by(caller.party)
    return list(sent.whole().order_by("-pk")[offset : offset + limit]), sent.count()


def recent_events(
    caller: Caller, *, limit: int = 20, cursor: str | None = None, since: datetime | None = None
) -> Page[AuditEvent]:
    """Return the newest journal rows first, none older than ``since``: an agent those it caused itself, people all."""
    position = after(cursor, "audit", (int,))
    events = AuditEvent.objects.visible_to(caller.party).newest_first()
    if position:
        events = events.filter(pk__lt=position[0])
    # Newest first, so what is too old can only be the end of a page: no index on the time is needed.
    found = [event for event in events[: limit + 1] if since is None or event.at >= since]
    return page([(event, (event.pk,)) for event in found], limit, "audit")


def grants(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[CapabilityGrant]:
    """Return the newest grants first, dead ones too: an agent those it holds or passed on, people all."""
    position = after(cursor, "grants", (int,))
    found = CapabilityGrant.objects.visible_to(caller.party).select_related("subject").order_by("-pk")
    if position:
        found = found.filter(pk__lt=position[0])
    return page([(grant, (grant.pk,)) for grant in found[: limit + 1]], limit, "grants")


def replay_entries(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[ReplayEntry]:
    """Return cached results, newest first: an agent those of its own tasks and of its own work, people all."""
    position = after(cursor, "replay", (int,))
    found = ReplayEntry.objects.visible_to(caller.party).order_by("-pk")
    if position:
        found = found.filter(pk__lt=position[0])
    return page([(entry, (entry.pk,)) for entry in found[: limit + 1]], limit, "replay")


def deliveries(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[PushDelivery]:
    """Return callbacks, newest first, with what came of each attempt: an agent those of its own tasks, people all."""
    position = after(cursor, "deliveries", (int,))
    visible = PushDelivery.objects.visible_to(caller.party)
    found = visible.select_related("sender").prefetch_related("log").order_by("-pk")
    if position:
        found = found.filter(pk__lt=position[0])
    return page([(delivery, (delivery.pk,)) for delivery in found[: limit + 1]], limit, "deliveries")


def agents(*, limit: int = 10, cursor: str | None = None) -> Page[Agent]:
    """Return the registered agents by name; any caller may know whom it can address."""
    position = after(cursor, "agents", (str,))
    found = Agent.objects.order_by("display")
    if position:
        found = found.filter(display__gt=position[0])
    return page([(agent, (agent.display,)) for agent in found[: limit + 1]], limit, "agents")


def public_routes() -> Sequence[PublicRoute]:
    """Return every public route with its agent, newest first, closed ones too."""
    return list(PublicRoute.objects.newest_first().select_related("agent"))


def _leases(caller: Caller, wanted: QueueFilter) -> LeaseQuerySet:
    live = visible_leases(caller).live().with_task().order_by("leased_at", "pk")
    if wanted.min_lease_age is not None:
        live = live.filter(leased_at__lte=timezone.now() - wanted.min_lease_age)
    if wanted.deadline_within is not None:
        live = live.filter(task__deadline_ms__lte=epoch_ms(timezone.now() + wanted.deadline_within))
    return live


def _within_deadline(tasks: TaskQuerySet, wanted: QueueFilter) -> TaskQuerySet:
    if wanted.deadline_within is None:
        return tasks
    return tasks.filter(deadline_ms__lte=epoch_ms(timezone.now() + wanted.deadline_within))
