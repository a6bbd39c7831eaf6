from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import F, OuterRef, Q, Subquery

from mailbox.database.managers import Moment, managed_by
from mailbox.models.agent import Agent


def latest(*moments: datetime | None) -> datetime:
    """Return the latest of these moments, of which one at least is known."""
    return max(moment for moment in moments if moment is not None)


class PushConfigQuerySet(models.QuerySet["PushConfig"]):
    def webhooks(self) -> PushConfigQuerySet:
        return self.exclude(protocol=PushConfig.Protocol.CALLBACK)

    def open(self) -> PushConfigQuerySet:
        """Narrow to the webhooks that have, or may yet have, an event to come."""
        return self.filter(next_attempt_at__isnull=False)

    def with_something_to_tell(self) -> PushConfigQuerySet:
        """Narrow to open webhooks whose task has moved on since the last event that they got."""
        moved_on = Q(task__journal_seq__gt=F("told_seq")) | Q(told_part__lt=PushConfig.WHOLE_ROW)
        return self.open().filter(moved_on)

    def due(self, now: Moment) -> PushConfigQuerySet:
        return self.with_something_to_tell().filter(next_attempt_at__lte=now)


class PushConfig(models.Model):
    """A target that hears about a task: the callback of a dialect, or a webhook.

    A callback gets the end of its task. A webhook gets every event of its task, in order, from the courier. Its
    position is that of the newest event that its receiver accepted. ``task`` has one callback at most, and any number
    of webhooks. Source: Agnostic ADR-018, callbacks; A2A, TaskPushNotificationConfig.
    """

    DUE_SINCE = ("next_attempt_at", "task__status_at", "created_at")  # a due webhook has been due since the latest
    WHOLE_ROW = 2  # the part of a journal row's last event; 1 is the first of two

    class Protocol(models.TextChoices):
        """The language of the receiver."""

        CALLBACK = "callback"  # the dialect of the task
        V1_0 = "1.0"  # the official A2A protocol
        V0_3 = "0.3"

    task = models.ForeignKey("mailbox.Task", models.CASCADE, related_name="push_configs", db_index=False)
    # The id in the official protocol, chosen by the sender or the hub. "": a callback.
    config_id = models.CharField(max_length=200, default="", db_default="", blank=True)
    protocol = models.CharField(
        max_length=8, choices=Protocol.choices, default=Protocol.CALLBACK, db_default=Protocol.CALLBACK
    )
    url = models.TextField()
    sealed_secret = models.TextField(null=True)  # encrypted, and never shown; None: callbacks are not signed
    sealed_token = models.TextField(null=True)  # encrypted, and never shown; None: requests carry no token
    auth_scheme = models.TextField(null=True)  # such as Bearer; None: requests are not authorized
    sealed_credentials = models.TextField(null=True)  # encrypted, and never shown; None: the scheme is not sent
    told_seq = models.PositiveIntegerField(default=0, db_default=0)
    told_part = models.PositiveSmallIntegerField(default=WHOLE_ROW, db_default=WHOLE_ROW)
    # No attempt is made before this time; during an attempt, when it is considered lost. None: no event is to come.
    next_attempt_at = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0, db_default=0)  # failed attempts in a row at the next event
    disabled_at = models.DateTimeField(null=True)  # when the last attempt at the next event failed
    created_at = models.DateTimeField(null=True)  # when it was set; None for callbacks

    objects: ClassVar[PushConfigQuerySet] = managed_by(PushConfigQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "config_id"], name="push_config_id_unique")]
        indexes = [
            models.Index(
                fields=["next_attempt_at"], name="push_config_open", condition=Q(next_attempt_at__isnull=False)
            )
        ]

    def __str__(self) -> str:
        return f"{self.protocol} of task {self.task_id}"

    @property
    def standing(self) -> str:
        """Whether the webhook is open, failing, disabled after its last attempt, or done."""
        if self.disabled_at is not None:
            return "disabled"
        if self.next_attempt_at is None:
            return "done"
        return "failing" if self.failures else "open"

    @property
    def due_since(self) -> datetime:
        """Since when a due webhook has had something to tell, as far as its row and its task tell."""
        return latest(self.next_attempt_at, self.task.status_at, self.created_at)

    @property
    def position(self) -> tuple[int, int]:
        """The position of the newest event that it got: number of the journal row, and part of the row."""
        return self.told_seq, self.told_part


class PushDeliveryQuerySet(models.QuerySet["PushDelivery"]):
    def pending(self) -> PushDeliveryQuerySet:
        """Narrow to callbacks to come. Events of webhooks are due with their webhook."""
        return self.filter(state=PushDelivery.State.PENDING)

    def due(self, now: Moment) -> PushDeliveryQuerySet:
        return self.pending().filter(next_attempt_at__lte=now)

    def pending_at(self, configs: Collection[int]) -> PushDeliveryQuerySet:
        """Narrow to the pending events of these webhooks, given by primary key. Each has one at most."""
        return self.filter(config__in=configs, state=PushDelivery.State.TELLING)

    def visible_to(self, party: Agent | None) -> PushDeliveryQuerySet:
        """Narrow to callbacks of tasks that this agent sent. None sees all callbacks."""
        return self if party is None else self.filter(sender=party)

    def finished(self) -> PushDeliveryQuerySet:
        """Narrow to callbacks that were delivered or given up, and to events whose webhook is gone."""
        is_telling = Q(state=PushDelivery.State.TELLING, config__isnull=False)
        return self.exclude(Q(state=PushDelivery.State.PENDING) | is_telling)

    def given_up(self) -> PushDeliveryQuerySet:
        return self.filter(state=PushDelivery.State.DISABLED).exclude(state=PushDelivery.State.DELIVERED)

    def with_last_attempt(self) -> PushDeliveryQuerySet:
        """Add ``last_at``, ``last_status`` and ``last_problem`` of the last reported attempt; None without one."""
        last = PushAttempt.objects.filter(delivery=OuterRef("pk")).order_by("-number")
        return self.select_related("sender").annotate(
            last_at=Subquery(last.values("at")[:1]),
            last_status=Subquery(last.values("status")[:1]),
            last_problem=Subquery(last.values("problem")[:1]),
        )


class PushDelivery(models.Model):
    """A report to one callback target: a callback, or an event of a webhook.

    A callback is written in the transaction that resolved its task. An event of a webhook is written by the courier
    before its first attempt. The fields are copies, so that a delivery outlives the compaction of its task. It is
    delivered at least once; the receiver recognises repeats by ``delivery_id``.
    """

    class State(models.TextChoices):
        PENDING = "pending"  # the next attempt is at next_attempt_at
        TELLING = "telling"  # as pending, for an event of a webhook: the version before must not attempt it
        DELIVERED = "delivered"  # the receiver answered 2xx
        DISABLED = "disabled"  # every attempt failed; an operator can send it again

    UNDER_WAY = (State.PENDING, State.TELLING)

    delivery_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    task_uuid = models.UUIDField(db_index=True)
    sender = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+")
    url = models.TextField()
    sealed_secret = models.TextField(null=True)
    # The text that every attempt sends and signs. For a receiver of version 0.3 each attempt renders it anew.
    body = models.TextField()
    created_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    attempts = models.PositiveIntegerField(default=0)  # attempts begun, also those that a crash ended
    forgiven = models.PositiveIntegerField(default=0)  # attempts before the last resend, which do not count
    next_attempt_at = models.DateTimeField()  # during an attempt: when it is considered lost
    delivered_at = models.DateTimeField(null=True)
    # The webhook, and the position of the event in the task's journal. All None: a callback. The webhook alone None: it
    # was deleted.
    config = models.ForeignKey(PushConfig, models.SET_NULL, null=True, related_name="deliveries", db_index=False)
    seq = models.PositiveIntegerField(null=True)
    part = models.PositiveSmallIntegerField(null=True)

    objects: ClassVar[PushDeliveryQuerySet] = managed_by(PushDeliveryQuerySet)

    class Meta:
        verbose_name_plural = "push deliveries"
        constraints = [
            models.UniqueConstraint(
                fields=["config", "seq", "part"], name="push_event_unique", condition=Q(config__isnull=False)
            )
        ]
        indexes = [
            models.Index(fields=["next_attempt_at"], name="push_due", condition=Q(state="pending")),
            # search: callbacks that are not delivered, newest first.
            models.Index(
                fields=["state", "-id"], name="push_by_state", condition=Q(state="pending") | Q(state="disabled")
            ),
            models.Index(fields=["-id"], name="push_telling", condition=Q(state="telling")),
        ]

    def __str__(self) -> str:
        return f"{self.state} to {self.url}"

    @classmethod
    def of_event(cls, config: PushConfig, seq: int, part: int, body: str, now: datetime) -> PushDelivery:
        """Return a new delivery of an event to its webhook, whose task is loaded. It is not stored."""
        return cls(
            task_uuid=config.task.uuid,
            sender_id=config.task.sender_id,
            url=config.url,
            body=body,
            created_at=now,
            state=cls.State.TELLING,
            config=config,
            seq=seq,
            part=part,
        )

    @property
    def is_of_webhook(self) -> bool:
        return self.seq is not None

    @property
    def shown_state(self) -> str:
        """The state in the words of readers, for whom an event of a webhook is pending too."""
        return self.State.PENDING if self.state == self.State.TELLING else self.state

    @property
    def event(self) -> str | None:
        """The id of the event on the wire; None for a callback."""
        if self.seq is None or self.part == PushConfig.WHOLE_ROW:
            return None if self.seq is None else str(self.seq)
        return f"{self.seq}.{self.part}"


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
