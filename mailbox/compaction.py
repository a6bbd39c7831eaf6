"""Dropping the rows of finished work. The journal and the idempotency cache stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from mailbox import audit, capabilities, rollups
from mailbox.audit import Journal
from mailbox.callers import Caller
from mailbox.capabilities import COMPACT, Request
from mailbox.errors import Draft
from mailbox.kinds import Kind
from mailbox.models import Lease, Message, Result, Task
from mailbox.models.task import TaskQuerySet

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
    the journal. Works in bounded transactions that skip rows in use; each that drops anything journals
    ``a2a_tasks_compacted``. Source: Covenant A2A, compaction; idempotency policy.
    """
    with audit.decision(caller) as journal:
        permit = capabilities.require(caller, Request(verb=COMPACT, scope_id="a2a:compact"), journal.now)
        permit.use(journal.now)
        journal.beside(permit.draft)
        finished = _finished(retention, journal.now)
    return _drop_in_batches(caller, finished, reason="retention")


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
        permit = capabilities.require(caller, Request(verb=COMPACT, scope_id="a2a:compact"), journal.now)
        permit.use(journal.now)
        journal.beside(permit.draft)
    resolved = Task.objects.filter(dialect=dialect, state=Task.State.RESOLVED)
    return _drop_in_batches(caller, resolved, reason="cleared")


def _finished(retention: Retention, now: datetime) -> TaskQuerySet:
    acked = Q(result__delivery=Result.Delivery.ACKED, result__acked_at__lte=now - retention.acked)
    delivered = Q(result__delivery=Result.Delivery.DELIVERED, result__delivered_at__lte=now - retention.delivered)
    return Task.objects.filter(acked | delivered, state=Task.State.RESOLVED)


def _drop_in_batches(caller: Caller, finished: TaskQuerySet, *, reason: str) -> int:
    total = 0
    while True:
        with audit.decision(caller) as journal:
            dropped = _drop(finished, journal, reason=reason, limit=BATCH)
        total += dropped
        if dropped < BATCH:
            return total


def _drop(tasks: TaskQuerySet, journal: Journal, *, reason: str, limit: int) -> int:
    """Drop up to ``limit`` of these tasks, oldest first, with their leases and results."""
    oldest = tasks.order_by("pk").select_for_update(skip_locked=True, of=("self",))
    found: Sequence[int] = list(oldest.values_list("pk", flat=True)[:limit])
    if not found:
        return 0
    rollups.keep(found)
    Result.objects.filter(task__in=found).delete()
    Message.objects.filter(task__in=found).delete()
    Lease.objects.filter(task__in=found).delete()
    Task.objects.filter(pk__in=found).delete()
    journal.beside(Draft(kind=Kind.TASKS_COMPACTED, data={"dropped": len(found), "reason": reason}))
    return len(found)
