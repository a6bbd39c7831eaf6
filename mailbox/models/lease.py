from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Case, Count, F, OuterRef, Q, Subquery, When
from django.db.models.functions import Coalesce, Left
from django.utils.functional import cached_property

from mailbox.database import descent
from mailbox.database.managers import Moment, managed_by
from mailbox.models.agent import Agent
from mailbox.models.message import Message


class LeaseQuerySet(models.QuerySet["Lease"]):
    def live(self) -> LeaseQuerySet:
        return self.filter(ended_at=None)

    def stale(self, now: Moment, after: timedelta) -> LeaseQuerySet:
        """Narrow to live leases that began at least ``after`` before ``now``."""
        return self.live().filter(leased_at__lte=now - after)

    def aged(self, now: Moment, least: timedelta, most: timedelta | None) -> LeaseQuerySet:
        """Narrow to live leases at least ``least`` old and younger than ``most``, None for no limit."""
        leases = self.live().filter(leased_at__lte=now - least) if least else self.live()
        return leases if most is None else leases.filter(leased_at__gt=now - most)

    def safe_to_repeat(self) -> LeaseQuerySet:
        """Narrow live leases to those of idempotent tasks with a key.

        The condition is that of the index of cache keys at work, which may be few.
        """
        return self.filter(task__state="in_flight", task__waits_on__isnull=True, task__cache_key__isnull=False)

    def with_tries(self) -> LeaseQuerySet:
        """Add ``questions_before``, so that `Lease.tries` reads no other row."""
        questions = Lease.objects.filter(task=OuterRef("task"), attempt__lt=OuterRef("attempt"), end=Lease.End.ASKED)
        return self.annotate(
            questions_before=Coalesce(Subquery(questions.values("task").annotate(n=Count("pk")).values("n")), 0)
        )

    def tried_below(self, tries: int) -> LeaseQuerySet:
        """Narrow leases that `with_tries` read to those with fewer `Lease.tries` than ``tries``."""
        return self.filter(Q(attempt__lt=tries) | Q(questions_before__gt=F("attempt") - tries))

    def named(self, ids: Iterable[UUID]) -> LeaseQuerySet:
        return self.filter(lease_id__in=list(ids))

    def of_holder(self, holder: Agent | None) -> LeaseQuerySet:
        """Narrow to the leases of this holder. None is any holder."""
        return self if holder is None else self.filter(holder=holder)

    def of_tasks_from(self, sender: Agent | None) -> LeaseQuerySet:
        """Narrow to leases of tasks that this agent sent. None is any sender."""
        return self if sender is None else self.filter(task__sender=sender)

    def with_task(self) -> LeaseQuerySet:
        return self.select_related("holder", "task__sender", "task__recipient")

    def with_task_opening(self) -> LeaseQuerySet:
        """Add to each lease its task without payloads, and ``opening``, the beginning of the task's intent text."""
        opening = Left("task__intent_text", descent.OPENING)
        return self.with_task().annotate(opening=opening).defer("task__intent_text", "task__metadata")

    def received_by(self, attempt_id: UUID, holder: Agent | None) -> LeaseQuerySet:
        """Return the leases of one receive attempt, live and ended, in order. ``holder`` None is any holder."""
        leases = self.filter(receive_attempt_id=attempt_id).order_by("receive_index")
        return leases.of_holder(holder)

    def timed_out(self, now: datetime) -> LeaseQuerySet:
        """Narrow to live leases that are past their task's work timeout."""
        return self.live().filter(times_out_at__lte=now)

    def visible_to(self, party: Agent | None) -> LeaseQuerySet:
        """Narrow to leases of tasks that this agent is party to. None sees all leases."""
        if party is None:
            return self
        return self.filter(Q(task__sender=party) | Q(task__recipient=party) | Q(holder=party))

    def for_series(self) -> models.QuerySet[Lease, tuple[Any, ...]]:
        """Return (pk, leased_at, holder, queued_at) of each, as roll-ups count them.

        ``queued_at`` is when the task was queued for this attempt: its send, or the end of the attempt before. After a
        question it is the time of the answer, or of this lease without one. The task's own ``queued_at`` changes with
        later requeues.
        """
        earlier = Lease.objects.filter(task=OuterRef("task"), attempt=OuterRef("attempt") - 1)
        since = {f"{name}_before": Subquery(earlier.values(name)[:1]) for name in ("ended_at", "end")}
        answers = (
            Message.objects.of_role(Message.Role.USER)
            .in_order()
            .filter(task=OuterRef("task"), said_at__gte=OuterRef("ended_at_before"), said_at__lte=OuterRef("leased_at"))
        )
        queued_at = Case(
            When(attempt=1, then=F("task__sent_at")),
            When(end_before=Lease.End.ASKED, then=Coalesce(Subquery(answers.values("said_at")[:1]), F("leased_at"))),
            default=F("ended_at_before"),
        )
        leases = self.annotate(**since).annotate(was_queued_at=queued_at)
        return leases.values_list("pk", "leased_at", "holder", "was_queued_at")

    def oldest_first(self) -> LeaseQuerySet:
        return self.order_by("leased_at", "task__uuid")


class Lease(models.Model):
    """One attempt at a task by its holder. Each attempt gets a new row.

    A lease ends by itself only at the work timeout of its task.

    Source: Covenant A2A, "A received task becomes an explicit in_flight lease".
    """

    class End(models.TextChoices):
        """The decision that ended the lease. A lease ends once."""

        RESULT = "result"
        REQUEUE = "requeue"
        AUTO_REQUEUE = "auto_requeue"
        FORCE_ERROR = "force_error"
        RELEASE = "release"
        CANCEL = "cancel"
        EXPIRED = "expired"
        ASKED = "asked"  # its holder put a question to the sender

    lease_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)  # the fence that callers present
    task = models.ForeignKey("mailbox.Task", models.CASCADE, related_name="leases", db_index=False)
    holder = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+", db_index=False)
    attempt = models.PositiveIntegerField()  # 1 for the first lease of the task
    leased_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()  # leased_at, later the time of the last heartbeat or update
    times_out_at = models.DateTimeField(null=True)  # leased_at plus the task's work_timeout; None: never
    ended_at = models.DateTimeField(null=True)  # None while live
    end = models.CharField(max_length=20, choices=End.choices, null=True)  # None while live
    # The caller's id of the receive call that took this lease, and the number of the lease within the call.
    # A repeat with the same id returns those of its leases that are live, and takes no other task. So a lost response
    # costs nothing, and a request that its client has given up takes nothing.
    receive_attempt_id = models.UUIDField(null=True)
    receive_index = models.PositiveSmallIntegerField(default=0)

    objects: ClassVar[LeaseQuerySet] = managed_by(LeaseQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task"], condition=Q(ended_at=None), name="lease_one_live_per_task"),
            models.UniqueConstraint(fields=["task", "attempt"], name="lease_attempt_unique"),
            models.UniqueConstraint(
                fields=["holder", "receive_attempt_id", "receive_index"],
                condition=Q(receive_attempt_id__isnull=False),
                name="lease_receive_attempt_unique",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, end=None) | Q(ended_at__isnull=False, end__isnull=False),
                name="lease_end_iff_ended",
            ),
        ]
        indexes = [
            # inspection.leases, inspection.queue, retry_stale: live leases, oldest first.
            models.Index(fields=["holder", "leased_at"], name="lease_live_by_holder", condition=Q(ended_at=None)),
            models.Index(fields=["leased_at"], name="lease_live_by_age", condition=Q(ended_at=None)),
            # expiry: live leases past their task's work_timeout.
            models.Index(
                fields=["times_out_at"],
                name="lease_live_by_timeout",
                condition=Q(ended_at=None, times_out_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.attempt} of task {self.task_id}"

    def is_stale(self, now: datetime, after: timedelta) -> bool:
        """Whether `LeaseQuerySet.stale` includes this lease."""
        return self.ended_at is None and self.leased_at <= now - after

    def has_timed_out(self, now: datetime) -> bool:
        """Whether `LeaseQuerySet.timed_out` includes this live lease."""
        return self.times_out_at is not None and self.times_out_at <= now

    @cached_property
    def tries(self) -> int:
        """Return the number of its task's leases up to this one, without those that ended with a question.

        A lease that ended with a question is a turn of a conversation, and no failure.
        """
        questions: int | None = getattr(self, "questions_before", None)
        if questions is None:
            earlier = Lease.objects.filter(task=self.task_id, attempt__lt=self.attempt, end=Lease.End.ASKED)
            questions = earlier.count() if self.attempt > 1 else 0
        return self.attempt - questions

    @property
    def still_asks(self) -> bool:
        """Whether the question that ended it interrupts its task now. The task must be loaded."""
        return self.end == self.End.ASKED and self.task.state == "interrupted" and self.task.attempt == self.attempt

    def finish(self, how: Lease.End, now: datetime) -> None:
        """End this live lease. The task row must be locked."""
        self.ended_at, self.end = now, how
        self.save(update_fields=["ended_at", "end"])
