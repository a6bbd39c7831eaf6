"""Trees of tasks by ``parent``, each task with its leases, repairs and result.

A tree of any size takes a fixed number of queries, or one for each level.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from mailbox.database import descent
from mailbox.gate.callers import Caller
from mailbox.gate.visibility import visible_tasks
from mailbox.models import AuditEvent, Lease, Result, Task
from mailbox.models.result import ResultQuerySet
from mailbox.words.errors import UnknownTaskError
from mailbox.words.kinds import Kind

CHUNK = 500


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
    """Yield all tasks of the tree with their payloads, oldest first. They are read `CHUNK` at a time."""
    keys = list(Task.objects.below(root).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), CHUNK):
        chunk = Task.objects.filter(pk__in=keys[start : start + CHUNK])
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


def tree(caller: Caller, root: UUID) -> Sequence[Node]:
    """Return the task ``root`` and the tasks below it that the caller may see, depth first, oldest child first.

    The root may be absent, because any id can be a parent. At most `TREE_LIMIT` nodes are returned. Raises
    `UnknownTaskError` if neither the root nor a child is visible. Source: Covenant A2A, "a task graph".
    """
    visible = visible_tasks(caller).with_parties().select_related("waits_on")
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


def _depth_first(root: UUID, found: dict[UUID, Task], children: dict[UUID, list[Task]]) -> Iterator[tuple[Task, int]]:
    stack: list[tuple[UUID, int]] = [(root, 0)]
    while stack:
        task_id, depth = stack.pop()
        if task_id in found:
            yield found[task_id], depth
        stack.extend((child.uuid, depth + 1) for child in reversed(children.get(task_id, [])))
