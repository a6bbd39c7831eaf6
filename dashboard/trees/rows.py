"""The table rows of a task tree. Siblings of a kind form groups, deep levels fold, and filters keep the ancestors."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from dashboard.trees.waterfall import TaskBar

ALIKE = 5  # siblings of a kind; more form a group
SHOWN = 20  # members of a newly opened group
MORE = 50
MOST_ROWS = 2000
FOLDED_ABOVE = 200  # tasks; a larger tree first shows two levels
FOLDED_TO = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The choices of the address. ``depth`` None unfolds as many levels as the size allows, ``all_levels`` all of them.

    ``opened`` names folded nodes by task id, and groups by their key. Its value is the number of members to show.
    """

    focus: UUID | None = None
    depth: int | None = None
    all_levels: bool = False
    only: str = ""
    least: timedelta = timedelta(0)
    opened: Mapping[str, int] = field(default_factory=dict)

    @property
    def filters(self) -> bool:
        return bool(self.only or self.least)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Siblings with the same recipient and kind, failed tasks first. An open group hides ``left`` members."""

    key: str
    members: Sequence[TaskBar]
    is_open: bool
    left: int

    @property
    def counts(self) -> list[tuple[str, int]]:
        """The number of members in each state, the most frequent state first."""
        return Counter(bar.state for bar in self.members).most_common()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the table: a task, or a group whose ``bar`` is its first member.

    ``hidden`` counts the folded tasks below it. ``late`` is the time from its parent's end to its own.
    """

    bar: TaskBar
    depth: int
    group: Group | None = None
    hidden: int = 0
    is_opened: bool = False
    has_failed_below: bool = False
    late: timedelta = timedelta(0)


class Forest:
    """All bars of a tree. If the root is missing, its children are the top."""

    def __init__(self, bars: Sequence[TaskBar], root: UUID, now: datetime) -> None:
        self.bars = {bar.uuid: bar for bar in bars}
        self.now = now
        below: dict[UUID | None, list[TaskBar]] = defaultdict(list)
        for bar in bars:
            below[bar.parent].append(bar)
        top = self.bars.get(root)
        self.tops = [top] if top else below[root]
        self.children: dict[UUID, list[TaskBar]] = {}
        self.depths = {bar.uuid: 0 for bar in self.tops}
        order = list(self.tops)
        for bar in order:
            self.children[bar.uuid] = [one for one in below[bar.uuid] if one.uuid not in self.depths]
            for child in self.children[bar.uuid]:
                self.depths[child.uuid] = self.depths[bar.uuid] + 1
                order.append(child)
        self.order = order
        self.below = dict.fromkeys(self.depths, 0)
        for bar in reversed(order):
            if bar.parent in self.below and self.depths[bar.uuid]:
                self.below[bar.parent] += 1 + self.below[bar.uuid]
        self.failed_below = self._ancestors_of(bar for bar in order if bar.has_failed)

    @property
    def levels(self) -> int:
        return max(self.depths.values(), default=0)

    def chain(self) -> list[TaskBar]:
        """Return the critical path: from the top, each level's task that ended last."""
        path: list[TaskBar] = []
        level = self.tops
        while level:
            path.append(max(level, key=lambda bar: bar.ends_at(self.now)))
            level = self.children[path[-1].uuid]
        return path

    def rows(self, selection: Selection) -> list[Row]:
        """Return the rows from top to bottom, at most one more than `MOST_ROWS`. That row shows that there are more."""
        kept = self._kept(selection)
        to_focus = self._to(selection.focus)
        reach = self._reach(selection)
        rows: list[Row] = []
        stack: list[Row] = list(reversed(list(self._siblings(self.tops, "top", 0, kept, selection))))
        while stack and len(rows) <= MOST_ROWS:
            row = stack.pop()
            rows.append(row)
            if row.group:
                stack += reversed(self._members(row.group, row.depth))
            elif self.children[row.bar.uuid] and self._is_open(row, reach, to_focus, selection):
                below = self._siblings(self.children[row.bar.uuid], str(row.bar.uuid), row.depth + 1, kept, selection)
                stack += reversed(list(below))
                rows[-1] = self._row(row.bar, row.depth, is_opened=True)
            elif self.children[row.bar.uuid]:
                rows[-1] = self._row(row.bar, row.depth, hidden=self.below[row.bar.uuid])
        return rows

    def _is_open(self, row: Row, reach: int | None, to_focus: set[UUID], selection: Selection) -> bool:
        near = reach is None or self.depths[row.bar.uuid] < reach
        return near or row.bar.uuid in to_focus or str(row.bar.uuid) in selection.opened

    def _reach(self, selection: Selection) -> int | None:
        if selection.all_levels or (selection.filters and selection.depth is None):
            return None
        if selection.depth is None:
            return FOLDED_TO if len(self.order) > FOLDED_ABOVE else None
        return selection.depth

    def _siblings(
        self, bars: Sequence[TaskBar], above: str, depth: int, kept: set[UUID], selection: Selection
    ) -> Iterator[Row]:
        families: dict[tuple[str, str], list[TaskBar]] = defaultdict(list)
        for bar in bars:
            if bar.uuid in kept:
                families[bar.recipient, bar.kind].append(bar)
        alike = [family for family in families.values() if len(family) > ALIKE]
        groups = {
            family[0].uuid: self._group(family, f"{above}.{place}", selection) for place, family in enumerate(alike)
        }
        grouped = {bar.uuid for family in alike for bar in family}
        for bar in bars:
            if bar.uuid in groups:
                yield Row(bar=bar, depth=depth, group=groups[bar.uuid])
            elif bar.uuid in kept and bar.uuid not in grouped:
                yield self._row(bar, depth)

    def _group(self, family: Sequence[TaskBar], key: str, selection: Selection) -> Group:
        members = sorted(family, key=lambda bar: not bar.has_failed)
        shown = selection.opened.get(key, 0)
        inside = self._to(selection.focus) | {selection.focus}
        for place, bar in enumerate(members):
            if bar.uuid in inside:
                shown = max(shown, SHOWN, place + 1)
        return Group(key=key, members=members, is_open=shown > 0, left=max(0, len(members) - shown) if shown else 0)

    def _members(self, group: Group, depth: int) -> list[Row]:
        if not group.is_open:
            return []
        return [self._row(bar, depth + 1) for bar in group.members[: len(group.members) - group.left]]

    def _row(self, bar: TaskBar, depth: int, *, hidden: int = 0, is_opened: bool = False) -> Row:
        above = self.bars.get(bar.parent) if bar.parent and self.depths[bar.uuid] else None
        late = bar.ends_at(self.now) - above.resolved_at if above and above.resolved_at else timedelta(0)
        return Row(
            bar=bar,
            depth=depth,
            hidden=hidden,
            is_opened=is_opened,
            has_failed_below=bar.uuid in self.failed_below,
            late=max(timedelta(0), late),
        )

    def _kept(self, selection: Selection) -> set[UUID]:
        if not selection.filters:
            return set(self.depths)
        fits = [bar for bar in self.order if self._fits(bar, selection)]
        return {bar.uuid for bar in fits} | self._ancestors_of(fits) | ({selection.focus} if selection.focus else set())

    def _fits(self, bar: TaskBar, selection: Selection) -> bool:
        has = {"errors": bar.has_failed, "stale": bar.state == "stale", "open": bar.resolved_at is None}
        return has.get(selection.only, True) and bar.lasts(self.now) >= selection.least

    def _to(self, focus: UUID | None) -> set[UUID]:
        """Return the tasks that must be open for the focus to be seen."""
        return self._ancestors_of([self.bars[focus]]) if focus is not None and focus in self.depths else set()

    def _ancestors_of(self, bars: Sequence[TaskBar] | Iterator[TaskBar]) -> set[UUID]:
        ancestors: set[UUID] = set()
        for bar in bars:
            above = bar.parent
            while above in self.depths and above not in ancestors and self.depths[bar.uuid]:
                ancestors.add(above)
                bar = self.bars[above]
                above = bar.parent
        return ancestors
