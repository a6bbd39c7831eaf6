from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Q

from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent
from mailbox.words import json_text
from mailbox.words.kinds import FREQUENT, Kind

LATELY = 5_000
NAMED_AMONG = 20_000


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    def of_task(self, task_id: UUID) -> AuditEventQuerySet:
        """Return the numbered life of one task, in order."""
        return self.filter(task_id=task_id, seq__isnull=False).order_by("seq")

    def lives_among(self, task_ids: Collection[UUID]) -> models.QuerySet[AuditEvent, UUID | None]:
        """Return which of these tasks have a life on record, also of those that were compacted."""
        return self.filter(task_id__in=task_ids, seq=1).values_list("task_id", flat=True)

    def through(self, source: AuditEvent.Source) -> AuditEventQuerySet:
        """Narrow to the rows of one source."""
        found = self.filter(source=source)
        # The index of the rare ones leaves out the API's; SQLite knows that only when it is told.
        return found if source == AuditEvent.Source.API else found.exclude(source=AuditEvent.Source.API)

    def by_people(self) -> AuditEventQuerySet:
        """Narrow to what people decided on the dashboard; of a repair in bulk not each lease."""
        return self.through(AuditEvent.Source.DASHBOARD).exclude(kind=Kind.CAPABILITY_CHECK).one_by_one()

    def last_before(self, moment: datetime, mark: int) -> int:
        """Return the key up to which all rows are older than ``moment``; those up to ``mark`` are known to be."""
        after = self.filter(pk__gt=mark)
        later = after.filter(at__gte=moment).order_by("pk").values_list("pk", flat=True).first()
        newest = later - 1 if later else after.order_by("-pk").values_list("pk", flat=True).first()
        return max(mark, newest or 0)

    def visible_to(self, party: Agent | None) -> AuditEventQuerySet:
        """Narrow to rows of requests that this agent made. None sees all."""
        return self if party is None else self.filter(actor_pubkey=party.pubkey)

    def of_request(self, actor: str, request_id: str) -> AuditEventQuerySet:
        return self.filter(actor=actor, request_id=request_id)

    def since(self, moment: datetime) -> AuditEventQuerySet:
        return self.filter(at__gte=moment)

    def naming(self, lease_id: UUID) -> AuditEventQuerySet:
        """Narrow to rows of tasks' lives that name this lease, among the newest of all."""
        newest = AuditEvent.objects.newest_first().values("pk")[:NAMED_AMONG]
        return self.filter(pk__in=newest, seq__isnull=False, data__contains=str(lease_id)).newest_first()

    def repairs(self) -> AuditEventQuerySet:
        """Narrow to applied repairs, of any caller and source."""
        return self.filter(kind=Kind.REPAIR_APPLIED)

    def one_by_one(self) -> AuditEventQuerySet:
        """Leave out what belongs to a plan of many."""
        return self.exclude(source=AuditEvent.Source.DASHBOARD, request_id__startswith="plan:")

    def scans(self) -> AuditEventQuerySet:
        """Narrow to the passes of the retry gate, on the timer or by hand."""
        return self.filter(kind=Kind.AUTO_RETRY_SCAN)

    def requeues_of(self, scan: AuditEvent) -> AuditEventQuerySet:
        """Return what one pass requeued, in order: rows of the same request, among those shortly before its own."""
        beside = self.filter(pk__lt=scan.pk, pk__gt=scan.pk - LATELY, request_id=scan.request_id)
        return beside.filter(kind=Kind.REPAIR_APPLIED).order_by("pk") if scan.request_id else self.none()

    def failed_sweeps(self) -> AuditEventQuerySet:
        """Narrow to steps of the sweep that failed, the newest first."""
        return self.filter(kind=Kind.SWEEP_FAILED).order_by("-pk")

    def newest_first(self) -> AuditEventQuerySet:
        return self.order_by("-pk")


class AuditEvent(models.Model):
    """One decision, as it was taken. Append-only: triggers refuse UPDATE and DELETE on both databases.

    Ids and names are plain copies, so that the row outlives what it describes.
    """

    class Source(models.TextChoices):
        """The way in of the caller."""

        API = "api"
        DASHBOARD = "dashboard"
        CLI = "cli"
        SCHEDULER = "scheduler"
        LOCAL = "local"  # in process, through mailbox.Mailbox

    kind = models.CharField(max_length=60)
    actor = models.CharField(max_length=250)  # agent display, operator:<user>, cli:<user>, scheduler@hub, anonymous
    actor_pubkey = models.CharField(max_length=64, null=True)  # None: not an agent
    task_id = models.UUIDField(null=True)  # the public task id, also of tasks that never existed here
    # From 1, per task, given out under the task row's lock: no gaps, and commit order within a task.
    # None: a check or refusal beside the task's life.
    seq = models.PositiveIntegerField(null=True)
    data = models.TextField()  # JSON text, one shape per kind
    at = models.DateTimeField()
    request_id = models.CharField(max_length=64, blank=True)
    source = models.CharField(max_length=10, choices=Source.choices)

    objects: ClassVar[AuditEventQuerySet] = managed_by(AuditEventQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task_id", "seq"], name="audit_task_seq_unique"),
            models.CheckConstraint(condition=Q(seq=None) | Q(task_id__isnull=False), name="audit_seq_needs_task"),
        ]
        indexes = [
            models.Index(fields=["actor_pubkey", "-id"], name="audit_actor", condition=Q(actor_pubkey__isnull=False)),
            # the scheduler's page: its passes, few among very many rows.
            models.Index(fields=["-id"], name="audit_scans", condition=Q(kind=Kind.AUTO_RETRY_SCAN.value)),
            # the list of repairs: they are rare among all that is journalled.
            models.Index(fields=["-id"], name="audit_repairs", condition=Q(kind=Kind.REPAIR_APPLIED.value)),
            # the journal by kind and by who did it, but for what agents do all the time.
            models.Index(
                fields=["kind", "-id"], name="audit_by_kind", condition=~Q(kind__in=[kind.value for kind in FREQUENT])
            ),
            models.Index(fields=["actor", "-id"], name="audit_by_people", condition=Q(actor_pubkey=None)),
            # what people and the scheduler did: few rows among those of the API, which are not in it.
            models.Index(fields=["source", "-id"], name="audit_by_source", condition=~Q(source="api")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.actor}"

    @property
    def fields(self) -> dict[str, Any]:
        """The data as the shape its kind defines."""
        loaded: dict[str, Any] = json_text.loads(self.data)
        return loaded
