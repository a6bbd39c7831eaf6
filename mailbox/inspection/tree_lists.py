"""The list of task trees that have children, the tree with the newest child first.

The walk goes over the newest children by an index, and finds their roots. No tree is read beyond a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField

from mailbox.database import compiled
from mailbox.database.compiled import Given, GivenList, Time
from mailbox.inspection import tree_roots
from mailbox.models import Lease, Task
from mailbox.models.rollup import during

WALKED = 1_000  # children of one walk
MOST_TASKS = 2_000  # tasks below the roots of one step
STEPS = 4  # of one page; a page with few matches leads on from there


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A task of a listed tree. ``state`` is its outcome, or its state while it is open."""

    pk: int
    uuid: UUID
    state: str
    sent_at: datetime
    resolved_at: datetime | None


@dataclass(slots=True, kw_only=True)
class ListedTree:
    """A tree. ``task`` is its root with its parties and opening, None after its removal.

    ``tasks`` are its tasks, level by level, and ``is_cut`` says that there may be more of them.
    """

    root: UUID
    task: Task | None
    tasks: list[Leaf] = field(default_factory=list)
    is_cut: bool = False

    @property
    def is_open(self) -> bool:
        return any(leaf.resolved_at is None for leaf in self.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTrees:
    """Some trees, and the key before which the next page begins; None at the end."""

    items: Sequence[ListedTree]
    next_key: int | None


def newest(
    *,
    limit: int,
    before: int | None,
    since: datetime | None,
    matches: Callable[[ListedTree], bool],
    stale: tuple[datetime, timedelta],
) -> ListedTrees:
    """Return at most ``limit`` trees that match, whose newest child has a key below ``before``, None for any.

    ``since`` leaves older children out. ``stale`` is the time and the age from which a lease is stale.
    """
    found: list[ListedTree] = []
    left: Sequence[tuple[UUID, int]] = ()
    newer, end = before, before
    for _ in range(STEPS):
        if not left:
            newer = end
            left, end = _walk(newer, since)
        number = limit - len(found)
        trees = _read([root for root, _ in left[:number]], stale)
        found += [tree for tree in trees if not _has_newer(tree, newer) and matches(tree)]
        left = left[number:]
        if len(found) >= limit or (not left and end is None):
            break
    return ListedTrees(items=found, next_key=left[0][1] + 1 if left else end)


def children(before: int | Given | None, since: Time | None) -> Any:
    """Return the keys and parents of the children that `newest` walks, newest first."""
    found = Task.objects.filter(parent__isnull=False).order_by("-pk")
    if before is not None:
        older: Any = {"pk__lt": before}
        found = found.filter(**older)
    if since is not None:
        found = found.filter(during("sent_at", since, None, "last_task"))
    return found.values_list("pk", "parent")


@compiled.once
def _children(has_before: bool, has_since: bool, most: int) -> Any:
    before, since = Given("before", BigIntegerField()), Given("since")
    return children(before if has_before else None, since if has_since else None)[:most]


def _walk(before: int | None, since: datetime | None) -> tuple[Sequence[tuple[UUID, int]], int | None]:
    """Return the roots of the newest children, each with the key of its newest child, and the key of the next walk.

    None is the end.
    """
    walked = _children(before is not None, since is not None, WALKED).rows(before=before, since=since)
    above = tree_roots.of_each({parent for _, parent in walked})
    newest_of: dict[UUID, int] = {}
    for pk, parent in walked:
        newest_of.setdefault(above.get(parent, parent), pk)
    return list(newest_of.items()), walked[-1][0] if len(walked) == WALKED else None


def _has_newer(tree: ListedTree, key: int | None) -> bool:
    """Whether a child of the tree is as new as ``key``, so that an earlier walk found the tree; None: no walk did."""
    return key is not None and any(leaf.pk >= key and leaf.uuid != tree.root for leaf in tree.tasks)


def _read(chosen: Sequence[UUID], stale: tuple[datetime, timedelta]) -> list[ListedTree]:
    if not chosen:
        return []
    tasks: dict[UUID, Task] = {task.uuid: task for task in _opened().rows(ids=chosen)}
    trees = {root: ListedTree(root=root, task=tasks.get(root)) for root in chosen}
    for root, task in tasks.items():
        trees[root].tasks.append(_leaf((task.pk, root, task.state, task.outcome, task.sent_at, task.resolved_at)))
    owner = {root: root for root in chosen}
    level, left = list(chosen), MOST_TASKS
    while level and left > 0:
        rows = _below(MOST_TASKS + 1).rows(ids=level)[: left + 1]
        fresh: list[UUID] = []
        for parent, *row in rows[:left]:
            if row[1] not in owner:
                owner[row[1]] = owner[parent]
                trees[owner[parent]].tasks.append(_leaf(row))
                fresh.append(row[1])
        left -= len(rows)
        level = level if left < 0 else fresh
    for uuid in level:
        trees[owner[uuid]].is_cut = True
    _mark_stale(trees, stale)
    return list(trees.values())


_FIELDS = ("pk", "uuid", "state", "outcome", "sent_at", "resolved_at")


@compiled.once
def _opened() -> Any:
    return Task.objects.filter(uuid__among=GivenList("ids")).with_parties().with_opening()


@compiled.once
def _below(most: int) -> Any:
    found: Any = Task.objects.filter(parent__among=GivenList("ids"))
    return found.order_by("-pk").values_list("parent", *_FIELDS)[:most]


@compiled.once
def _live_leases() -> Any:
    return Lease.objects.live().filter(task__pk__among=GivenList("tasks"))


def _leaf(row: Sequence[Any]) -> Leaf:
    pk, uuid, state, outcome, sent_at, resolved_at = row
    return Leaf(pk=pk, uuid=uuid, state=outcome or state, sent_at=sent_at, resolved_at=resolved_at)


def _mark_stale(trees: Mapping[UUID, ListedTree], stale: tuple[datetime, timedelta]) -> None:
    now, after = stale
    leased = [leaf.pk for tree in trees.values() for leaf in tree.tasks if leaf.state == Task.State.IN_FLIGHT]
    if not leased:
        return
    late = {lease.task_id for lease in _live_leases().rows(tasks=leased) if lease.is_stale(now, after)}
    for tree in trees.values():
        tree.tasks = [
            Leaf(pk=leaf.pk, uuid=leaf.uuid, state="stale", sent_at=leaf.sent_at, resolved_at=None)
            if leaf.pk in late
            else leaf
            for leaf in tree.tasks
        ]
