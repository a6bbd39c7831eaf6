"""Compares the tables with the journal and with each other, after any load through any route without compaction."""

from collections import Counter
from collections.abc import Iterator

from django.db import connection
from django.db.models import Count, F, Max, Min

from mailbox.models import AuditEvent, Lease, Result, Task
from mailbox.words.kinds import Kind

# Each row of these kinds resolved one task, and a repair did if it forced an error.
ENDS = (Kind.RESULT_POSTED, Kind.RESULT_REPLAYED, Kind.TASK_CANCELLED, Kind.TASK_EXPIRED)


def problems() -> list[str]:
    """Return the differences; an empty list if there is none."""
    return [*_of_lives(), *_of_counts(), *_of_states(), *_of_the_file()]


def _of_lives() -> Iterator[str]:
    numbered = AuditEvent.objects.filter(seq__isnull=False).values("task_id")
    lives = numbered.annotate(rows=Count("pk"), first=Min("seq"), last=Max("seq"))
    found = {life["task_id"]: (life["rows"], life["first"], life["last"]) for life in lives}
    for uuid, seq in Task.objects.values_list("uuid", "journal_seq"):
        if found.pop(uuid, None) != (seq, 1, seq):
            yield f"task {uuid} is at {seq}, and its journal is not"
    yield from (f"task {uuid} is in the journal alone" for uuid in found)


def _of_counts() -> Iterator[str]:
    kinds = Counter(AuditEvent.objects.filter(seq__isnull=False).values_list("kind", flat=True))
    repairs = AuditEvent.objects.filter(kind=Kind.REPAIR_APPLIED, seq__isnull=False)
    ends = sum(kinds[kind] for kind in ENDS) + repairs.filter(data__contains='"action":"force_error"').count()
    counts = {
        "sent tasks": (kinds[Kind.TASK_SENT], Task.objects.count()),
        "leases": (kinds[Kind.TASK_LEASED], Lease.objects.count()),
        "results": (ends, Result.objects.count()),
        "resolved tasks": (ends, Task.objects.filter(state=Task.State.RESOLVED).count()),
        "drained results": (
            kinds[Kind.RESULT_DELIVERED],
            Result.objects.exclude(delivered_at=None).exclude(task__reads_result=True).count(),
        ),
        "acknowledged results": (
            kinds[Kind.RESULT_ACKED],
            Result.objects.filter(delivery=Result.Delivery.ACKED).count(),
        ),
    }
    for what, (journalled, stored) in counts.items():
        if journalled != stored:
            yield f"{journalled} rows of the journal for {stored} {what}"


def _of_states() -> Iterator[str]:
    live = Lease.objects.live()
    astray = live.exclude(task__state=Task.State.IN_FLIGHT, attempt=F("task__attempt"))
    yield from (f"lease {lease} is live, and its task is not in flight at that attempt" for lease in astray)
    in_flight = Task.objects.filter(state=Task.State.IN_FLIGHT)
    yield from (f"task {task} is in flight without a live lease" for task in in_flight.exclude(leases__in=live))


def _of_the_file() -> Iterator[str]:
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        for check in ("integrity_check", "foreign_key_check"):
            rows = cursor.execute(f"PRAGMA {check}").fetchall()
            yield from (f"{check}: {row}" for row in rows if row != ("ok",))
