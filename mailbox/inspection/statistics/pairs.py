"""The tasks and results by sender and recipient."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from mailbox.inspection.statistics import backlogs
from mailbox.models import Agent, PairCount, Result, RollUpTurn, Task
from mailbox.models.failure import minute_of

UNCOUNTED = 5_000  # the newest tasks, and results, without a count that are read
PAIRS = 20_000  # the largest pairs that are read


class Pair(NamedTuple):
    """The tasks from one agent to another, by primary key, and the results of such tasks."""

    sender: int
    recipient: int
    sent: int
    results: int
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The pairs of a range. ``is_cut`` is whether some tasks or pairs are missing, because there are too many."""

    pairs: Sequence[Pair]
    is_cut: bool


def read(start: datetime, *, span: int) -> Pairs:
    """Return the pairs since ``start``, which begins a slot of ``span`` minutes, in no order."""
    turn = RollUpTurn.read()
    rows = PairCount.objects.since(span, minute_of(start) // span).by_pair().order_by("-tasks", "-ends")[: PAIRS + 1]
    found = [Pair(*row) for row in rows]
    tasks = Task.objects.filter(pk__gt=turn.paired_task).order_by("-pk")
    results = Result.objects.filter(pk__gt=turn.paired_result).order_by("-pk")
    sent = list(tasks.values_list("sender", "recipient", "sent_at")[: UNCOUNTED + 1])
    ended = list(results.values_list("sender", "recipient", "posted_at", "status")[: UNCOUNTED + 1])
    fresh = [
        *(Pair(sender, to, 1, 0, 0) for sender, to, at in sent[:UNCOUNTED] if at >= start),
        *(
            Pair(sender, to, 0, 1, int(status == Result.Status.ERROR))
            for sender, to, at, status in ended[:UNCOUNTED]
            if at >= start
        ),
    ]
    is_cut = len(found) > PAIRS or any(len(rows) > UNCOUNTED and rows[-1][2] >= start for rows in (sent, ended))
    return Pairs(pairs=_summed([*found[:PAIRS], *fresh]), is_cut=is_cut)


def _summed(parts: Iterable[Pair]) -> list[Pair]:
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for sender, recipient, *counts in parts:
        known = sums[sender, recipient]
        for place, count in enumerate(counts):
            known[place] += count
    return [Pair(sender, recipient, *counts) for (sender, recipient), counts in sums.items()]


def with_backlog(keys: Iterable[int]) -> dict[int, Agent]:
    """Return these agents by primary key, each with ``queued`` and ``leased``."""
    return {agent.pk: agent for agent in backlogs.with_backlog(Agent.objects.filter(pk__in=list(keys)))}


def floor(moment: datetime, span: int) -> datetime:
    """Return the beginning of the slot of ``moment``."""
    return moment - timedelta(minutes=minute_of(moment) % span, seconds=moment.second, microseconds=moment.microsecond)
