"""Dropping the rows of finished work. The journal and the idempotency cache stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from mailbox.gate import audit, entries
from mailbox.gate.audit import Journal
from mailbox.gate.callers import Caller
from mailbox.gate.requests import Request
from mailbox.models import Lease, Message, Result, Task
from mailbox.models.task import TaskQuerySet
from mailbox.verbs.upkeep import rollups

BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long finished work is kept after it was acknowledged, and after it was delivered but never acknowledged."""

    acked: timedelta = timedelta(0)
    delivered: timedelta = timedelta(days=7)

    @classmethod
    def from_settings(cls) -> Retention:
        return cls(acked=settings.A2A_RETENTION_ACKED, delivered=settings.A2A_RETENTION_DELIVERED)


def compact(caller: Caller, retention: Retention) -> int:
    """Drop resolved tasks whose result is acked, or delivered and past its retention; return how many tasks.

    Needs ``a2a.compact``. Queued, in-flight and undelivered work is never dropped, nor replay entries nor
    the journal, and a task stays while another that is kept names it as parent, so that no tree is cut. Looks for
    what to drop by index and outside of any transaction; drops it in bounded ones, which look again and skip rows
    in use. Each dropped task journals ``a2a_tasks_compacted``. Source: Covenant A2A, compaction; idempotency policy.
    """
    with audit.decision(caller) as journal:
        journal.admit(Request.to_compact())
        now = journal.now
    finished = _finished(retention, now)
    return _drop_in_batches(caller, finished, lambda: _to_drop(retention, now), reason="retention")


def cap_sent(caller: Caller, *, dialect: str, cap: int, cycle: int = 100) -> int:
    """Drop the oldest resolved tasks of one dialect while it holds more than ``cap``; at most ``cycle`` a call.

    Source: corvid-agent, "Task store": 1,000 kept, 100 oldest terminal ones pruned per cycle.
    """
    of_dialect = Task.objects.filter(dialect=dialect)
    if of_dialect.count() <= cap:
        return 0
    with audit.decision(caller) as journal:
        return _drop(of_dialect.filter(state=Task.State.RESOLVED), journal, reason="cap", limit=cycle)


def clear(caller: Caller, *, dialect: str) -> int:
    """Drop every resolved task of one dialect, delivered or not; return how many. Needs ``a2a.compact``."""
    with audit.decision(caller) as journal:
        journal.admit(Request.to_compact())
    resolved = Task.objects.filter(dialect=dialect, state=Task.State.RESOLVED)
    return _drop_in_batches(caller, resolved, lambda: _keys(resolved), reason="cleared")


def _finished(retention: Retention, now: datetime) -> TaskQuerySet:
    acked = Q(result__delivery=Result.Delivery.ACKED, result__acked_at__lte=now - retention.acked)
    delivered = Q(result__delivery=Result.Delivery.DELIVERED, result__delivered_at__lte=now - retention.delivered)
    return Task.objects.filter(acked | delivered, state=Task.State.RESOLVED).exclude(_has_child("pk", "uuid"))


def _has_child(key: str, task_id: str) -> Exists:
    """Whether a row is of a task, by its key and its id, that another names as parent."""
    return Exists(Task.objects.filter(parent=OuterRef(task_id)).exclude(pk=OuterRef(key)))


def _to_drop(retention: Retention, now: datetime) -> Sequence[int]:
    """Return the keys of up to `BATCH` of the `_finished` tasks, those longest acknowledged first."""
    acked = Result.objects.acked_until(now - retention.acked)
    delivered = Result.objects.delivered_until(now - retention.delivered)
    found: list[int] = []
    for results in (acked, delivered):
        found += results.exclude(_has_child("task_id", "task__uuid")).values_list("task_id", flat=True)[
            : BATCH - len(found)
        ]
    return found


def _keys(tasks: TaskQuerySet) -> Sequence[int]:
    return list(tasks.order_by("pk").values_list("pk", flat=True)[:BATCH])


def _drop_in_batches(
    caller: Caller, finished: TaskQuerySet, candidates: Callable[[], Sequence[int]], *, reason: str
) -> int:
    total = 0
    while found := candidates():
        with audit.decision(caller) as journal:
            dropped = _drop(finished.filter(pk__in=found), journal, reason=reason, limit=BATCH)
        total += dropped
        if not dropped:  # all of them are in other hands
            break
    return total


def _drop(tasks: TaskQuerySet, journal: Journal, *, reason: str, limit: int) -> int:
    """Drop up to ``limit`` of these tasks, oldest first, with their leases and results."""
    oldest = tasks.order_by("pk").select_for_update(skip_locked=True, of=("self",))
    found = dict(oldest.values_list("pk", "uuid")[:limit])
    if not found:
        return 0
    rollups.keep(list(found))
    Result.objects.filter(task__in=found).delete()
    Message.objects.filter(task__in=found).delete()
    Lease.objects.filter(task__in=found).delete()
    Task.objects.filter(pk__in=found).delete()
    for task_id in found.values():
        journal.beside(entries.tasks_compacted(task_id, reason))
    return len(found)
