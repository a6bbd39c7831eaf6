"""Trees of tasks by ``parent``, each task with its leases, repairs and result.

The tasks of a tree take a fixed number of queries, or one for each level. Payloads are read a few at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from mailbox.access.callers import Caller
from mailbox.access.visibility import visible_tasks
from mailbox.database import descent
from mailbox.database.paging import AT_ONCE, Page, Position, after, page
from mailbox.models import AuditEvent, Lease, Result, Task
from mailbox.models.result import ResultQuerySet
from mailbox.words.errors import InvalidRequestError, UnknownTaskError
from mailbox.words.kinds import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A task of a tree. ``leases`` are ordered by attempt; ``repairs`` are the journal rows that ended some of them.

    ``opening`` is the beginning of the intent text. ``result`` is None until the task is resolved.
    """

    task: Task
    opening: str
    leases: Sequence[Lease]
    repairs: Sequence[AuditEvent]
    result: Result | None

    def repair_of(self, lease: Lease) -> AuditEvent | None:
        """Return the journal row of the repair that ended this lease; None if another decision ended it."""
        return next((row for row in self.repairs if row.fields.get("lease_id") == str(lease.lease_id)), None)


def members(root: UUID, *, limit: int) -> Sequence[Member]:
    """Return the task ``root`` and the tasks below it, level by level, with their leases and results.

    At most ``limit`` tasks are returned. The root may be absent, because any id can be a parent. Payloads are not read.
    Raises `UnknownTaskError` without the root and without a child. Four queries at most.
    """
    tasks = list(Task.objects.below(root, limit).with_parties().with_opening().order_by("sent_at", "pk"))
    if not tasks:
        raise UnknownTaskError.of(root)
    return list(_with_lives(tasks, Result.objects.defer("content")))


def every_member(root: UUID) -> Iterator[Member]:
    """Yield all tasks of the tree with their payloads, oldest first, a few of them read by one query."""
    keys = list(Task.objects.below(root).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), AT_ONCE):
        chunk = Task.objects.filter(pk__in=keys[start : start + AT_ONCE])
        yield from _with_lives(list(chunk.with_parties().order_by("pk")), Result.objects.all())


def _with_lives(tasks: Sequence[Task], kept: ResultQuerySet) -> Iterator[Member]:
    leases: dict[int, list[Lease]] = defaultdict(list)
    repairs: dict[UUID | None, list[AuditEvent]] = defaultdict(list)
    for lease in Lease.objects.filter(task__in=tasks).select_related("holder").order_by("attempt"):
        leases[lease.task_id].append(lease)
    repaired = [task.uuid for task in tasks if any(lease.end in _BY_REPAIR for lease in leases[task.pk])]
    if repaired:
        for row in AuditEvent.objects.filter(task_id__in=repaired, kind=Kind.REPAIR_APPLIED):
            repairs[row.task_id].append(row)
    results = {row.task_id: row for row in kept.filter(task__in=tasks)}
    for task in tasks:
        yield Member(
            task=task,
            opening=getattr(task, "opening", None) or task.intent_text[: descent.OPENING],
            leases=leases[task.pk],
            repairs=repairs[task.uuid],
            result=results.get(task.pk),
        )


_BY_REPAIR = (Lease.End.REQUEUE, Lease.End.AUTO_REQUEUE, Lease.End.FORCE_ERROR)


TREE_LIMIT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A task of a tree. ``depth`` counts from the root. ``result`` is None until the task is resolved."""

    task: Task
    depth: int
    result: Result | None


def tree(caller: Caller, root: UUID, *, cursor: str | None = None) -> Page[Node]:
    """Return a page of the task ``root`` and the tasks below it that the caller may see, depth first.

    The oldest child comes first. A page ends where its payloads would exceed the budget of a page. The root may be
    absent, because any id can be a parent. At most `TREE_LIMIT` nodes are returned. Raises `UnknownTaskError` if
    neither the root nor a child is visible, and `InvalidRequestError` for a cursor of another tree. Source: Covenant
    A2A, "a task graph".
    """
    position = after(cursor, f"tree {root}", (str,))
    visible = visible_tasks(caller)
    found = {uuid: pk for pk, uuid in visible.filter(uuid=root).values_list("pk", "uuid")}
    children: dict[UUID, list[UUID]] = {}
    level = [root]
    seen = {root}
    while level and len(found) < TREE_LIMIT:
        below = visible.filter(parent__in=level).order_by("sent_at", "pk").values_list("pk", "uuid", "parent")
        fresh = [row for row in below[: TREE_LIMIT - len(found)] if row[1] not in seen]
        for pk, uuid, parent in fresh:
            children.setdefault(parent or root, []).append(uuid)
            found[uuid] = pk
            seen.add(uuid)
        level = [uuid for _, uuid, _ in fresh]
    if not found:
        raise UnknownTaskError.of(root)
    order = [(found[uuid], uuid, depth) for uuid, depth in _depth_first(root, children) if uuid in found]
    if position:
        places = [number for number, (_, uuid, _) in enumerate(order, start=1) if str(uuid) == position[0]]
        if not places:
            raise InvalidRequestError({"cursor": "not a cursor of this list"})
        order = order[places[0] :]
    return page(_nodes(order), TREE_LIMIT, f"tree {root}")


def _nodes(order: Sequence[tuple[int, UUID, int]]) -> Iterator[tuple[Node, Position]]:
    """Yield the nodes of these (pk, uuid, depth) with their positions, a few tasks read by one query."""
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        keys = [pk for pk, _, _ in some]
        tasks = Task.objects.with_parties().with_leader().in_bulk(keys)
        results = {one.task_id: one for one in Result.objects.filter(task__in=keys).with_task_id()}
        for pk, uuid, depth in some:
            if pk in tasks:
                yield Node(task=tasks[pk], depth=depth, result=results.get(pk)), (str(uuid),)


def _depth_first(root: UUID, children: Mapping[UUID, Sequence[UUID]]) -> Iterator[tuple[UUID, int]]:
    stack: list[tuple[UUID, int]] = [(root, 0)]
    while stack:
        task_id, depth = stack.pop()
        yield task_id, depth
        stack.extend((child, depth + 1) for child in reversed(children.get(task_id, [])))
