from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from dashboard.base.page import choice_of
from dashboard.base.saved_views import SavablePage
from dashboard.figures import thresholds, waterfall
from dashboard.figures.waterfall import FAILED, TaskBar, Window
from mailbox.inspection import trees
from mailbox.inspection.trees import ListedTree

ROWS = 20
SINCE: Mapping[str, timedelta] = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
STATES: Mapping[str, str] = {"": "All", "open": "Open", "ended": "Ended", "failed": "With failures", "stale": "Stale"}
IS_IN: Mapping[str, Callable[[ListedTree], bool]] = {
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
        asked = self.request.GET
        return {
            "state": choice_of("state", asked.get("state"), STATES),
            "since": choice_of("since", asked.get("since"), SINCE),
            "agent": asked.get("agent", "").strip().lower()[:100],
        }

    def get(self, request: HttpRequest) -> HttpResponse:
        chosen, cursor = self._chosen(), request.GET.get("cursor", "")
        state, since, agent = chosen.values()
        found = trees.newest(
            limit=ROWS,
            before=int(cursor) if cursor.isdecimal() and cursor.isascii() and len(cursor) < 19 else None,
            since=self.now - SINCE[since] if since else None,
            matches=lambda tree: IS_IN[state](tree) and _names(tree, agent),
            stale=(self.now, thresholds.stale_after()),
        )
        context = {
            "trees": [self._drawn(tree) for tree in found.items],
            "next": self._with(chosen, cursor=str(found.next_key)) if found.next_key is not None else "",
            "first": self._with(chosen) if cursor else "",
            "states": [(word, self._with(chosen, state=one), one == state) for one, word in STATES.items()],
            "spans": [("Any time", self._with(chosen, since=""), not since)]
            + [(f"Last {one}", self._with(chosen, since=one), one == since) for one in SINCE],
            "is_filtered": any(chosen.values()),
            **chosen,
            **self.saved_views(),
        }
        shown = [[(leaf.pk, leaf.state) for leaf in tree.tasks] for tree in found.items]
        is_open = any(tree.is_open for tree in found.items)
        return self.live("ops/trees.html", context, (shown, request.GET.urlencode(), is_open and self.now.minute))

    def _with(self, chosen: Mapping[str, str], **changes: str) -> str:
        return f"?{urlencode({name: value for name, value in {**chosen, **changes}.items() if value})}"

    def _drawn(self, tree: ListedTree) -> dict[str, Any]:
        bars = [_bar(leaf) for leaf in tree.tasks]
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


def _names(tree: ListedTree, agent: str) -> bool:
    """Whether the agent sent or received the root. The beginning of a name is enough."""
    parties = (tree.task.sender.display, tree.task.recipient.display) if tree.task else ()
    return not agent or any(party.lower().startswith(agent) for party in parties)


def _bar(leaf: trees.Leaf) -> TaskBar:
    return TaskBar(
        uuid=leaf.uuid,
        parent=None,
        name="",
        sender="",
        recipient="",
        kind="",
        state=leaf.state,
        sent_at=leaf.sent_at,
        resolved_at=leaf.resolved_at,
        attempts=(),
    )
