"""Filing failed tasks by the fingerprint of their error, so that the failures page reads no messages."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.models import Failure, Result, RollUpTurn
from mailbox.models.failure import minute_of
from mailbox.models.rollup import SETTLES_AFTER
from mailbox.words import digests

BATCH = 500  # failures that one transaction files
MOST = 10_000  # failures that one pass files; after an upgrade the older failures follow, pass by pass


def file_failures(now: datetime | None = None) -> int:
    """File the failed tasks that are not filed yet, oldest first and at most `MOST`; return how many.

    A result is looked at again until `SETTLES_AFTER` after its time, because an earlier one may become visible later.
    A second pass files no task twice. Journals nothing, because no decision is taken.
    """
    now = now or timezone.now()
    after = total = looked_at = 0
    while looked_at < MOST:
        with write_turns.turn(), transaction.atomic():
            turn = RollUpTurn.take()
            rows = list(Result.objects.errors_after(max(after, turn.filed_to), digests.READ)[:BATCH])
            total += _file(rows)
            settled = _settled(rows, now)
            if settled is not None and after in (0, turn.filed_to):
                turn.filed_to = settled
                turn.save(update_fields=["filed_to"])
        looked_at += len(rows)
        if len(rows) < BATCH:
            break
        after = rows[-1][0]
    return total


def _file(rows: list[tuple[Any, ...]]) -> int:
    tasks = [row[1] for row in rows]
    filed = set(Failure.objects.filter(pk__in=tasks).values_list("pk", flat=True))
    fresh = [
        Failure(
            task_id=task,
            agent_id=agent,
            fingerprint=digests.fingerprint(display, outcome, message or ""),
            outcome=outcome,
            minute=minute_of(posted_at),
        )
        for _, task, outcome, agent, display, posted_at, message in rows
        if task not in filed
    ]
    Failure.objects.bulk_create(fresh)
    return len(fresh)


def _settled(rows: list[tuple[Any, ...]], now: datetime) -> int | None:
    """Return the key up to which all rows are older than `SETTLES_AFTER`; None if the first is younger."""
    last = None
    for pk, *_, posted_at, _ in rows:
        if posted_at > now - SETTLES_AFTER:
            break
        last = pk
    return last
