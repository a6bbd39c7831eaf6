"""Looking without touching: the queue, what is recent, one task, its tree and its timeline.

Every look shows a caller only what it is party to, and filters before it limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from mailbox.callers import Caller
from mailbox.errors import UnknownTaskError
from mailbox.models import Agent, AuditEvent, CapabilityGrant, Lease, PushDelivery, ReplayEntry, Result, Task
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.result import ResultQuerySet
from mailbox.models.task import TaskQuerySet, epoch_ms
from mailbox.paging import Page, after, page

TREE_LIMIT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """An unresolved task, with its live lease when it is in flight."""

    task: Task
    lease: Lease | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFilter:
    """What a look at the queue narrows to; None everywhere is the whole queue.

    ``min_lease_age`` drops younger leases and nothing else; ``deadline_within`` keeps only tasks whose
    deadline is at most that far away, past ones included. Source: Covenant A2A, status surface.
    """

    state: Task.State | None = None
    min_lease_age: timedelta | None = None
    deadline_within: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A task within a tree; ``depth`` counts from the root, ``result`` is None until it resolves."""

    task: Task
    depth: int
    result: Result | None


def queue(
    caller: Caller, wanted: QueueFilter = QueueFilter(), *, limit: int = 10, cursor: str | None = None
) -> Page[QueueEntry]:
    """Return queued tasks in the order they will be leased, then leases, oldest first.

    Raises `InvalidRequestError` for a cursor this hub did not give out.
    """
    position = after(cursor, "queue", (str, datetime, int))
    entries: list[tuple[QueueEntry, tuple[object, ...]]] = []
    if wanted.state != Task.State.IN_FLIGHT and (position is None or position[0] == "queued"):
        queued = _within_deadline(_tasks(caller).queued().with_parties().select_related("waits_on").in_order(), wanted)
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
    tasks = _tasks(caller).queued().with_parties().in_order()
    if position:
        tasks = tasks.filter(Q(queued_at__gt=position[0]) | Q(queued_at=position[0], pk__gt=position[1]))
    return page([(task, (task.queued_at, task.pk)) for task in tasks[: limit + 1]], limit, "tasks")


def recent_results(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[Result]:
    """Return results that wait to be drained, oldest first, without draining them."""
    position = after(cursor, "results", (datetime, int))
    results = _results(caller).pending().in_order().select_related("task")
    if position:
        results = results.filter(Q(posted_at__gt=position[0]) | Q(posted_at=position[0], pk__gt=position[1]))
    return page([(result, (result.posted_at, result.pk)) for result in results[: limit + 1]], limit, "results")


def leases(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[Lease]:
    """Return the live leases the caller holds, oldest first; people see everyone's."""
    position = after(cursor, "leases", (datetime, int))
    live = Lease.objects.live().with_task().order_by("leased_at", "pk")
    if caller.agent is not None:
        live = live.filter(holder=caller.agent)
    if position:
        live = live.filter(Q(leased_at__gt=position[0]) | Q(leased_at=position[0], pk__gt=position[1]))
    return page([(lease, (lease.leased_at, lease.pk)) for lease in live[: limit + 1]], limit, "leases")


def task(caller: Caller, task_id: UUID) -> QueueEntry:
    """Return one task with its live lease; raise `UnknownTaskError` alike for absent and foreign ids."""
    found = _tasks(caller).with_parties().select_related("waits_on").filter(uuid=task_id).first()
    if found is None:
        raise UnknownTaskError.of(task_id)
    return QueueEntry(task=found, lease=found.live_lease())


def whole_task(task_id: UUID) -> Task:
    """Return a task with its parties, its result, the task it waits on, and what the cache holds under its key.

    That is ``cached_id``, ``cached_from`` (a task's uuid) and ``cached_hits`` of the replay entry, None where there is
    none. For people, who see everything; raises `UnknownTaskError`.
    """
    entry = ReplayEntry.objects.filter(cache_key=OuterRef("cache_key"))
    cached = {"cached_id": "pk", "cached_from": "source_task_id", "cached_hits": "hits"}
    found = Task.objects.with_parties().select_related("waits_on", "result").filter(uuid=task_id)
    whole = found.annotate(**{name: Subquery(entry.values(field)) for name, field in cached.items()}).first()
    if whole is None:
        raise UnknownTaskError.of(task_id)
    return whole


def alike(task: Task) -> TaskQuerySet:
    """Return the other tasks that declare the same key, newest first, whoever sent them to whom."""
    if not task.idempotency_key:
        return Task.objects.none()
    same = Task.objects.filter(idempotency_key=task.idempotency_key).exclude(pk=task.pk)
    return same.with_parties().order_by("-pk")


def newest_sent(caller: Caller, *, dialect: str, limit: int, offset: int) -> tuple[Sequence[Task], int]:
    """Return a slice of the tasks of ``dialect`` that the caller sent, newest first, and how many there are in all."""
    sent = Task.objects.filter(dialect=dialect)
    if caller.agent is not None:
        sent = sent.sent_by(caller.agent)
    return list(sent.with_parties().select_related("result").order_by("-pk")[offset : offset + limit]), sent.count()


def result(caller: Caller, task_id: UUID) -> Result | None:
    """Return the task's result, None while it has none; raise `UnknownTaskError`. Delivers nothing."""
    found = task(caller, task_id).task
    return Result.objects.select_related("task").filter(task=found).first()


def timeline(caller: Caller, task_id: UUID, *, limit: int = 100, cursor: str | None = None) -> Page[AuditEvent]:
    """Return the journal of one task's life, in order; raise `UnknownTaskError`."""
    position = after(cursor, "timeline", (int,))
    task(caller, task_id)
    events = AuditEvent.objects.of_task(task_id)
    if position:
        events = events.filter(seq__gt=position[0])
    return page([(event, (event.seq,)) for event in events[: limit + 1]], limit, "timeline")


def tree(caller: Caller, root: UUID) -> Sequence[Node]:
    """Return the tasks below and including ``root`` that the caller may see, depth first, oldest child first.

    The root itself need not exist: an orchestrator may use any id as parent. Raises `UnknownTaskError`
    when neither it nor a child is visible. At most `TREE_LIMIT` nodes. Source: Covenant A2A, "a task graph".
    """
    visible = _tasks(caller).with_parties().select_related("waits_on")
    found = {one.uuid: one for one in visible.filter(uuid=root)}
    children: dict[UUID, list[Task]] = {}
    level = [root]
    seen = {root}
    while level and len(found) < TREE_LIMIT:
        below = visible.filter(parent__in=level).order_by("sent_at", "pk")[: TREE_LIMIT - len(found)]
        fresh = [child for child in below if child.uuid not in seen]
        for child in fresh:
            children.setdefault(child.parent or root, []).append(child)
            found[child.uuid] = child
            seen.add(child.uuid)
        level = [child.uuid for child in fresh]
    if not found:
        raise UnknownTaskError.of(root)
    results = {one.task_id: one for one in Result.objects.filter(task__in=found.values()).select_related("task")}
    return [
        Node(task=one, depth=depth, result=results.get(one.pk)) for one, depth in _depth_first(root, found, children)
    ]


def recent_events(
    caller: Caller, *, limit: int = 20, cursor: str | None = None, since: datetime | None = None
) -> Page[AuditEvent]:
    """Return the newest journal rows first, none older than ``since``: an agent those it caused itself, people all."""
    position = after(cursor, "audit", (int,))
    events = AuditEvent.objects.newest_first()
    if caller.agent is not None:
        events = events.filter(actor_pubkey=caller.agent.pubkey)
    if position:
        events = events.filter(pk__lt=position[0])
    # Newest first, so what is too old can only be the end of a page: no index on the time is needed.
    found = [event for event in events[: limit + 1] if since is None or event.at >= since]
    return page([(event, (event.pk,)) for event in found], limit, "audit")


def grants(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[CapabilityGrant]:
    """Return the newest grants first, dead ones too: an agent those it holds or passed on, people all."""
    position = after(cursor, "grants", (int,))
    found = CapabilityGrant.objects.select_related("subject").order_by("-pk")
    if caller.agent is not None:
        found = found.involving(caller.agent)
    if position:
        found = found.filter(pk__lt=position[0])
    return page([(grant, (grant.pk,)) for grant in found[: limit + 1]], limit, "grants")


def replay_entries(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[ReplayEntry]:
    """Return cached results, newest first: an agent those of its own tasks and of its own work, people all."""
    position = after(cursor, "replay", (int,))
    found = ReplayEntry.objects.order_by("-pk")
    if caller.agent is not None:
        found = found.filter(Q(sender_pubkey=caller.agent.pubkey) | Q(recipient_pubkey=caller.agent.pubkey))
    if position:
        found = found.filter(pk__lt=position[0])
    return page([(entry, (entry.pk,)) for entry in found[: limit + 1]], limit, "replay")


def deliveries(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[PushDelivery]:
    """Return callbacks, newest first, with what came of each attempt: an agent those of its own tasks, people all."""
    position = after(cursor, "deliveries", (int,))
    found = PushDelivery.objects.select_related("sender").prefetch_related("log").order_by("-pk")
    if caller.agent is not None:
        found = found.filter(sender=caller.agent)
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


def _depth_first(root: UUID, found: dict[UUID, Task], children: dict[UUID, list[Task]]) -> Iterator[tuple[Task, int]]:
    stack: list[tuple[UUID, int]] = [(root, 0)]
    while stack:
        task_id, depth = stack.pop()
        if task_id in found:
            yield found[task_id], depth
        stack.extend((child.uuid, depth + 1) for child in reversed(children.get(task_id, [])))


def _tasks(caller: Caller) -> TaskQuerySet:
    if caller.agent is not None and caller.sends_only:
        return Task.objects.sent_by(caller.agent)
    return Task.objects.visible_to(caller.agent) if caller.agent else Task.objects.all()


def _results(caller: Caller) -> ResultQuerySet:
    return Result.objects.addressed_to(caller.agent) if caller.agent else Result.objects.all()


def _leases(caller: Caller, wanted: QueueFilter) -> LeaseQuerySet:
    live = Lease.objects.live().with_task().order_by("leased_at", "pk")
    if caller.agent is not None:
        live = live.concerning(caller.agent)
    if wanted.min_lease_age is not None:
        live = live.filter(leased_at__lte=timezone.now() - wanted.min_lease_age)
    if wanted.deadline_within is not None:
        live = live.filter(task__deadline_ms__lte=epoch_ms(timezone.now() + wanted.deadline_within))
    return live


def _within_deadline(tasks: TaskQuerySet, wanted: QueueFilter) -> TaskQuerySet:
    if wanted.deadline_within is None:
        return tasks
    return tasks.filter(deadline_ms__lte=epoch_ms(timezone.now() + wanted.deadline_within))
