"""Lists: the queue, leases, recent tasks and results, the journal, grants, cached results, callbacks, agents.

A list has only rows that the caller may see. It is filtered before it is limited.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from heapq import merge
from operator import itemgetter

from django.utils import timezone

from mailbox import models
from mailbox.access.callers import Caller
from mailbox.access.capabilities import visible_leases, visible_tasks
from mailbox.database import outages
from mailbox.database.paging import Page, Position, after, in_turn, keyset, newest, page
from mailbox.inspection.tasks import QueueEntry
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.task_indexes import OF_OTHER_DIALECTS
from mailbox.words.errors import InvalidRequestError
from mailbox.words.ids import IdPattern
from mailbox.words.times import epoch_ms

# The states of the queue, in its order.
_STATES = (models.Task.State.QUEUED, models.Task.State.IN_FLIGHT, models.Task.State.INTERRUPTED)


class Side(StrEnum):
    """Which tasks of an agent a list has: those that it sent, those that it received, or both."""

    ANY = "any"
    SENT = "sent"
    RECEIVED = "received"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFilter:
    """The filters of the queue. None is no filter.

    ``min_lease_age`` leaves out younger leases, and no other task. ``deadline_within`` keeps only tasks whose deadline
    has passed, or passes within that time. Source: Covenant A2A, status surface.
    """

    state: models.Task.State | None = None
    min_lease_age: timedelta | None = None
    deadline_within: timedelta | None = None


def queue(
    caller: Caller, wanted: QueueFilter = QueueFilter(), *, limit: int = 10, cursor: str | None = None
) -> Page[QueueEntry]:
    """Return a page of queued tasks in the order in which they will be leased, then of leases, oldest first.

    Interrupted tasks come last, the longest interrupted first.

    Raises `InvalidRequestError` for an invalid cursor, as all lists do.
    """
    position = after(cursor, "queue", (str, datetime, int))
    return page(_entries(caller, wanted, position, most=limit + 1), limit, "queue")


def recent_tasks(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[models.Task]:
    """Return a page of queued tasks, oldest first. Leases no task."""
    tasks = visible_tasks(caller).queued().with_parties()
    return keyset(tasks, "queued_at", datetime, limit=limit, cursor=cursor, name="tasks")


def all_tasks(
    caller: Caller,
    *,
    side: Side = Side.ANY,
    state: models.Task.State | None = None,
    limit: int = 10,
    cursor: str | None = None,
) -> Page[QueueEntry]:
    """Return a page of tasks, newest first: an agent's own tasks of this side, all for people.

    ``state`` None: tasks in any state.
    """
    position = after(cursor, "all tasks", (int,))
    tasks = models.Task.objects.all() if state is None else models.Task.objects.filter(state=state)
    visible, party = tasks.with_parties().with_leader(), caller.party
    if party is None:
        sides = [visible]
    elif side == Side.ANY:
        sides = [visible.sent_by(party), visible.received_only_by(party)]
    else:
        sides = [visible.sent_by(party) if side == Side.SENT else visible.addressed_to(party)]
    rows = [in_turn(tasks, ("pk",), position, newest_first=True, most=limit + 1) for tasks in sides]
    return _with_leases(page(merge(*rows, key=itemgetter(1), reverse=True), limit, "all tasks"))


def tasks_beginning_with(
    caller: Caller, prefix: str, *, limit: int = 10, cursor: str | None = None
) -> Page[QueueEntry]:
    """Return a page of the tasks whose ids begin with these hexadecimal digits, newest first.

    Raises `InvalidRequestError` for fewer digits than 4 and for other text.
    """
    if (pattern := IdPattern.parse(prefix)) is None:
        raise InvalidRequestError({"id_prefix": "not the beginning of an id"})
    rows = visible_tasks(caller).matching(pattern).with_parties().with_leader()
    return _with_leases(newest(rows, limit=limit, cursor=cursor, name="tasks by prefix"))


def _with_leases(read: Page[models.Task]) -> Page[QueueEntry]:
    live = models.Lease.objects.live().filter(task__in=[task.pk for task in read.items]).select_related("holder")
    leases = {lease.task_id: lease for lease in live}
    return Page([QueueEntry(task=task, lease=leases.get(task.pk)) for task in read.items], read.next_cursor)


def recent_results(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[models.Result]:
    """Return a page of results that were not drained yet, oldest first. Drains no result."""
    results = models.Result.objects.addressed_to(caller.party).pending().with_task_id()
    return keyset(results, "posted_at", datetime, limit=limit, cursor=cursor, name="results")


def delivered_results(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[models.Result]:
    """Return a page of results that were drained and not acknowledged, the earliest drained first. Drains no result.

    An agent gets the results of tasks that it sent. People get all results. The read is confirmed as
    `outages.confirm_reads` does, because a restarted agent learns here what it has received.
    """
    results = models.Result.objects.addressed_to(caller.party).delivered().with_task_id()
    read = keyset(results, "delivered_at", datetime, limit=limit, cursor=cursor, name="delivered")
    outages.confirm_reads()
    return read


def leases(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[models.Lease]:
    """Return a page of live leases, oldest first: an agent's own leases, all leases for people.

    The read is confirmed as `delivered_results` does.
    """
    live = models.Lease.objects.live().of_holder(caller.party).with_task()
    read = keyset(live, "leased_at", datetime, limit=limit, cursor=cursor, name="leases")
    outages.confirm_reads()
    return read


def newest_sent(caller: Caller, *, dialect: str, limit: int, offset: int) -> tuple[Sequence[models.Task], int]:
    """Return a slice of the tasks that the caller sent in ``dialect``, newest first, and the number of all of them.

    ``dialect`` is not the mailbox's own, whose tasks are in no such list. The slice ends before ``limit`` where a page
    would. The next slice begins after its last task.
    """
    sent = models.Task.objects.filter(OF_OTHER_DIALECTS, dialect=dialect).sent_by(caller.party)
    start = sent.order_by("-pk").values_list("pk", flat=True)[offset : offset + 1].first()
    if start is None:
        return [], sent.count()
    rows = in_turn(sent.whole().filter(pk__lte=start), ("pk",), newest_first=True, most=limit + 1)
    return page(rows, limit, "sent").items, sent.count()


def recent_events(
    caller: Caller, *, limit: int = 20, cursor: str | None = None, since: datetime | None = None
) -> Page[models.AuditEvent]:
    """Return a page of journal rows, newest first, none older than ``since``.

    An agent gets the rows of its own requests. People get all rows.
    """
    position = after(cursor, "audit", (int,))
    events = models.AuditEvent.objects.visible_to(caller.party)
    rows = in_turn(events, ("pk",), position, newest_first=True, most=limit + 1)
    # The newest rows come first, so older rows are at the end of a page. No index on the time is needed.
    return page(((event, at) for event, at in rows if since is None or event.at >= since), limit, "audit")


def grants(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[models.CapabilityGrant]:
    """Return a page of grants, newest first, also revoked and expired grants.

    An agent gets the grants that it holds or passed on. People get all grants.
    """
    rows = models.CapabilityGrant.objects.visible_to(caller.party).select_related("subject")
    return newest(rows, limit=limit, cursor=cursor, name="grants")


def replay_entries(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[models.ReplayEntry]:
    """Return a page of cached results, newest first.

    An agent gets the results of tasks that it sent, and of work that it did. People get all cached results.
    """
    rows = models.ReplayEntry.objects.visible_to(caller.party).defer("content", "error_message", "parts")
    return newest(rows, limit=limit, cursor=cursor, name="replay")


def deliveries(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[models.PushDelivery]:
    """Return a page of callbacks with their attempts, newest first.

    An agent gets the callbacks of tasks that it sent. People get all callbacks.
    """
    rows = models.PushDelivery.objects.visible_to(caller.party).select_related("sender").prefetch_related("log")
    rows = rows.defer("body")
    return newest(rows, limit=limit, cursor=cursor, name="deliveries")


def agents(*, limit: int = 10, cursor: str | None = None) -> Page[models.Agent]:
    """Return a page of agents by name. Every caller may list all agents."""
    rows = models.Agent.objects.all()
    return keyset(rows, "display", str, is_unique=True, limit=limit, cursor=cursor, name="agents")


def _entries(
    caller: Caller, wanted: QueueFilter, position: Position | None, *, most: int
) -> Iterator[tuple[QueueEntry, Position]]:
    """Yield the entries of the queue after ``position`` with their positions, at most ``most`` of each state."""
    begun, *place = position or (str(_STATES[0]),)
    for state in _STATES[_STATES.index(models.Task.State(begun)) :]:
        if wanted.state not in (None, state):
            continue
        start = tuple(place) or None if state == begun else None
        if state == models.Task.State.IN_FLIGHT:
            for lease, at in in_turn(_leases(caller, wanted), ("leased_at", "pk"), start, most=most):
                yield QueueEntry(task=lease.task, lease=lease), (str(state), *at)
        else:
            tasks = visible_tasks(caller).filter(state=state).with_parties().with_leader()
            if wanted.deadline_within is not None:
                tasks = tasks.filter(deadline_ms__lte=epoch_ms(timezone.now() + wanted.deadline_within))
            since = "queued_at" if state == models.Task.State.QUEUED else "status_at"
            for task, at in in_turn(tasks, (since, "pk"), start, most=most):
                yield QueueEntry(task=task), (str(state), *at)


def _leases(caller: Caller, wanted: QueueFilter) -> LeaseQuerySet:
    live = visible_leases(caller).live().with_task()
    if wanted.min_lease_age is not None:
        live = live.filter(leased_at__lte=timezone.now() - wanted.min_lease_age)
    if wanted.deadline_within is not None:
        live = live.filter(task__deadline_ms__lte=epoch_ms(timezone.now() + wanted.deadline_within))
    return live
