"""Trees of tasks by ``parent``, each task with its leases, repairs and result, and the list of such trees.

The tasks of a tree take a fixed number of queries, or one for each level. Payloads are read a few at a time. The list
has the tree with the newest child first. It goes over the newest children by an index, and finds their roots. No tree
is read beyond a limit.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import BigIntegerField

from mailbox.access.callers import Caller
from mailbox.access.capabilities import visible_tasks
from mailbox.database import compiled, descent, listed, outages
from mailbox.database.paging import AT_ONCE, Page, Position, after, page
from mailbox.models import AuditEvent, Lease, Result, Task
from mailbox.models.result import ResultQuerySet
from mailbox.models.rollup import during
from mailbox.words.errors import InvalidRequestError, UnknownTaskError
from mailbox.words.kinds import Kind

_BY_REPAIR = (Lease.End.REQUEUE, Lease.End.AUTO_REQUEUE, Lease.End.FORCE_ERROR)
TREE_LIMIT = 1000
DEEPEST = 100  # levels; above that the task of the last level counts as the root
_ROOTS = """
WITH RECURSIVE up(uuid, parent, depth) AS (
  SELECT uuid, parent, 0 FROM mailbox_task WHERE uuid IN ({ids})
  UNION SELECT up.parent, task.parent, up.depth + 1
  FROM up LEFT JOIN mailbox_task task ON task.uuid = up.parent WHERE up.parent IS NOT NULL AND up.depth < {deepest}
) SELECT DISTINCT uuid FROM up WHERE parent IS NULL OR depth = {deepest}"""
_ROOT_OF_EACH = """
WITH RECURSIVE up(origin, uuid, parent, depth) AS (
  SELECT uuid, uuid, parent, 0 FROM mailbox_task WHERE uuid IN ({ids})
  UNION SELECT up.origin, up.parent, task.parent, up.depth + 1
  FROM up LEFT JOIN mailbox_task task ON task.uuid = up.parent WHERE up.parent IS NOT NULL AND up.depth < {deepest}
) SELECT origin, uuid FROM up WHERE parent IS NULL OR depth = {deepest}"""
WALKED = 1_000  # children of one walk
MOST_TASKS = 2_000  # tasks below the roots of one step
STEPS = 4  # of one page; a page with few matches leads on from there
_FIELDS = ("pk", "uuid", "state", "outcome", "sent_at", "resolved_at")


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
    keys = {uuid: pk for pk, uuid in visible.filter(uuid=root).values_list("pk", "uuid")}
    children: dict[UUID, list[UUID]] = {}
    level = [root]
    seen = {root}
    while level and len(keys) < TREE_LIMIT:
        below = visible.filter(parent__in=level).order_by("sent_at", "pk").values_list("pk", "uuid", "parent")
        fresh = [row for row in below[: TREE_LIMIT - len(keys)] if row[1] not in seen]
        for pk, uuid, parent in fresh:
            children.setdefault(parent or root, []).append(uuid)
            keys[uuid] = pk
            seen.add(uuid)
        level = [uuid for _, uuid, _ in fresh]
    if not keys:
        outages.confirm_reads()
        raise UnknownTaskError.of(root)
    order = [(keys[uuid], uuid, depth) for uuid, depth in _depth_first(root, children) if uuid in keys]
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


def of(tasks: Collection[UUID]) -> list[UUID]:
    """Return the roots of these tasks, each once, in order of their ids. One query.

    A parent without a row is a root too: it is compacted, or any id.
    """
    return sorted(_uuid(root) for (root,) in _rows(_ROOTS, tasks))


def of_each(tasks: Collection[UUID]) -> dict[UUID, UUID]:
    """Return the root of each of these tasks that has a row. One query."""
    return {_uuid(origin): _uuid(root) for origin, root in _rows(_ROOT_OF_EACH, tasks)}


def _rows(query: str, tasks: Collection[UUID]) -> list[Any]:
    if not tasks:
        return []
    text = query.format(ids=listed.UUIDS[connection.vendor], deepest=DEEPEST)
    with connection.cursor() as cursor:
        cursor.execute(text, {"ids": listed.array(list(tasks))})
        return list(cursor)


def _uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)


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
    listed: list[ListedTree] = []
    left: Sequence[tuple[UUID, int]] = ()
    newer, end = before, before
    for _ in range(STEPS):
        if not left:
            newer = end
            left, end = _walk(newer, since)
        number = limit - len(listed)
        trees = _read([root for root, _ in left[:number]], stale)
        listed += [tree for tree in trees if not _has_newer(tree, newer) and matches(tree)]
        left = left[number:]
        if len(listed) >= limit or (not left and end is None):
            break
    return ListedTrees(items=listed, next_key=left[0][1] + 1 if left else end)


def children(before: int | compiled.Parameter | None, since: compiled.Time | None) -> Any:
    """Return the keys and parents of the children that `newest` walks, newest first."""
    rows = Task.objects.filter(parent__isnull=False).order_by("-pk")
    if before is not None:
        older: Any = {"pk__lt": before}
        rows = rows.filter(**older)
    if since is not None:
        rows = rows.filter(during("sent_at", since, None, "last_task"))
    return rows.values_list("pk", "parent")


@compiled.once
def _children(has_before: bool, has_since: bool, most: int) -> Any:
    before, since = compiled.Parameter("before", BigIntegerField()), compiled.Parameter("since")
    return children(before if has_before else None, since if has_since else None)[:most]


def _walk(before: int | None, since: datetime | None) -> tuple[Sequence[tuple[UUID, int]], int | None]:
    """Return the roots of the newest children, each with the key of its newest child, and the key of the next walk.

    None is the end.
    """
    walked = _children(before is not None, since is not None, WALKED).rows(before=before, since=since)
    above = of_each({parent for _, parent in walked})
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


@compiled.once
def _opened() -> Any:
    return Task.objects.filter(uuid__among=compiled.ListParameter("ids")).with_parties().with_opening()


@compiled.once
def _below(most: int) -> Any:
    rows: Any = Task.objects.filter(parent__among=compiled.ListParameter("ids"))
    return rows.order_by("-pk").values_list("parent", *_FIELDS)[:most]


@compiled.once
def _live_leases() -> Any:
    return Lease.objects.live().filter(task__pk__among=compiled.ListParameter("tasks"))


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
