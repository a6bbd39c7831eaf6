"""Minute roll-ups: what happened when, kept by the cluster so that charts cost the same however many tasks there are.

Every row is counted once: by the roll-up of its minute, or by the compaction that drops it before that. What is not
rolled up yet is read from the rows themselves, so that the figures are right without the cluster, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.models import AuditEvent, Lease, Result, RollUp, RollUpTurn, Task
from mailbox.models.rollup import MINUTE, SETTLES_AFTER, floor
from mailbox.words.latencies import Latencies

KEPT = timedelta(days=7, hours=2)  # the widest range that pages show, and the hours that its ends are compared with
BITE = 10_000  # rows that one transaction reads, about; at least one minute, whatever is in it
WIDEST = 240  # minutes of one bite
LATER_IN_A_ROW = 500  # rows of later minutes after which none of an earlier one is expected

_COUNTS = ("queued_in", "leased", "ok", "partial", "error", "replayed")
_MARKS = ("last_task", "last_lease", "last_result")


@dataclass(slots=True)
class MinuteTally:
    """What happened in one minute at one agent, while it is being counted."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))
    waits: Latencies = field(default_factory=Latencies)
    runs: Latencies = field(default_factory=Latencies)

    def __iadd__(self, other: MinuteTally | RollUp) -> MinuteTally:
        for name in _COUNTS:
            self.counts[name] += other.counts[name] if isinstance(other, MinuteTally) else getattr(other, name)
        self.waits += other.waits if isinstance(other, MinuteTally) else Latencies(other.waits)
        self.runs += other.runs if isinstance(other, MinuteTally) else Latencies(other.runs)
        return self

    def row(self, agent: int | None, minute: datetime, **marks: Any) -> RollUp:
        told = {"waits": self.waits.as_text(), "runs": self.runs.as_text()}
        return RollUp(agent_id=agent, minute=minute, **self.counts, **told, **marks)


Tallies = defaultdict[tuple[int, datetime], MinuteTally]  # by agent and minute


def roll(now: datetime | None = None) -> int:
    """Roll up every minute that can no longer change and forget what is older than `KEPT`; return how many minutes.

    Works in bounded transactions, one bite of minutes each; a pass that is cut off leaves whole bites, and the next
    one catches up. Of two passes at once each minute is rolled up by one. Nothing is journalled: no decision is taken.
    """
    now = now or timezone.now()
    total, wide = 0, 1
    while True:
        with write_turns.turn(), transaction.atomic():
            RollUpTurn.take()
            minutes, rows = _bite(now, wide)
        if not minutes:
            break
        total += minutes
        wide = min(WIDEST, wide * 2) if rows < BITE // 2 else max(1, wide // 2)
    RollUp.objects.filter(minute__lt=now - KEPT).delete()
    return total


def keep(tasks: Sequence[int]) -> None:
    """Count what is not rolled up yet of these tasks, by primary key, which the current transaction then drops."""
    RollUpTurn.take()
    newest = RollUp.objects.newest()
    start = newest.through if newest else timezone.now() - KEPT
    found: Tallies = defaultdict(MinuteTally)
    _count_tasks(found, Task.objects.filter(pk__in=tasks, sent_at__gte=start).for_series())
    _count_leases(found, Lease.objects.filter(task__in=tasks, leased_at__gte=start).for_series())
    _count_results(found, Result.objects.filter(task__in=tasks, posted_at__gte=start).for_series())
    _store(found, is_open=True)


def _bite(now: datetime, wide: int) -> tuple[int, int]:
    """Roll up the next ``wide`` minutes, or as many as are over; return how many, and how many rows they had."""
    newest = RollUp.objects.newest()
    over = floor(now - SETTLES_AFTER)
    start = max(newest.through if newest else _first(over), floor(now - KEPT))
    end = min(start + wide * MINUTE, over)
    if end <= start:
        return 0, 0
    marks = {name: getattr(newest, name) if newest else 0 for name in (*_MARKS, "last_event")}
    found: Tallies = defaultdict(MinuteTally)
    rows = 0
    for mark, count, queryset in (
        ("last_task", _count_tasks, Task.objects.all().for_series()),
        ("last_lease", _count_leases, Lease.objects.all().for_series()),
        ("last_result", _count_results, Result.objects.all().for_series()),
    ):
        read, marks[mark] = _between(queryset, marks[mark], start, end)
        count(found, read)
        rows += len(read)
    marks["last_event"] = AuditEvent.objects.last_before(end, marks["last_event"])
    _store(found)
    _sum_up(start, end, marks)
    return (end - start) // MINUTE, rows


def _first(over: datetime) -> datetime:
    """Return the minute in which everything began; of an empty hub the last one that is over."""
    first = min((row[1] for row in Task.objects.order_by("pk").for_series()[:LATER_IN_A_ROW]), default=over - MINUTE)
    return min(floor(first), over)


def _between(
    queryset: QuerySet[Any, tuple[Any, ...]], mark: int, start: datetime, end: datetime
) -> tuple[list[tuple[Any, ...]], int]:
    """Return the rows stamped in the range, and the mark below which all are older than its end.

    Keys are given out in the order of the stamps, but for decisions that waited and for clocks apart: so the walk ends
    where many rows in a row are stamped later than any of these, and needs no index but the primary key.
    """
    read, later, in_a_row = [], None, 0
    for row in queryset.filter(pk__gt=mark).order_by("pk").iterator(chunk_size=2000):
        pk, at = row[:2]
        if at >= end:
            later = later or pk
            in_a_row = in_a_row + 1 if at >= end + SETTLES_AFTER else 0
            if in_a_row == LATER_IN_A_ROW:
                break
            continue
        in_a_row = 0
        mark = pk if later is None else mark
        if at >= start:
            read.append(row)
    return read, mark


def _count_tasks(found: Tallies, rows: Iterable[tuple[Any, ...]]) -> None:
    for _, sent_at, recipient in rows:
        found[recipient, floor(sent_at)].counts["queued_in"] += 1


def _count_leases(found: Tallies, rows: Iterable[tuple[Any, ...]]) -> None:
    for _, leased_at, holder, queued_at in rows:
        tally = found[holder, floor(leased_at)]
        tally.counts["leased"] += 1
        if queued_at is not None:
            tally.waits.note(leased_at - queued_at)


def _count_results(found: Tallies, rows: Iterable[tuple[Any, ...]]) -> None:
    for _, posted_at, recipient, status, replayed_from, leased_at in rows:
        tally = found[recipient, floor(posted_at)]
        tally.counts[status] += 1
        tally.counts["replayed"] += replayed_from is not None
        if leased_at is not None:
            tally.runs.note(posted_at - leased_at)


def _store(found: Tallies, *, is_open: bool = False) -> None:
    """Add what was found to the rows that there are already, and close those unless they are to stay open."""
    if not found:
        return
    minutes = [minute for _, minute in found]
    there = RollUp.objects.exclude(agent=None).filter(is_open=True, minute__gte=min(minutes), minute__lte=max(minutes))
    for row in there:
        if row.agent_id is not None and (key := (row.agent_id, row.minute)) in found:
            found[key] += row
            row.delete()
    RollUp.objects.bulk_create(
        tally.row(agent, minute, is_open=is_open) for (agent, minute), tally in sorted(found.items())
    )


def _sum_up(start: datetime, end: datetime, marks: dict[str, int]) -> None:
    """Close the minutes of a bite: nothing is open there any more, and the hub has the sums of its agents."""
    agents = RollUp.objects.exclude(agent=None).filter(minute__gte=start, minute__lt=end)
    agents.filter(is_open=True).update(is_open=False)
    sums: defaultdict[datetime, MinuteTally] = defaultdict(MinuteTally)
    for row in agents:
        sums[row.minute] += row
    last = sums.pop(end - MINUTE, MinuteTally())
    RollUp.objects.bulk_create([tally.row(None, minute) for minute, tally in sums.items()])
    last.row(None, end - MINUTE, **marks).save(force_insert=True)
