"""The inbox of an agent: the tasks addressed to it that the caller may see, in the order in which they were sent."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.access.capabilities import visible_tasks
from mailbox.database.paging import Page, keyset
from mailbox.models import Agent, Task
from mailbox.models.task import TaskQuerySet


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many tasks an inbox holds, how many of them are pending, and how many its agent could lease now.

    A pending task is queued and within its deadline. It cannot be leased while its agent is paused, or while it waits
    on another task.
    """

    tasks: int
    pending: int
    leasable: int


def tasks_to(
    caller: Caller,
    owner: Agent,
    *,
    states: Collection[Task.State] = (),
    outcomes: Collection[Task.Outcome] = (),
    limit: int,
    cursor: str | None = None,
) -> Page[Task]:
    """Return a page of the inbox of ``owner``, each task with its parties and its result.

    Empty ``states`` are any state, and empty ``outcomes`` any outcome. Raises `InvalidRequestError` for an invalid
    cursor.
    """
    tasks = _addressed(caller, owner)
    if states:
        tasks = tasks.filter(state__in=states)
    if outcomes:
        tasks = tasks.filter(outcome__in=outcomes)
    return keyset(tasks, "pk", int, is_unique=True, limit=limit, cursor=cursor, name="inbox")


def pending(caller: Caller, owner: Agent) -> Sequence[Task]:
    """Return the queued tasks of the inbox that are within their deadline, also those that cannot be leased now."""
    now = timezone.now()
    return [task for task in _addressed(caller, owner).queued() if not task.is_overdue(now)]


def leasable(caller: Caller, owner: Agent, *, limit: int, budget: int) -> Page[Task]:
    """Return the first page of the tasks that ``owner`` could lease now, of at most ``budget`` bytes of text."""
    tasks = _addressed(caller, owner).leasable_now(timezone.now())
    return keyset(tasks, "pk", int, is_unique=True, limit=limit, cursor=None, name="leasable", budget=budget)


def counts(caller: Caller, owner: Agent) -> Counts:
    """Return how many tasks the inbox of ``owner`` holds."""
    tasks, now = _addressed(caller, owner), timezone.now()
    return Counts(
        tasks=tasks.count(),
        pending=tasks.queued().count() - tasks.queued().overdue(now).count(),
        leasable=tasks.leasable_now(now).count(),
    )


def _addressed(caller: Caller, owner: Agent) -> TaskQuerySet:
    return visible_tasks(caller).addressed_to(owner).with_parties().select_related("result").order_by("pk")
