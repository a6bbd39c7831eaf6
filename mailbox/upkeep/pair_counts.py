"""Counts by sender and recipient, for the map. Reading them costs the same for any number of tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.models import PairCount, Result, RollUp, RollUpTurn, Task
from mailbox.models.failure import minute_of
from mailbox.models.rollup import SETTLES_AFTER, SPANS

KEPT = timedelta(hours=26)  # the widest range of the map, and a slot
BATCH = 2_000  # tasks, and as many results, that one transaction counts
MOST = 100_000  # of both that one pass counts; after an upgrade the others follow, pass by pass

Key = tuple[int, int, int, int]  # span, slot, sender, recipient
Counts = defaultdict[Key, list[int]]  # sent, results, errors


def count_pairs(now: datetime | None = None) -> int:
    """Count the tasks and results that can no longer change, and delete counts older than `KEPT`; return how many.

    Each is counted once. A task that compaction deletes within `SETTLES_AFTER` is not counted. Journals nothing.
    """
    now = now or timezone.now()
    total = 0
    while total < MOST:
        with write_turns.turn(), transaction.atomic():
            counted = _batch(RollUpTurn.take(), now)
        total += counted
        if not counted:
            break
    for span in SPANS:
        PairCount.objects.filter(span=span, slot__lt=minute_of(now - KEPT) // span).delete()
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
        rows.filter(pk__gt=mark) if mark else rows.filter(pk__gt=RollUp.objects.mark_before(now - KEPT, roll_up_mark))
    )
    found = 0
    for row in _before(rows[:BATCH], now - SETTLES_AFTER):
        mark, at, sender, recipient = row[:4]
        found += 1
        if at < now - KEPT:
            continue
        for span in SPANS:
            sums = counts[span, minute_of(at) // span, sender, recipient]
            for place, more_of_it in enumerate(read(row)):
                sums[place] += more_of_it
    return mark, found


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
