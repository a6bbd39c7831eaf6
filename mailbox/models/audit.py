from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL

from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent
from mailbox.words import json_text
from mailbox.words.kinds import FREQUENT, Kind

LATELY = 5_000
NAMED_AMONG = 20_000
_PRESENCE = (Kind.PERSON_SIGNED_IN, Kind.PERSON_SIGNED_OUT, Kind.PERSON_SIGN_IN_FAILED, Kind.PERSON_LOCKED_OUT)
_LITERALS = ", ".join(f"'{kind}'" for kind in FREQUENT)
# Excludes the frequent kinds, as the index by kind does. SQLite uses that index only if literals exclude them.
OF_RARE_KINDS = ~Q(RawSQL(f"mailbox_auditevent.kind IN ({_LITERALS})", (), models.BooleanField()))  # noqa: S611 (constant)
_RECEIPTS = (Kind.RESULT_DELIVERED, Kind.RESULT_ACKED)


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    def of_task(self, task_id: UUID) -> AuditEventQuerySet:
        """Return the numbered rows of one task, in order."""
        return self.filter(task_id=task_id, seq__isnull=False).order_by("seq")

    def of_tasks(self, task_ids: Collection[UUID], *, after: int) -> AuditEventQuerySet:
        """Return the numbered rows of these tasks with greater numbers than ``after``, those of each task in order."""
        return self.filter(task_id__in=task_ids, seq__gt=after).order_by("task_id", "seq")

    def lives_among(self, task_ids: Collection[UUID]) -> models.QuerySet[AuditEvent, UUID | None]:
        """Return which of these tasks have numbered rows, also compacted tasks."""
        return self.filter(task_id__in=task_ids, seq=1).values_list("task_id", flat=True)

    def compaction_of(self, task_id: UUID) -> AuditEventQuerySet:
        """Narrow to the row of the task's compaction; a task has at most one."""
        return self.filter(task_id=task_id, kind=Kind.TASKS_COMPACTED)

    def compacted_tasks(self, agent: Agent) -> Sequence[UUID]:
        """Return the ids of compacted tasks that the agent sent or received.

        Compaction rows of the first versions name no parties. Their tasks are known by the agent's sends and leases.
        """
        named = self.filter(OF_RARE_KINDS, kind=Kind.TASKS_COMPACTED, data__contains=agent.pubkey)
        rows = named.order_by("pk").values_list("task_id", "data")
        ids = [found for found, data in rows if found and agent.pubkey in _parties(data)]
        acts = self.visible_to(agent).filter(kind__in=(Kind.TASK_SENT, Kind.TASK_LEASED), task_id__isnull=False)
        unnamed = self.filter(OF_RARE_KINDS, kind=Kind.TASKS_COMPACTED, task_id__in=acts.values("task_id"))
        return [*ids, *(found for found in unnamed.order_by("pk").values_list("task_id", flat=True) if found)]

    def of_profile(self, agent: Agent) -> AuditEventQuerySet:
        """Narrow to the changes of the agent's profile, by any caller."""
        named = self.filter(
            OF_RARE_KINDS, kind=Kind.AGENT_PROFILE_CHANGED, data__contains=json_text.dumps(agent.display)
        )
        rows = named.order_by("pk").values_list("pk", "data")
        return self.filter(pk__in=[key for key, data in rows if json_text.loads(data).get("display") == agent.display])

    def of_cards(self, agent: Agent) -> AuditEventQuerySet:
        """Narrow to the agent's own registrations and removals of cards of its jobs."""
        kinds = (Kind.AGENT_CARD_REGISTERED, Kind.AGENT_CARD_DEREGISTERED)
        return self.visible_to(agent).filter(kind__in=kinds)

    def received_among(self, task_ids: Collection[UUID], sender: Agent | None) -> models.QuerySet[AuditEvent, UUID]:
        """Return which of these tasks have a result that ``sender`` received or acknowledged, None for any caller.

        Compacted tasks are among them.
        """
        receipts = self.filter(task_id__in=task_ids, seq__isnull=False, kind__in=_RECEIPTS)
        theirs = receipts if sender is None else receipts.filter(actor_pubkey=sender.pubkey)
        received: models.QuerySet[AuditEvent, Any] = theirs.values_list("task_id", flat=True)
        return received

    def through(self, source: AuditEvent.Source) -> AuditEventQuerySet:
        """Narrow to the rows of one source."""
        rows = self.filter(source=source)
        # The index leaves out rows of the API. The condition is repeated, so that SQLite uses the index.
        return rows if source == AuditEvent.Source.API else rows.exclude(source=AuditEvent.Source.API)

    def by_people(self) -> AuditEventQuerySet:
        """Narrow to the decisions of people on the dashboard, without sign-ins and the single repairs of a plan."""
        decided = self.through(AuditEvent.Source.DASHBOARD).exclude(kind__in=[Kind.CAPABILITY_CHECK, *_PRESENCE])
        return decided.one_by_one()

    def last_before(self, moment: datetime, mark: int) -> int:
        """Return the key up to which all rows are older than ``moment``. The rows up to ``mark`` must be."""
        after = self.filter(pk__gt=mark)
        later = after.filter(at__gte=moment).order_by("pk").values_list("pk", flat=True).first()
        newest = later - 1 if later else after.order_by("-pk").values_list("pk", flat=True).first()
        return max(mark, newest or 0)

    def visible_to(self, party: Agent | None) -> AuditEventQuerySet:
        """Narrow to the rows of this agent's requests. None sees all rows."""
        return self if party is None else self.filter(actor_pubkey=party.pubkey)

    def of_request(self, actor: str, request_id: str) -> AuditEventQuerySet:
        return self.filter(actor=actor, request_id=request_id)

    def since(self, moment: datetime) -> AuditEventQuerySet:
        return self.filter(at__gte=moment)

    def naming(self, lease_id: UUID) -> AuditEventQuerySet:
        """Narrow to the numbered rows that name this lease, among the newest rows of all tasks."""
        newest = AuditEvent.objects.newest_first().values("pk")[:NAMED_AMONG]
        return self.filter(pk__in=newest, seq__isnull=False, data__contains=str(lease_id)).newest_first()

    def repairs(self) -> AuditEventQuerySet:
        """Narrow to applied repairs, of any caller and source."""
        return self.filter(kind=Kind.REPAIR_APPLIED)

    def one_by_one(self) -> AuditEventQuerySet:
        """Leave out the single repairs of a plan."""
        return self.exclude(source=AuditEvent.Source.DASHBOARD, request_id__startswith="plan:")

    def scans(self) -> AuditEventQuerySet:
        """Narrow to the passes of the retry gate, on the timer or by a person."""
        return self.filter(kind=Kind.AUTO_RETRY_SCAN)

    def requeues_of(self, scan: AuditEvent) -> AuditEventQuerySet:
        """Return the requeues of one pass, in order: rows of the same request, shortly before the row of the pass."""
        beside = self.filter(pk__lt=scan.pk, pk__gt=scan.pk - LATELY, request_id=scan.request_id)
        return beside.filter(kind=Kind.REPAIR_APPLIED).order_by("pk") if scan.request_id else self.none()

    def failed_sweeps(self) -> AuditEventQuerySet:
        """Narrow to failed steps of the sweep, newest first."""
        return self.filter(kind=Kind.SWEEP_FAILED).order_by("-pk")

    def newest_first(self) -> AuditEventQuerySet:
        return self.order_by("-pk")


def _parties(data: str) -> Sequence[object]:
    """Return the public keys of both parties in the data of a compaction."""
    fields: Mapping[str, object] = json_text.loads(data)
    return [fields.get("sender"), fields.get("recipient")]


class AuditEvent(models.Model):
    """One decision. Append-only: triggers of both databases refuse UPDATE and DELETE.

    Ids and names are copies, so that the row outlives the rows that it names.
    """

    class Source(models.TextChoices):
        """The way in of the caller."""

        API = "api"
        DASHBOARD = "dashboard"
        CLI = "cli"
        SCHEDULER = "scheduler"
        LOCAL = "local"  # in process, through mailbox.Mailbox

    kind = models.CharField(max_length=60)
    actor = models.CharField(max_length=250)  # an agent's display, user:<name>, cli:<system user>, local, anonymous
    actor_pubkey = models.CharField(max_length=64, null=True)  # None: not an agent
    task_id = models.UUIDField(null=True)  # the task's uuid, perhaps of an unknown task
    # The number of the row within its task, from 1 and without gaps, taken under the task row's lock.
    # None: a check, a refusal or an administrative act.
    seq = models.PositiveIntegerField(null=True)
    data = models.TextField()  # JSON text of an object; its fields depend on the kind
    at = models.DateTimeField()
    request_id = models.CharField(max_length=64, blank=True)
    source = models.CharField(max_length=10, choices=Source.choices)
    # The network address of the client; "" for callers without one, and for rows older than this column.
    address = models.TextField(blank=True, default="", db_default="")

    objects: ClassVar[AuditEventQuerySet] = managed_by(AuditEventQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task_id", "seq"], name="audit_task_seq_unique"),
            models.CheckConstraint(condition=Q(seq=None) | Q(task_id__isnull=False), name="audit_seq_needs_task"),
        ]
        indexes = [
            models.Index(fields=["actor_pubkey", "-id"], name="audit_actor", condition=Q(actor_pubkey__isnull=False)),
            # the scheduler's page: passes are rare.
            models.Index(fields=["-id"], name="audit_scans", condition=Q(kind=Kind.AUTO_RETRY_SCAN.value)),
            # the list of repairs: they are rare.
            models.Index(fields=["-id"], name="audit_repairs", condition=Q(kind=Kind.REPAIR_APPLIED.value)),
            # the journal by kind, without the frequent kinds, and by actor, without agents.
            models.Index(
                fields=["kind", "-id"], name="audit_by_kind", condition=~Q(kind__in=[kind.value for kind in FREQUENT])
            ),
            models.Index(fields=["actor", "-id"], name="audit_by_people", condition=Q(actor_pubkey=None)),
            # the journal by source, without rows of the API.
            models.Index(fields=["source", "-id"], name="audit_by_source", condition=~Q(source="api")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.actor}"

    @property
    def fields(self) -> dict[str, Any]:
        """The data as an object; `mailbox.journal` has a class for each kind."""
        loaded: dict[str, Any] = json_text.loads(self.data)
        return loaded
