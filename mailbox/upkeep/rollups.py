"""Roll-ups of each minute: counts by agent, by pair of sender and recipient, and the depth of queues.

A chart or the map reads them, and costs the same for any number of tasks. Each row is counted once: by the roll-up of
its minute, or by the compaction that deletes it earlier. Figures count rows without a roll-up directly, so they are
right without the cluster. No other row keeps the depth of queues and leases, which charts of the past need.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.database.paging import Counted
from mailbox.models import Agent, AuditEvent, Depth, Lease, PairCount, Result, RollUp, RollUpTurn, Task
from mailbox.models.failure import minute_of
from mailbox.models.rollup import MINUTE, SETTLES_AFTER, SPANS, floor
from mailbox.repairs.auto_retry import AutoRetry
from mailbox.words.latencies import Latencies

KEPT = timedelta(days=7, hours=2)  # the widest range of the pages, and the hours that they compare its ends with
BITE = 10_000  # rows that one transaction reads, approximately; it reads at least one minute
WIDEST = 240  # minutes that one transaction rolls up
LATER_IN_A_ROW = 500  # rows of later minutes after which no row of an earlier minute is expected

_COUNTS = ("queued_in", "leased", "ok", "partial", "error", "replayed")
_MARKS = ("last_task", "last_lease", "last_result")
AGENTS = 100  # the busiest agents, which have rows of their own
COUNTED_TO = 100_000  # tasks of the hub
OF_AGENT = 10_000  # tasks or leases of one agent
PAIRS_KEPT = timedelta(hours=26)  # the widest range of the map, and a slot
PAIRED_AT_ONCE = 2_000  # tasks, and as many results, that one transaction counts
MOST_PAIRED = 100_000  # of both that one pass counts; after an upgrade the others follow, pass by pass
Key = tuple[int, int, int, int]  # span, slot, sender, recipient
Counts = defaultdict[Key, list[int]]  # sent, results, errors


@dataclass(slots=True)
class MinuteTally:
    """The counts of one agent and minute, while rows are added."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))
    waits: Latencies = field(default_factory=Latencies)
    runs: Latencies = field(default_factory=Latencies)

    def __iadd__(self, other: RollUp | RollUpTurn) -> MinuteTally:
        for name in _COUNTS:
            self.counts[name] += getattr(other, name)
        self.waits += Latencies(other.waits)
        self.runs += Latencies(other.runs)
        return self

    def columns(self) -> dict[str, Any]:
        return {**self.counts, "waits": self.waits.as_text(), "runs": self.runs.as_text()}

    def row(self, agent: int | None, minute: datetime, **marks: Any) -> RollUp:
        return RollUp(agent_id=agent, minute=minute, **self.columns(), **marks)


Tallies = defaultdict[tuple[int, datetime], MinuteTally]  # by agent and minute


def roll(now: datetime | None = None) -> int:
    """Roll up every minute that can no longer change, and delete roll-ups older than `KEPT`; return how many minutes.

    Each transaction rolls up some minutes. If a pass is cut off, the next pass continues. Of two passes at once, one
    rolls up each minute. Journals nothing, because no decision is taken.
    """
    now = now or timezone.now()
    total, wide = 0, 1
    while True:
        with write_turns.turn(), transaction.atomic():
            minutes, rows = _bite(now, wide, RollUpTurn.take())
        if not minutes:
            break
        total += minutes
        wide = min(WIDEST, wide * 2) if rows < BITE // 2 else max(1, wide // 2)
    RollUp.objects.filter(minute__lt=now - KEPT).delete()
    return total


def keep(tasks: Sequence[int]) -> None:
    """Count the rows without a roll-up of these tasks, by primary key. The current transaction deletes them next."""
    RollUpTurn.take()
    newest = RollUp.objects.newest()
    start = newest.through if newest else timezone.now() - KEPT
    tallies: Tallies = defaultdict(MinuteTally)
    _count_tasks(tallies, Task.objects.filter(pk__in=tasks, sent_at__gte=start).for_series())
    _count_leases(tallies, Lease.objects.filter(task__in=tasks, leased_at__gte=start).for_series())
    _count_results(tallies, Result.objects.filter(task__in=tasks, posted_at__gte=start).for_series())
    _store(tallies, is_open=True)


def _bite(now: datetime, wide: int, turn: RollUpTurn) -> tuple[int, int]:
    """Roll up at most the next ``wide`` minutes; return how many, and how many rows they had."""
    newest = RollUp.objects.newest()
    over = floor(now - SETTLES_AFTER)
    start = max(newest.through if newest else _first(over), floor(now - KEPT))
    end = min(start + wide * MINUTE, over)
    if end <= start:
        return 0, 0
    marks = {name: getattr(newest, name) if newest else 0 for name in (*_MARKS, "last_event")}
    tallies: Tallies = defaultdict(MinuteTally)
    rows = 0
    for mark, count, queryset in (
        ("last_task", _count_tasks, Task.objects.all().for_series()),
        ("last_lease", _count_leases, Lease.objects.all().for_series()),
        ("last_result", _count_results, Result.objects.all().for_series()),
    ):
        read, marks[mark] = _between(queryset, marks[mark], start, end)
        count(tallies, read)
        rows += len(read)
    marks["last_event"] = AuditEvent.objects.last_before(end, marks["last_event"])
    _store(tallies)
    _add_up(turn, _sum_up(start, end, marks))
    return (end - start) // MINUTE, rows


def _first(over: datetime) -> datetime:
    """Return the minute of the first task; for an empty hub the last minute that is over."""
    first = min((row[1] for row in Task.objects.order_by("pk").for_series()[:LATER_IN_A_ROW]), default=over - MINUTE)
    return min(floor(first), over)


def _between(
    queryset: QuerySet[Any, tuple[Any, ...]], mark: int, start: datetime, end: datetime
) -> tuple[list[tuple[Any, ...]], int]:
    """Return the rows of the range by time, and the highest key below which all rows are older than its end.

    Keys and times have nearly the same order: a decision may have waited, and clocks may differ. So the rows are read
    by key until `LATER_IN_A_ROW` of them in a row are later than the range. No index on the time is needed.
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


def _count_tasks(tallies: Tallies, rows: Iterable[tuple[Any, ...]]) -> None:
    for _, sent_at, recipient in rows:
        tallies[recipient, floor(sent_at)].counts["queued_in"] += 1


def _count_leases(tallies: Tallies, rows: Iterable[tuple[Any, ...]]) -> None:
    for _, leased_at, holder, queued_at in rows:
        tally = tallies[holder, floor(leased_at)]
        tally.counts["leased"] += 1
        if queued_at is not None:
            tally.waits.note(leased_at - queued_at)


def _count_results(tallies: Tallies, rows: Iterable[tuple[Any, ...]]) -> None:
    for _, posted_at, recipient, status, replayed_from, leased_at in rows:
        tally = tallies[recipient, floor(posted_at)]
        tally.counts[status] += 1
        tally.counts["replayed"] += replayed_from is not None
        if leased_at is not None:
            tally.runs.note(posted_at - leased_at)


def _store(tallies: Tallies, *, is_open: bool = False) -> None:
    """Store the counts, added to open roll-ups of the same agents and minutes. ``is_open`` keeps the roll-ups open."""
    if not tallies:
        return
    minutes = [minute for _, minute in tallies]
    there = RollUp.objects.exclude(agent=None).filter(is_open=True, minute__gte=min(minutes), minute__lte=max(minutes))
    for row in there:
        if row.agent_id is not None and (key := (row.agent_id, row.minute)) in tallies:
            tallies[key] += row
            row.delete()
    RollUp.objects.bulk_create(
        tally.row(agent, minute, is_open=is_open) for (agent, minute), tally in sorted(tallies.items())
    )


def _sum_up(start: datetime, end: datetime, marks: dict[str, int]) -> list[RollUp]:
    """Close the roll-ups of these minutes. Store and return the sums of all agents, one for each minute."""
    agents = RollUp.objects.exclude(agent=None).filter(minute__gte=start, minute__lt=end)
    agents.filter(is_open=True).update(is_open=False)
    sums: defaultdict[datetime, MinuteTally] = defaultdict(MinuteTally)
    for row in agents:
        sums[row.minute] += row
    last = sums.pop(end - MINUTE, MinuteTally())
    rows = [tally.row(None, minute) for minute, tally in sums.items()]
    RollUp.objects.bulk_create(rows)
    newest = last.row(None, end - MINUTE, **marks)
    newest.save(force_insert=True)
    return [*rows, newest]


def _add_up(turn: RollUpTurn, minutes: Iterable[RollUp]) -> None:
    """Add the sums of these minutes to those of all minutes before."""
    sums = MinuteTally()
    sums += turn
    for minute in minutes:
        sums += minute
    for name, value in sums.columns().items():
        setattr(turn, name, value)
    turn.save()


def measure(now: datetime | None = None) -> int:
    """Count queued tasks and leases of the hub and its busiest agents; return how many rows this minute got.

    A second call in the same minute changes nothing. Rows older than `KEPT` are deleted.
    """
    now = now or timezone.now()
    minute = floor(now)
    if Depth.objects.of(None).filter(minute=minute).exists():
        return 0
    live, after = Lease.objects.live(), AutoRetry.from_settings().policy.min_lease_age
    hub = Depth(
        minute=minute,
        queued=Task.objects.queued().order_by()[:COUNTED_TO].count(),
        leased=live.count(),
        stale=Lease.objects.stale(now, after).count(),
    )
    rows = [hub, *_of_agents(minute, Lease.objects.stale(now, after))]
    with write_turns.turn(), transaction.atomic():
        Depth.objects.bulk_create(rows, ignore_conflicts=True)
        Depth.objects.filter(minute__lt=minute - KEPT).delete()
    return len(rows)


def _of_agents(minute: datetime, stale: QuerySet[Lease]) -> list[Depth]:
    to_it = Task.objects.queued().filter(recipient=OuterRef("pk"))
    # Two counts, each by an index of its own: leasable tasks, and tasks that wait on another.
    queued = [Counted.up_to(OF_AGENT, to_it.filter(waits_on__isnull=waits)) for waits in (True, False)]
    agents = Agent.objects.annotate(
        queued=queued[0] + queued[1],
        leased=Counted.up_to(OF_AGENT, Lease.objects.live().filter(holder=OuterRef("pk"))),
        old=Counted.up_to(OF_AGENT, stale.filter(holder=OuterRef("pk"))),
    ).filter(Q(queued__gt=0) | Q(leased__gt=0))
    rows = agents.order_by("-queued", "-leased").values_list("pk", "queued", "leased", "old")[:AGENTS]
    return [Depth(agent_id=pk, minute=minute, queued=q, leased=held, stale=old) for pk, q, held, old in rows]


def count_pairs(now: datetime | None = None) -> int:
    """Count the tasks and results that can no longer change, and delete counts older than `KEPT`; return how many.

    Each is counted once. A task that compaction deletes within `SETTLES_AFTER` is not counted. Journals nothing.
    """
    now = now or timezone.now()
    total = 0
    while total < MOST_PAIRED:
        with write_turns.turn(), transaction.atomic():
            counted = _batch(RollUpTurn.take(), now)
        total += counted
        if not counted:
            break
    for span in SPANS:
        PairCount.objects.filter(span=span, slot__lt=minute_of(now - PAIRS_KEPT) // span).delete()
    return total


def _batch(turn: RollUpTurn, now: datetime) -> int:
    counts: Counts = defaultdict(lambda: [0, 0, 0])
    turn.paired_task, tasks = _settled(Task, "sent_at", "last_task", turn.paired_task, now, lambda _: (1, 0, 0), counts)
    turn.paired_result, results = _settled(
        Result, "posted_at", "last_result", turn.paired_result, now, _as_result, counts, "status"
    )
    _add(counts)
    turn.save(update_fields=["paired_task", "paired_result"])
    return tasks + results


def _as_result(row: tuple[Any, ...]) -> tuple[int, int, int]:
    return (0, 1, int(row[-1] == Result.Status.ERROR))


def _settled(
    model: Any,
    field: str,
    roll_up_mark: str,
    mark: int,
    now: datetime,
    read: Callable[[tuple[Any, ...]], tuple[int, int, int]],
    counts: Counts,
    *more: str,
) -> tuple[int, int]:
    """Count the rows after ``mark`` up to the first that may not be settled; return the new mark and how many."""
    rows = model.objects.order_by("pk").values_list("pk", field, "sender", "recipient", *more)
    # The first pass begins where the roll-ups show that older rows are not kept.
    rows = (
        rows.filter(pk__gt=mark)
        if mark
        else rows.filter(pk__gt=RollUp.objects.mark_before(now - PAIRS_KEPT, roll_up_mark))
    )
    settled = 0
    for row in _before(rows[:PAIRED_AT_ONCE], now - SETTLES_AFTER):
        mark, at, sender, recipient = row[:4]
        settled += 1
        if at < now - PAIRS_KEPT:
            continue
        for span in SPANS:
            sums = counts[span, minute_of(at) // span, sender, recipient]
            for place, more_of_it in enumerate(read(row)):
                sums[place] += more_of_it
    return mark, settled


def _before(rows: Iterable[tuple[Any, ...]], moment: datetime) -> Iterable[tuple[Any, ...]]:
    for row in rows:
        if row[1] > moment:
            return
        yield row


def _add(counts: Counts) -> None:
    slots = {(span, slot) for span, slot, *_ in counts}
    there: dict[Key, PairCount] = {}
    for span in SPANS:
        some = PairCount.objects.filter(span=span, slot__in=[slot for of, slot in slots if of == span])
        there |= {(row.span, row.slot, row.sender_id, row.recipient_id): row for row in some}
    fresh, known = [], []
    for key, (sent, results, errors) in sorted(counts.items()):
        row = there.get(key)
        if row is None:
            span, slot, sender, recipient = key
            row = PairCount(span=span, slot=slot, sender_id=sender, recipient_id=recipient)
            fresh.append(row)
        else:
            known.append(row)
        row.sent, row.results, row.errors = row.sent + sent, row.results + results, row.errors + errors
    PairCount.objects.bulk_create(fresh)
    PairCount.objects.bulk_update(known, ["sent", "results", "errors"], batch_size=500)
