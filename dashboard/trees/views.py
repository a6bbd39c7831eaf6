"""The list of task trees, and the page of a tree by time."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from dashboard.base import export
from dashboard.base.page import DashboardView, choice_of, id_in, number_in
from dashboard.figures import thresholds
from dashboard.saved_views import SavablePage
from dashboard.trees import waterfall
from dashboard.trees.rows import MORE, MOST_ROWS, SHOWN, Forest, Row, Selection
from dashboard.trees.waterfall import FAILED, LeaseSpan, TaskBar, Window
from mailbox.inspection import trees
from mailbox.inspection.search import terms
from mailbox.words import json_text

LEAST: Mapping[str, timedelta] = {
    "100ms": timedelta(milliseconds=100),
    "1s": timedelta(seconds=1),
    "10s": timedelta(seconds=10),
    "1m": timedelta(minutes=1),
}
DEPTHS = ("1", "2", "3", "all")
ONLY = {"": "All", "errors": "Errors", "stale": "Stale", "open": "Open"}
APART = {"in_flight": "-state:stale", "queued": "-state:waiting"}  # excludes a state that lists count within it
KIND_SPELLED = 200  # characters of the text that stands for a kind
MARKS = 50  # failed members that a group's bar marks
KEPT = ("focus", "depth", "only", "min", "q", "from", "to", "open")  # parameters that links keep
MOVES = (
    ("in", "Zoom in", "+"),
    ("out", "Zoom out", "\N{MINUS SIGN}"),
    ("left", "Earlier", "←"),
    ("right", "Later", "→"),
)
OPENED_MOST = 200  # nodes that an address may open
OF_A_TASK = export.columns(
    "id=uuid parent sender=sender.display recipient=recipient.display intent_text task_kind state awaits outcome "
    "attempt turn sent_at resolved_at"
)
OF_A_LEASE = export.columns("lease_id holder=holder.display attempt leased_at ended_at end")
OF_A_RESULT = export.columns("status error_message")
ROWS = 20
SINCE: Mapping[str, timedelta] = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
STATES: Mapping[str, str] = {"": "All", "open": "Open", "ended": "Ended", "failed": "With failures", "stale": "Stale"}


class TreePage(DashboardView):
    """A task tree by time. It shows waiting times and failures."""

    def get(self, request: HttpRequest, root: UUID) -> HttpResponse:
        stale_after = thresholds.stale_after()
        members = trees.members(root, limit=MOST_ROWS + 1)
        is_cut, members = len(members) > MOST_ROWS, members[:MOST_ROWS]
        bars = [_bar(member, self._state(member, stale_after)) for member in members]
        forest, selection = Forest(bars, root, self.now), self._selection()
        whole, rows, path = Window.around(bars, self.now), forest.rows(selection), forest.chain()
        window = whole.part(*(number_in(request.GET.get(name, ""), 14) for name in ("from", "to")))
        critical = {bar.uuid for bar in path} if len(path) > 1 else set()
        focused = next((member for member in members if member.task.uuid == selection.focus), None)
        context = {
            "root": root,
            "top": forest.tops[0] if forest.tops and forest.tops[0].uuid == root else None,
            "total": len(bars),
            "is_cut": is_cut,
            "limit": MOST_ROWS,
            "rows": [
                self._drawn(row, window, selection) | {"is_critical": not row.group and row.bar.uuid in critical}
                for row in rows[:MOST_ROWS]
            ],
            "has_more_rows": len(rows) > MOST_ROWS,
            "levels": forest.levels,
            "failed": sum(bar.has_failed for bar in bars),
            "stale_here": sum(bar.state == "stale" for bar in bars),
            "only_failed": self._with(only="errors"),
            "only_stale": self._with(only="stale"),
            "chain": path[:6],
            "wall": waterfall.duration(whole.length),
            "ticks": window.ticks(),
            **self._zoom(whole, window, bars),
            "asked": selection,
            "focused": focused,
            "lease": next((one for one in focused.leases if one.ended_at is None), None) if focused else None,
            "q": request.GET.get("q", "")[:100],
            **self._links(selection),
        }
        is_open = any(bar.resolved_at is None for bar in bars)
        shown = [(member.task.pk, member.task.journal_seq) for member in members]
        return self.live("ops/tree.html", context, (shown, request.GET.urlencode(), is_open and self.now.minute))

    def _state(self, member: trees.Member, stale_after: timedelta) -> str:
        if any(lease.is_stale(self.now, stale_after) for lease in member.leases):
            return "stale"
        return "waiting" if member.task.waits_on_id is not None else member.task.outcome or member.task.state

    def _selection(self) -> Selection:
        params = self.request.GET
        depth = params.get("depth", "")
        if number_in(depth, 3) is None:
            depth = choice_of("depth", depth, DEPTHS)
        opened = {}
        for text in params.getlist("open")[:OPENED_MOST]:
            name, _, count = text.partition(":")
            opened[name] = SHOWN if (number := number_in(count, 4)) is None else number
        return Selection(
            focus=id_in(params.get("focus")),
            depth=number_in(depth),
            all_levels=depth == "all",
            only=choice_of("only", params.get("only"), ONLY),
            least=LEAST.get(choice_of("min", params.get("min"), LEAST), timedelta(0)),
            opened=opened,
        )

    def _zoom(self, whole: Window, window: Window, bars: Sequence[TaskBar]) -> dict[str, Any]:
        """Return the map of the tree, and the links to other windows, "" for a move that changes nothing."""
        to = {name: self._at(span) if span else "" for name, span in waterfall.moves(whole, window).items()}
        start, end = whole.place(window.start), whole.place(window.end)
        is_part = window.origin is not None
        return {
            "map": waterfall.bars_of_map(bars, whole, self.now),
            "map_ms": whole.span()[1],
            "map_window": {"x": start, "width": max(waterfall.LEAST, round(end - start, 1)), "right": end},
            "zooms": [(words, sign, to[name]) for name, words, sign in MOVES],
            "whole": self._with(**{"from": [], "to": []}) if is_part else "",
            "window_words": [waterfall.duration(one - whole.start) for one in (window.start, window.end)],
        }

    def _at(self, span: waterfall.Span) -> str:
        return self._with(**{"from": str(span[0]), "to": str(span[1])})

    def _links(self, selection: Selection) -> dict[str, Any]:
        """Return the choices above the table as (words, address, whether it is chosen)."""
        depth = self.request.GET.get("depth", "")
        minimum = self.request.GET.get("min", "")
        return {
            "only_links": [(word, self._with(only=only), selection.only == only) for only, word in ONLY.items()],
            "least_links": [("Any duration", self._with(min=""), not selection.least)]
            + [(f"≥ {name}", self._with(min=name), minimum == name) for name in LEAST],
            "depth_links": [(one, self._with(depth=one, open=[]), depth == one) for one in DEPTHS],
            "folded": self._with(depth="1", open=[]),
            "unfolded": self._with(depth="all", open=[]),
        }

    def _with(self, **changes: Any) -> str:
        """Return the address of this tree with some parameters changed. Empty parameters are left out."""
        kept = {name: self.request.GET.getlist(name) for name in KEPT} | changes
        return f"?{urlencode([(name, value) for name, value in kept.items() if value not in ('', [''])], doseq=True)}"

    def _drawn(self, row: Row, window: Window, selection: Selection) -> dict[str, Any]:
        opened = self.request.GET.getlist("open")
        name = row.group.key if row.group else str(row.bar.uuid)
        others = [one for one in opened if one.partition(":")[0] != name]
        drawn: dict[str, Any] = {"row": row, "bar": row.bar, "indent": range(min(row.depth, 12))}
        if row.group:
            members = row.group.members
            start, end = min(bar.sent_at for bar in members), max(bar.ends_at(self.now) for bar in members)
            return drawn | {
                "open": self._with(open=[*others, f"{name}:{SHOWN}"]),
                "more": self._with(open=[*others, f"{name}:{len(members) - row.group.left + MORE}"]),
                "next": min(MORE, row.group.left),
                "close": self._with(open=others),
                "x": min(window.place(start), waterfall.WIDTH - waterfall.LEAST),
                "width": max(waterfall.LEAST, round(window.place(end) - window.place(start), 1)),
                "is_shown": window.shows(start, end),
                "marks": self._failed(members[:MARKS], window),
                "state": row.group.counts[0][0],
                "counts": [(state, count, _listed(row.bar, state)) for state, count in row.group.counts],
                "lasts": waterfall.duration(end - start),
            }
        q = self.request.GET.get("q", "").strip().lower()
        ends_at = row.bar.ends_at(self.now)
        return drawn | {
            "segments": waterfall.segments(row.bar, window, self.now),
            "left": window.place(row.bar.sent_at),
            "right": window.place(ends_at),
            "is_shown": window.shows(row.bar.sent_at, ends_at),
            "story": waterfall.story(row.bar, self.now),
            "lasts": waterfall.duration(row.bar.lasts(self.now)),
            "late": waterfall.duration(row.late) if row.late else "",
            "gap": next((one for one in reversed(row.bar.attempts) if one.repair), None),
            "is_focus": row.bar.uuid == selection.focus,
            "is_hit": bool(q) and q in row.bar.name.lower(),
            "focus": self._with(focus="" if row.bar.uuid == selection.focus else str(row.bar.uuid)),
            "open": self._with(open=[*others, name]),
            "close": self._with(open=others) if name in selection.opened else "",
        }

    def _failed(self, bars: Sequence[TaskBar], window: Window) -> list[float]:
        """Return the places at which tasks failed."""
        ends = [bar.ends_at(self.now) for bar in bars if bar.has_failed]
        return [min(window.place(end), waterfall.WIDTH - 3) for end in ends if window.shows(end, end)]


class TreeJson(DashboardView):
    """The whole tree as JSON, of any size, with payloads, attempts and results."""

    def get(self, request: HttpRequest, root: UUID) -> HttpResponseBase:
        trees.members(root, limit=2)  # raises for a tree without tasks; the root itself need not exist
        response = StreamingHttpResponse(_whole(root), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="tree-{root}.json"'
        return response


def _whole(root: UUID) -> Iterator[str]:
    yield f'{{"root":"{root}","tasks":['
    for number, member in enumerate(trees.every_member(root)):
        yield f"{',' if number else ''}\n{json_text.dumps(_plain(member))}"
    yield "\n]}\n"


def _plain(member: trees.Member) -> dict[str, Any]:
    result = member.result
    return {
        **export.record(member.task, OF_A_TASK),
        "leases": [export.record(lease, OF_A_LEASE) for lease in member.leases],
        "result": result
        and {
            **export.record(result, OF_A_RESULT),
            "content": result.blocks,
            "replayed_from": str(result.replayed_from) if result.replayed_from else None,
        },
    }


def _bar(member: trees.Member, state: str) -> TaskBar:
    task = member.task
    return TaskBar(
        uuid=task.uuid,
        parent=task.parent,
        name=member.opening,
        sender=task.sender.display,
        recipient=task.recipient.display,
        kind=task.task_kind or member.opening,
        state=state,
        sent_at=task.sent_at,
        resolved_at=task.resolved_at,
        attempts=[_attempt(member, lease) for lease in member.leases],
        replayed_from=member.result.replayed_from if member.result else None,
        key=task.idempotency_key or "",
    )


def _listed(bar: TaskBar, state: str) -> str:
    """Return the query for the siblings of ``bar`` with its kind and in ``state``."""
    parts = [f"parent:{bar.parent}", terms.term("to", bar.recipient), f"state:{state}", APART.get(state, "")]
    words = bar.name.partition('"')[0].strip()[:KIND_SPELLED]
    alike = terms.term("kind", bar.kind) if bar.kind != bar.name else words and f'"{words}"'
    return " ".join(filter(None, [*parts, alike]))


def _attempt(member: trees.Member, lease: Any) -> LeaseSpan:
    repair = member.repair_of(lease)
    return LeaseSpan(
        number=lease.attempt,
        leased_at=lease.leased_at,
        ended_at=lease.ended_at,
        end=lease.end or "",
        by=repair.actor if repair else "",
        repair=repair.pk if repair else None,
    )


IS_IN: Mapping[str, Callable[[trees.ListedTree], bool]] = {
    "": lambda tree: True,
    "open": lambda tree: tree.is_open,
    "ended": lambda tree: not tree.is_open,
    "failed": lambda tree: any(leaf.state in FAILED for leaf in tree.tasks),
    "stale": lambda tree: any(leaf.state == "stale" for leaf in tree.tasks),
}


class TreeList(SavablePage):
    """The trees with children, the one with the newest child first."""

    name = "trees"

    def chosen_values(self) -> dict[str, str]:
        return {name: value for name, value in self._chosen().items() if value}

    def _chosen(self) -> dict[str, str]:
        params = self.request.GET
        return {
            "state": choice_of("state", params.get("state"), STATES),
            "since": choice_of("since", params.get("since"), SINCE),
            "agent": params.get("agent", "").strip().lower()[:100],
        }

    def get(self, request: HttpRequest) -> HttpResponse:
        chosen, cursor = self._chosen(), request.GET.get("cursor", "")
        state, since, agent = chosen.values()
        newest = trees.newest(
            limit=ROWS,
            before=number_in(cursor),
            since=self.now - SINCE[since] if since else None,
            matches=lambda tree: IS_IN[state](tree) and _names(tree, agent),
            stale=(self.now, thresholds.stale_after()),
        )
        context = {
            "trees": [self._drawn(tree) for tree in newest.items],
            "next": self._with(chosen, cursor=str(newest.next_key)) if newest.next_key is not None else "",
            "first": self._with(chosen) if cursor else "",
            "states": [(word, self._with(chosen, state=one), one == state) for one, word in STATES.items()],
            "spans": [("Any time", self._with(chosen, since=""), not since)]
            + [(f"Last {one}", self._with(chosen, since=one), one == since) for one in SINCE],
            "is_filtered": any(chosen.values()),
            **chosen,
            **self.saved_views(),
        }
        shown = [[(leaf.pk, leaf.state) for leaf in tree.tasks] for tree in newest.items]
        is_open = any(tree.is_open for tree in newest.items)
        return self.live("ops/trees.html", context, (shown, request.GET.urlencode(), is_open and self.now.minute))

    def _with(self, chosen: Mapping[str, str], **changes: str) -> str:
        return f"?{urlencode({name: value for name, value in {**chosen, **changes}.items() if value})}"

    def _drawn(self, tree: trees.ListedTree) -> dict[str, Any]:
        bars = [
            TaskBar(uuid=leaf.uuid, state=leaf.state, sent_at=leaf.sent_at, resolved_at=leaf.resolved_at)
            for leaf in tree.tasks
        ]
        whole = Window.around(bars, self.now)
        counts = Counter(bar.state for bar in bars).most_common()
        return {
            "tree": tree,
            "size": len(bars),
            "mix": waterfall.shares(counts),
            "map": waterfall.bars_of_map(bars, whole, self.now),
            "wall": waterfall.duration(whole.length),
            "started": whole.start,
            "ended": None if tree.is_open else whole.end,
        }


def _names(tree: trees.ListedTree, agent: str) -> bool:
    """Whether the agent sent or received the root. The beginning of a name is enough."""
    parties = (tree.task.sender.display, tree.task.recipient.display) if tree.task else ()
    return not agent or any(party.lower().startswith(agent) for party in parties)
