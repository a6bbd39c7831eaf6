from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Case, Count, ExpressionWrapper, F, Max, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce, Left, TruncMinute

from mailbox.database import descent
from mailbox.database.managers import Moment, managed_by
from mailbox.models.agent import Agent
from mailbox.models.lease import Lease
from mailbox.models.rollup import MINUTE, RollUp, during
from mailbox.words import json_text
from mailbox.words.envelopes import ResultEnvelope, ResultStatus

ERROR_READ = 500  # characters of an error message that a list reads


def posted(start: datetime, end: datetime | None) -> Q:
    """Return the condition for results posted from ``start`` until before ``end``, None for until now."""
    return during("posted_at", start, end, "last_result")


class ResultQuerySet(models.QuerySet["Result"]):
    def pending(self) -> ResultQuerySet:
        return self.filter(delivery=Result.Delivery.PENDING)

    def delivered(self) -> ResultQuerySet:
        """Narrow to results that their sender received and did not acknowledge."""
        return self.filter(delivery=Result.Delivery.DELIVERED)

    def errors(self) -> ResultQuerySet:
        """Narrow to errors. The condition is repeated, so that SQLite uses the index `result_not_ok`."""
        return self.filter(status=Result.Status.ERROR).exclude(status=Result.Status.OK)

    def errors_after(self, mark: int, characters: int) -> models.QuerySet[Result, tuple[Any, ...]]:
        """Return (pk, task, outcome, recipient, its display, posted_at, message) of each error after ``mark``, by key.

        ``characters`` is how much of the message is read.
        """
        errors = self.errors().filter(pk__gt=mark).order_by("pk").annotate(message=Left("error_message", characters))
        return errors.values_list(
            "pk", "task", "task__outcome", "recipient", "recipient__display", "posted_at", "message"
        )

    def acked_until(self, moment: datetime) -> ResultQuerySet:
        """Narrow to results acknowledged until then, the earliest acknowledged first."""
        return self.filter(delivery=Result.Delivery.ACKED, acked_at__lte=moment).order_by("acked_at")

    def delivered_until(self, moment: datetime) -> ResultQuerySet:
        """Narrow to results delivered until then and not acknowledged, the earliest delivered first."""
        return self.filter(delivery=Result.Delivery.DELIVERED, delivered_at__lte=moment).order_by("delivered_at")

    def addressed_to(self, sender: Agent | None) -> ResultQuerySet:
        """Narrow to results of tasks that this agent sent. None is any sender."""
        return self if sender is None else self.filter(sender=sender)

    def drained_by(self, attempt_id: UUID, sender: Agent | None) -> ResultQuerySet:
        """Return the results of one drain, also the acknowledged results, in order. ``sender`` None is any sender."""
        return self.addressed_to(sender).filter(receive_attempt_id=attempt_id).order_by("receive_index")

    def with_task_id(self) -> ResultQuerySet:
        """Add to each result its task, without the payloads of the task."""
        return self.select_related("task").defer("task__intent_text", "task__metadata")

    def with_opening(self) -> ResultQuerySet:
        """Add ``opening``, the beginning of the task's intent text, and leave the content and the task's payloads out.

        Add to each result its task and its parties, too.
        """
        results = self.with_task_id().select_related("task", "sender", "recipient")
        return results.annotate(opening=Left("task__intent_text", descent.OPENING)).defer("content")

    def with_error_line(self) -> ResultQuerySet:
        """Add ``error``, the beginning of the error message, and leave the rest of it out."""
        return self.annotate(error=Left("error_message", ERROR_READ)).defer("error_message")

    def error_of(self, task: OuterRef) -> models.QuerySet[Result, Any]:
        """Return the error message of the result of ``task``, for a subquery."""
        return self.filter(task=task).values("error_message")

    def for_series(self) -> models.QuerySet[Result, tuple[Any, ...]]:
        """Return (pk, posted_at, recipient, status, replayed_from, leased_at) of each, as roll-ups count them.

        ``leased_at`` is the beginning of the lease that the result ended, None if it ended no lease.
        """
        lease = Lease.objects.filter(task=OuterRef("task"), end=Lease.End.RESULT).values("leased_at")
        results = self.annotate(leased_at=Subquery(lease[:1]))
        return results.values_list("pk", "posted_at", "recipient", "status", "replayed_from", "leased_at")

    def posted_between(self, start: datetime, end: datetime | None) -> ResultQuerySet:
        """Narrow to results posted from ``start`` until before ``end``, None for until now."""
        return self.filter(posted(start, end))

    def not_rolled_up(self, since: Moment, most: int) -> ResultQuerySet:
        """Narrow to results since then in minutes without a roll-up, among the newest ``most`` rows."""
        newest = RollUp.objects.of_hub().order_by("-minute")
        mark = Coalesce(Subquery(newest.values("last_result")[:1]), 0)
        end = ExpressionWrapper(F("minute") + MINUTE, output_field=models.DateTimeField())
        return self.filter(pk__gt=mark, posted_at__gte=since).filter(
            pk__gt=Subquery(Result.objects.order_by("-pk").values("pk")[:1]) - most,
            posted_at__gte=Coalesce(Subquery(newest.annotate(end=end).values("end")[:1]), since),
        )

    def by_minute(self) -> models.QuerySet[Result, tuple[Any, ...]]:
        """Sum results by minute as `RollUpQuerySet.for_results` does.

        ``is_open`` is None, and the mark that of the newest.
        """
        ones = {status: Sum(Case(When(status=status, then=1), default=0)) for status in ("ok", "partial", "error")}
        minute = TruncMinute("posted_at", tzinfo=UTC)
        alike = self.order_by().annotate(
            is_open=Value(None, output_field=models.BooleanField(null=True)), minute=minute
        )
        minutes: Any = alike.values("recipient", "is_open", "minute").annotate(
            mark=Max("pk"),
            **ones,
            replayed=Count("replayed_from"),
            runs=Value("{}", output_field=models.TextField()),
        )
        sums: models.QuerySet[Result, tuple[Any, ...]] = minutes.values_list(
            "recipient", "is_open", "mark", "minute", "ok", "partial", "error", "replayed", "runs"
        )
        return sums

    def in_order(self) -> ResultQuerySet:
        return self.order_by("posted_at", "pk")


def size_of(content: str, error_message: str | None) -> int:
    """Return the bytes of a result: its content as JSON text, and its error message."""
    return len(content.encode()) + len((error_message or "").encode())


class Result(models.Model):
    """How a task ended. A resolved task has exactly one result, addressed to its sender.

    A drain does not delete it: it can be read until compaction.
    """

    class Status(models.TextChoices):
        OK = "ok"
        ERROR = "error"  # also for cancelled, rejected and expired tasks; the message tells them apart
        PARTIAL = "partial"

        @classmethod
        def of(cls, outcome: str) -> Result.Status:
            """Return the status of the result of a task with this outcome."""
            return cls(outcome) if outcome in cls.values else cls.ERROR

    class Delivery(models.TextChoices):
        PENDING = "pending"  # the sender has not drained it
        DELIVERED = "delivered"  # drained by the sender; the response may have been lost
        ACKED = "acked"  # the sender has acknowledged it

    task = models.OneToOneField("mailbox.Task", models.CASCADE, related_name="result")
    # Copies of the task's parties, so that a drain needs no join.
    sender = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+", db_index=False)
    recipient = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+", db_index=False)
    status = models.CharField(max_length=10, choices=Status.choices)
    content = models.TextField(default="[]")  # JSON text: an array of content blocks
    error_message = models.TextField(null=True)  # None: no message; "" is an empty message
    posted_by = models.ForeignKey(
        "mailbox.Agent", models.PROTECT, null=True, related_name="+", db_index=False
    )  # None: the hub
    replayed_from = models.UUIDField(null=True)  # the task whose cached result was used; None: not from the cache
    posted_at = models.DateTimeField()
    # Whether the task has artifacts, or closing words of this result. A plain result has neither.
    has_more = models.BooleanField(default=False, db_default=False)
    delivery = models.CharField(max_length=10, choices=Delivery.choices, default=Delivery.PENDING)
    delivered_at = models.DateTimeField(null=True)  # the time of its last drain
    acked_at = models.DateTimeField(null=True)
    shown_at = models.DateTimeField(null=True)  # the first poll of its sender that showed it; None: no poll did
    # The sender's id of the drain that delivered this result, and the number of the result within the drain.
    # An acknowledged result keeps both. See `Lease.receive_attempt_id`.
    receive_attempt_id = models.UUIDField(null=True)
    receive_index = models.PositiveSmallIntegerField(default=0)

    objects: ClassVar[ResultQuerySet] = managed_by(ResultQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sender", "receive_attempt_id", "receive_index"],
                condition=Q(receive_attempt_id__isnull=False),
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
            # inspection: the results that one sender received and did not acknowledge, the earliest received first.
            models.Index(
                fields=["sender", "delivered_at", "id"],
                name="result_delivered_by_sender",
                condition=Q(delivery="delivered"),
            ),
            # compaction: delivered and acknowledged results, by time.
            models.Index(fields=["acked_at"], name="result_acked", condition=Q(delivery="acked")),
            models.Index(fields=["delivered_at"], name="result_delivered", condition=Q(delivery="delivered")),
            # the list of results: errors and partial results.
            models.Index(fields=["status", "id"], name="result_not_ok", condition=~Q(status="ok")),
        ]

    def __str__(self) -> str:
        return f"{self.status} for task {self.task_id}"

    @property
    def size(self) -> int:
        """Its bytes, which count for the quota of its task's sender."""
        return size_of(self.content, self.error_message)

    @property
    def blocks(self) -> list[dict[str, Any]]:
        loaded: list[dict[str, Any]] = json_text.loads(self.content)
        return loaded

    def says(self, envelope: ResultEnvelope, closing: Sequence[Mapping[str, Any]] = ()) -> bool:
        """Whether ``envelope`` repeats this result, which was posted with the closing words ``closing``."""
        return json_text.same(self.compared_values(closing), envelope.compared_values())

    def compared_values(self, closing: Sequence[Mapping[str, Any]] = ()) -> Sequence[object]:
        """Return what a repeated result must repeat, as `ResultEnvelope.compared_values` does."""
        status = ResultStatus.REJECTED if self.task.outcome == ResultStatus.REJECTED else self.status
        values = [status, self.error_message, self.blocks]
        return [*values, list(closing), self.task.is_direct] if closing or self.task.is_direct else values
