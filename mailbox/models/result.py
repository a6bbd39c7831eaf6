from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import OuterRef, Q, Subquery

from mailbox import json_text
from mailbox.envelopes import ResultEnvelope
from mailbox.models.agent import Agent
from mailbox.models.lease import Lease


class ResultQuerySet(models.QuerySet["Result"]):
    def pending(self) -> ResultQuerySet:
        return self.filter(delivery=Result.Delivery.PENDING)

    def addressed_to(self, sender: Agent) -> ResultQuerySet:
        """Narrow to results of tasks that this agent sent."""
        return self.filter(sender=sender)

    def for_series(self) -> models.QuerySet[Result, tuple[Any, ...]]:
        """Return (pk, posted_at, recipient, status, replayed_from, leased_at) of each, as roll-ups count them.

        ``leased_at`` is when its holder's lease began, None for a result that no lease ended with.
        """
        lease = Lease.objects.filter(task=OuterRef("task"), end=Lease.End.RESULT).values("leased_at")
        found = self.annotate(leased_at=Subquery(lease[:1]))
        return found.values_list("pk", "posted_at", "recipient", "status", "replayed_from", "leased_at")

    def in_order(self) -> ResultQuerySet:
        return self.order_by("posted_at", "pk")


class Result(models.Model):
    """How a task ended; exactly one per resolved task. It is addressed to the task's sender.

    Delivery never deletes it: it stays readable until compaction.
    """

    class Status(models.TextChoices):
        OK = "ok"
        ERROR = "error"  # also of cancelled, rejected and expired tasks; the message says which
        PARTIAL = "partial"

    class Delivery(models.TextChoices):
        PENDING = "pending"  # the sender has not drained it
        DELIVERED = "delivered"  # given out by a drain, perhaps lost on the way
        ACKED = "acked"  # the sender said it has it

    task = models.OneToOneField("mailbox.Task", models.CASCADE, related_name="result")
    # Copies of the task's parties, so that draining and distribution need no join.
    sender = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+", db_index=False)
    recipient = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+", db_index=False)
    status = models.CharField(max_length=10, choices=Status.choices)
    content = models.TextField(default="[]")  # JSON text: an array of content blocks
    error_message = models.TextField(null=True)  # None: none was given; "" is a message
    posted_by = models.ForeignKey(
        "mailbox.Agent", models.PROTECT, null=True, related_name="+", db_index=False
    )  # None: the hub
    replayed_from = models.UUIDField(null=True)  # the task whose cached result this is; None: its own
    posted_at = models.DateTimeField()
    delivery = models.CharField(max_length=10, choices=Delivery.choices, default=Delivery.PENDING)
    delivered_at = models.DateTimeField(null=True)  # the last time it was given out
    acked_at = models.DateTimeField(null=True)
    receive_attempt_id = models.UUIDField(null=True)  # the drain that was given it, numbered within that call
    receive_index = models.PositiveSmallIntegerField(default=0)

    objects: ClassVar[ResultQuerySet] = ResultQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sender", "receive_attempt_id", "receive_index"],
                condition=Q(delivery="delivered", receive_attempt_id__isnull=False),
                name="result_receive_attempt_unique",
            ),
            models.CheckConstraint(
                condition=Q(delivery="acked", acked_at__isnull=False) | Q(~Q(delivery="acked"), acked_at=None),
                name="result_acked_at_iff_acked",
            ),
        ]
        indexes = [
            models.Index(
                fields=["sender", "posted_at", "id"], name="result_pending_by_sender", condition=Q(delivery="pending")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} for task {self.task_id}"

    @property
    def blocks(self) -> list[dict[str, Any]]:
        loaded: list[dict[str, Any]] = json_text.loads(self.content)
        return loaded

    def says(self, envelope: ResultEnvelope) -> bool:
        """Whether ``envelope`` is this very result, posted again."""
        return (
            self.status == envelope.status
            and self.error_message == envelope.error_message
            and json_text.same(self.blocks, [dict(block) for block in envelope.content])
        )
