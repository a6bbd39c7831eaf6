from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import OuterRef, Q, Subquery

from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent


class PushConfig(models.Model):
    """The callback target of a task: a URL and a secret. Source: Agnostic ADR-018, callbacks."""

    task = models.OneToOneField("mailbox.Task", models.CASCADE, related_name="push_config")
    url = models.TextField()
    sealed_secret = models.TextField(null=True)  # encrypted, and never shown; None: callbacks are not signed

    def __str__(self) -> str:
        return f"callback of task {self.task_id}"


class PushDeliveryQuerySet(models.QuerySet["PushDelivery"]):
    def due(self, now: datetime) -> PushDeliveryQuerySet:
        return self.filter(state=PushDelivery.State.PENDING, next_attempt_at__lte=now)

    def due_after(self, moment: datetime) -> PushDeliveryQuerySet:
        return self.filter(state=PushDelivery.State.PENDING, next_attempt_at__gt=moment)

    def visible_to(self, party: Agent | None) -> PushDeliveryQuerySet:
        """Narrow to callbacks of tasks that this agent sent. None sees all callbacks."""
        return self if party is None else self.filter(sender=party)

    def finished(self) -> PushDeliveryQuerySet:
        """Narrow to callbacks that were delivered or given up."""
        return self.exclude(state=PushDelivery.State.PENDING)

    def given_up(self) -> PushDeliveryQuerySet:
        return self.filter(state=PushDelivery.State.DISABLED).exclude(state=PushDelivery.State.DELIVERED)

    def from_senders_but(self, senders: Collection[int]) -> PushDeliveryQuerySet:
        """Leave out the callbacks of these senders, given by primary key."""
        return self.exclude(sender__in=senders) if senders else self

    def with_last_attempt(self) -> PushDeliveryQuerySet:
        """Add ``last_at``, ``last_status`` and ``last_problem`` of the last reported attempt; None without one."""
        last = PushAttempt.objects.filter(delivery=OuterRef("pk")).order_by("-number")
        return self.select_related("sender").annotate(
            last_at=Subquery(last.values("at")[:1]),
            last_status=Subquery(last.values("status")[:1]),
            last_problem=Subquery(last.values("problem")[:1]),
        )


class PushDelivery(models.Model):
    """A callback, written in the transaction that resolved its task.

    Its fields are copies, so that it outlives the compaction of its task. It is delivered at least once; the receiver
    recognises repeats by ``delivery_id``.
    """

    class State(models.TextChoices):
        PENDING = "pending"  # the next attempt is at next_attempt_at
        DELIVERED = "delivered"  # the receiver answered 2xx
        DISABLED = "disabled"  # every attempt failed; an operator can send it again

    delivery_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    task_uuid = models.UUIDField(db_index=True)
    sender = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+")
    url = models.TextField()
    sealed_secret = models.TextField(null=True)
    body = models.TextField()  # the text that every attempt sends and signs
    created_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    attempts = models.PositiveIntegerField(default=0)  # attempts begun, also those that a crash ended
    forgiven = models.PositiveIntegerField(default=0)  # attempts before the last resend, which do not count
    next_attempt_at = models.DateTimeField()  # during an attempt: when it is considered lost
    delivered_at = models.DateTimeField(null=True)

    objects: ClassVar[PushDeliveryQuerySet] = managed_by(PushDeliveryQuerySet)

    class Meta:
        verbose_name_plural = "push deliveries"
        indexes = [
            models.Index(fields=["next_attempt_at"], name="push_due", condition=Q(state="pending")),
            # search: callbacks that are not delivered, newest first.
            models.Index(
                fields=["state", "-id"], name="push_by_state", condition=Q(state="pending") | Q(state="disabled")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} to {self.url}"


class PushAttempt(models.Model):
    """One attempt at a callback, with its outcome."""

    delivery = models.ForeignKey(PushDelivery, models.CASCADE, related_name="log")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True)  # None: no answer
    problem = models.TextField(blank=True)  # why it failed; blank if it did not

    class Meta:
        constraints = [models.UniqueConstraint(fields=["delivery", "number"], name="push_attempt_number_unique")]

    def __str__(self) -> str:
        return f"attempt {self.number}: {self.status or self.problem}"
