"""The queries of tasks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Left
from django.db.models.lookups import LessThanOrEqual

from mailbox.database import descent
from mailbox.models.agent import Agent
from mailbox.models.lease import Lease
from mailbox.models.result import ERROR_READ, Result
from mailbox.words.ids import IdPattern
from mailbox.words.times import epoch_ms

if TYPE_CHECKING:
    from mailbox.models.task import Task


def matching_id(field: str, pattern: IdPattern) -> Q:
    """Return the condition that the id in ``field`` matches. It is a range, which the index of the field serves."""
    if pattern.is_whole:
        return Q(**{field: pattern.bounds[0]})
    begins = Q(**{f"{field}__range": pattern.bounds})
    return begins & Q(**{f"{field}__endswith": pattern.last}) if pattern.last else begins


def _literally(*states: str) -> RawSQL:
    """Return the condition for tasks in one of ``states``, with the states as literals."""
    words = ", ".join(f"'{state}'" for state in states)
    return RawSQL(f"mailbox_task.state IN ({words})", (), models.BooleanField())  # noqa: S611 (words of our own)


class TaskQuerySet(models.QuerySet["Task"]):
    def queued(self) -> TaskQuerySet:
        return self.filter(state=self.model.State.QUEUED)

    def interrupted(self) -> TaskQuerySet:
        return self.filter(state=self.model.State.INTERRUPTED)

    def leasable(self) -> TaskQuerySet:
        """Narrow to queued tasks that do not wait on another task."""
        return self.queued().filter(waits_on=None)

    def leasable_now(self, now: datetime) -> TaskQuerySet:
        """Narrow to tasks that their recipient could lease at this moment."""
        in_time = Q(deadline_ms=None) | Q(deadline_ms__gt=epoch_ms(now))
        return self.leasable().filter(in_time, recipient__paused_at=None)

    def unresolved(self) -> TaskQuerySet:
        return self.exclude(state=self.model.State.RESOLVED)

    def leading(self, key: str) -> TaskQuerySet:
        """Narrow to the leader of ``key``: the one unresolved task that does its work.

        The states are literals, as in the constraint `task_one_leader_per_cache_key`. With parameters SQLite could not
        use its index, and would read the whole table at every send of idempotent work.
        """
        return self.filter(_literally("queued", "in_flight", "interrupted"), cache_key=key, waits_on=None)

    def failed(self) -> TaskQuerySet:
        """Narrow to resolved tasks with an error, also cancelled, rejected and expired tasks."""
        good = (self.model.Outcome.OK, self.model.Outcome.PARTIAL)
        return self.filter(outcome__isnull=False).exclude(outcome__in=good)

    def addressed_to(self, recipient: Agent | None) -> TaskQuerySet:
        return self if recipient is None else self.filter(recipient=recipient)  # None: any recipient

    def visible_to(self, party: Agent | None) -> TaskQuerySet:
        """Narrow to tasks that this agent sent, receives, or has leased. None sees all tasks."""
        if party is None:
            return self
        held = Lease.objects.live().filter(task=OuterRef("pk"), holder=party)
        return self.filter(Q(sender=party) | Q(recipient=party) | Exists(held))

    def received_only_by(self, recipient: Agent) -> TaskQuerySet:
        """Narrow to the tasks that this agent receives and did not send itself."""
        return self.filter(recipient=recipient).exclude(sender=recipient)

    def sent_by(self, sender: Agent | None) -> TaskQuerySet:
        return self if sender is None else self.filter(sender=sender)  # None: any sender

    def overdue(self, now: datetime) -> TaskQuerySet:
        """Narrow to queued and interrupted tasks past their deadline.

        The states are literals, as in the index `task_open_by_deadline`, so that SQLite uses it.
        """
        return self.filter(_literally("queued", "interrupted"), deadline_ms__lte=epoch_ms(now))

    def of_official_dialect(self) -> TaskQuerySet:
        """Narrow to tasks of the official A2A protocol, with a literal, so that SQLite uses `task_by_status_time`."""
        return self.filter(RawSQL("mailbox_task.dialect = 'a2a'", (), models.BooleanField()))

    def in_order(self) -> TaskQuerySet:
        """Order by the time in the queue. A requeued task is at the back."""
        return self.order_by("queued_at", "pk")

    def for_series(self) -> models.QuerySet[Task, tuple[Any, ...]]:
        """Return (pk, sent_at, recipient) of each, as roll-ups count them."""
        return self.values_list("pk", "sent_at", "recipient")

    def below(self, root: UUID, limit: int | None = None) -> TaskQuerySet:
        """Narrow to the task ``root``, which need not exist, and the nearest ``limit`` tasks below it by ``parent``."""
        return self.filter(uuid__in=descent.of(root, limit))

    def matching(self, pattern: IdPattern) -> TaskQuerySet:
        """Narrow to the tasks whose ids match, by the index of ids."""
        return self.filter(matching_id("uuid", pattern))

    def with_opening(self) -> TaskQuerySet:
        """Add ``opening``, the beginning of the intent text, and leave the payloads out."""
        return self.annotate(opening=Left("intent_text", descent.OPENING)).defer("intent_text", "metadata")

    def with_error(self) -> TaskQuerySet:
        """Add ``error_message`` of the result; None without one."""
        return self.annotate(error_message=Subquery(Result.objects.error_of(OuterRef("pk"))))

    def with_error_line(self) -> TaskQuerySet:
        """Add ``error``, the beginning of the error message of the result; None without one."""
        return self.annotate(error=Left(Subquery(Result.objects.error_of(OuterRef("pk"))), ERROR_READ))

    def with_stale(self, now: datetime, after: timedelta) -> TaskQuerySet:
        """Add ``is_stale``, whether its live lease is at least ``after`` old.

        The lease of each task is read by itself. PostgreSQL could read all stale leases first for an EXISTS.
        """
        leased_at = Subquery(Lease.objects.live().filter(task=OuterRef("pk")).values("leased_at")[:1])
        return self.annotate(is_stale=Coalesce(LessThanOrEqual(leased_at, now - after), False))

    def with_parties(self) -> TaskQuerySet:
        return self.select_related("sender", "recipient")

    def with_leader(self) -> TaskQuerySet:
        return self.select_related("waits_on").defer("waits_on__intent_text", "waits_on__metadata")

    def whole(self) -> TaskQuerySet:
        """Add to each task its parties, its result, the task that it waits on, and ``newest_leased_at``."""
        newest = Lease.objects.filter(task=OuterRef("pk"), attempt=OuterRef("attempt")).values("leased_at")
        return self.with_parties().with_leader().select_related("result").annotate(newest_leased_at=Subquery(newest))

    def locked(self) -> TaskQuerySet:
        """Lock the task rows, which guard every row that belongs to them. SQLite locks the whole database."""
        return self.select_for_update(of=("self",), no_key=True)
