"""The task: one row for any dialect, and the lock of every row that belongs to it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Left
from django.db.models.lookups import LessThanOrEqual

from mailbox.database import descent, outages
from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent
from mailbox.models.lease import Lease
from mailbox.models.result import ERROR_READ, Result
from mailbox.models.task_indexes import CONSTRAINTS, INDEXES
from mailbox.words import json_text
from mailbox.words.envelopes import A2A, DuplicateSafety, TaskEnvelope, TaskSource
from mailbox.words.errors import UnknownTaskError
from mailbox.words.ids import IdPattern
from mailbox.words.times import epoch_ms


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

    def by_id(self, task_id: UUID) -> Task:
        """Return the task of this id.

        Raises `UnknownTaskError`, the same for an absent task and for a task that this queryset leaves out. Before that
        it confirms its read, as `outages.confirm_reads` does.
        """
        if (task := self.filter(uuid=task_id).first()) is None:
            outages.confirm_reads()
            raise UnknownTaskError.of(task_id)
        return task

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


def id_of_copy(task_id: UUID) -> UUID:
    """Return the id of the one copy as which a task is sent again. A copy can be copied in turn."""
    return uuid.uuid5(task_id, "copy")


class Task(models.Model):
    """A request from one agent to another, in any dialect. Source: Covenant A2A, wire types."""

    class State(models.TextChoices):
        QUEUED = "queued"  # waiting to be leased
        IN_FLIGHT = "in_flight"  # leased; a restart of the hub does not change that
        INTERRUPTED = "interrupted"  # its holder put a question to its sender; no agent holds it
        RESOLVED = "resolved"  # final; has exactly one result

    class Awaits(models.TextChoices):
        """The reason why a task is interrupted."""

        INPUT = "input"  # the sender's answer
        AUTHORIZATION = "authorization"  # the sender's answer, or a lease of the task by its id

    class Outcome(models.TextChoices):
        """How a resolved task ended. The last three are ``error`` in results, and in dialects without such a word."""

        OK = "ok"
        PARTIAL = "partial"
        ERROR = "error"
        CANCELLED = "cancelled"
        REJECTED = "rejected"
        EXPIRED = "expired"

    uuid = models.UUIDField(unique=True, default=uuid.uuid4)  # the id in every dialect; the sender may choose it
    sender = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+", db_index=False)
    recipient = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+", db_index=False)
    intent_text = models.TextField()  # never blank
    task_kind = models.CharField(max_length=500, null=True)  # None: not declared
    parent = models.UUIDField(null=True)  # another task's uuid, which need not exist (yet)
    deadline_ms = models.BigIntegerField(null=True)  # Unix epoch milliseconds; a task past its deadline is never leased
    duplicate_safety = models.CharField(max_length=10, null=True)  # None: not declared, so unsafe
    idempotency_key = models.CharField(max_length=500, null=True)  # as sent; compared trimmed
    context_id = models.CharField(max_length=500, null=True)  # the conversation, in dialects that have one
    metadata = models.TextField(default="{}")  # JSON text of an object, opaque to the hub
    source = models.CharField(max_length=5, default=TaskSource.AGENT)  # agent, or user for a person
    work_timeout = models.DurationField(null=True)  # how long one lease may last; None: no limit

    dialect = models.CharField(max_length=20, default="mailbox")  # the dialect that it was sent in
    # Digest of sender, recipient, kind and key of an idempotent task; None: never cached.
    cache_key = models.CharField(max_length=64, null=True)
    # The unresolved task whose result this duplicate takes. While set, the task is queued but never leased.
    waits_on = models.ForeignKey("self", models.PROTECT, null=True, related_name="+", db_index=False)

    calls_back = models.BooleanField(default=False, db_default=False)  # whether it has a callback, see PushConfig
    size = models.IntegerField(
        default=0, db_default=0
    )  # bytes of its payload, updates and result, for the sender's quota

    converses = models.BooleanField(default=False, db_default=False)  # its sender takes questions, and can say more
    # Whether its sender reads the result by the task's id. The result is then stored as delivered, and never drained.
    reads_result = models.BooleanField(default=False, db_default=False)
    turn = models.IntegerField(default=1, db_default=1)  # number of messages of its sender, the task itself included

    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    awaits = models.CharField(max_length=13, choices=Awaits.choices, null=True)  # set while interrupted
    outcome = models.CharField(max_length=10, choices=Outcome.choices, null=True)  # set when resolved
    attempt = models.PositiveIntegerField(default=0)  # number of leases so far; a requeue keeps it
    sent_at = models.DateTimeField()
    queued_at = models.DateTimeField()  # sent_at, later the time of the last return to the queue
    resolved_at = models.DateTimeField(null=True)
    journal_seq = models.PositiveIntegerField(default=1)  # the seq of its newest journal row
    # The time of its newest change that its sender sees: state, message or progress.
    # None: an earlier version stored the task.
    status_at = models.DateTimeField(null=True)
    is_direct = models.BooleanField(default=False, db_default=False)  # its result is one message and no task

    # No column, but a mark of the object that a send returns: whether it was sent before, by an earlier request.
    was_sent_before = False

    objects: ClassVar[TaskQuerySet] = managed_by(TaskQuerySet)

    class Meta:
        constraints = CONSTRAINTS
        indexes = INDEXES

    def __str__(self) -> str:
        return str(self.uuid)

    @classmethod
    def from_envelope(cls, envelope: TaskEnvelope, *, sender: Agent, recipient: Agent, now: datetime) -> Self:
        """Return the unsaved row of a new task."""
        idempotency = envelope.idempotency
        return cls(
            uuid=envelope.id or uuid.uuid4(),
            sender=sender,
            recipient=recipient,
            intent_text=envelope.intent_text,
            task_kind=envelope.task_kind,
            parent=envelope.parent,
            deadline_ms=envelope.deadline_ms,
            duplicate_safety=idempotency and idempotency.duplicate_safety,
            idempotency_key=idempotency and idempotency.key,
            context_id=envelope.context_id,
            metadata=json_text.dumps(dict(envelope.metadata)),
            source=envelope.source,
            dialect=envelope.dialect,
            converses=envelope.converses,
            reads_result=envelope.reads_result,
            calls_back=envelope.callback_url is not None,
            size=envelope.size,
            work_timeout=envelope.work_timeout,
            sent_at=now,
            queued_at=now,
            status_at=now,
        )

    def says(self, other: Task) -> bool:
        """Whether ``other`` repeats this task, sent by the same sender."""
        has_same_parties = self.sender_id == other.sender_id and self.recipient_id == other.recipient_id
        return has_same_parties and json_text.same(self.compared_values(), other.compared_values())

    def compared_values(self) -> Sequence[object]:
        """Return what a repeated send must repeat beside the parties, as JSON values."""
        return [
            *(self.intent_text, self.task_kind, self.deadline_ms, self.context_id),
            *(self.duplicate_safety, self.idempotency_key, json_text.loads(self.metadata)),
            *(str(value) if value else None for value in (self.parent, self.work_timeout)),
        ]

    @property
    def official_metadata(self) -> Mapping[str, Any]:
        """The metadata that the official protocol stored with the task; none in a task of another dialect."""
        return json_text.loads(self.metadata) if self.dialect == A2A else {}

    @property
    def is_compacted(self) -> bool:
        """Whether it has no row any more: the journal alone still answers its repeats."""
        return self.pk is None

    @property
    def is_idempotent(self) -> bool:
        """Whether the task declares that doing it twice is safe, with a key."""
        return self.duplicate_safety == DuplicateSafety.IDEMPOTENT and bool((self.idempotency_key or "").strip())

    def context_for(self, agent: Agent | None) -> str | None:
        """Return the id of the conversation as ``agent`` sees it, None for people; None without a conversation.

        Senders choose their ids freely, so the recipient gets an id that no other sender can choose.
        """
        if agent is None or agent.pk != self.recipient_id or self.context_id is None:
            return self.context_id
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.sender.pubkey} {self.context_id}"))

    def is_overdue(self, now: datetime) -> bool:
        return self.deadline_ms is not None and self.deadline_ms <= epoch_ms(now)

    def live_lease(self) -> Lease | None:
        return self.leases.live().select_related("holder").first()

    def asking_lease(self) -> Lease | None:
        """Return the lease that ended with the open question; None unless the task is interrupted."""
        return self.leases.filter(attempt=self.attempt).first() if self.state == Task.State.INTERRUPTED else None

    def change(self, **fields: object) -> None:
        """Store ``fields`` and take the next journal number, under the row's lock. The caller journals one row."""
        self.journal_seq += 1
        for name, value in fields.items():
            setattr(self, name, value)
        self.save(update_fields=[*fields, "journal_seq"])

    @property
    def result_or_none(self) -> Result | None:
        """Its result; None while the task is unresolved, even if the result was posted since this row was read."""
        return None if self.outcome is None else getattr(self, "result", None)

    def start_lease(self, holder: Agent, now: datetime, *, attempt_id: UUID | None, index: int) -> Lease:
        """Lease this queued or interrupted task to ``holder``."""
        self.change(state=Task.State.IN_FLIGHT, awaits=None, attempt=self.attempt + 1, status_at=now)
        lease = Lease(
            task=self,
            holder=holder,
            attempt=self.attempt,
            leased_at=now,
            last_seen_at=now,
            times_out_at=now + self.work_timeout if self.work_timeout else None,
            receive_attempt_id=attempt_id,
            receive_index=index,
        )
        lease.save(force_insert=True)
        return lease

    def return_to_queue(self, lease: Lease, how: Lease.End, now: datetime) -> None:
        """End ``lease`` and put the task at the back of the queue. It keeps its id and attempt."""
        lease.finish(how, now)
        self.change(state=Task.State.QUEUED, queued_at=now, status_at=now)

    def hear(self, size: int, now: datetime) -> None:
        """Count a message of the sender with ``size`` bytes. An interrupted task goes to the back of the queue."""
        counted = {"turn": self.turn + 1, "size": self.size + size, "status_at": now}
        if self.state == Task.State.INTERRUPTED:
            self.change(state=Task.State.QUEUED, awaits=None, queued_at=now, **counted)
        else:
            self.change(**counted)

    def resolve(
        self,
        outcome: Task.Outcome,
        now: datetime,
        *,
        content: Sequence[Mapping[str, Any]] = (),
        error_message: str | None = None,
        posted_by: Agent | None = None,
        replayed_from: UUID | None = None,
        is_direct: bool = False,
        has_more: bool = False,
    ) -> Result:
        """Resolve the task and store its result. A live lease must have been ended."""
        result = Result(
            task=self,
            sender_id=self.sender_id,
            recipient_id=self.recipient_id,
            status=Result.Status.of(outcome),
            content=json_text.dumps([dict(block) for block in content]),
            error_message=error_message,
            posted_by=posted_by,
            replayed_from=replayed_from,
            posted_at=now,
            has_more=has_more,
            delivery=Result.Delivery.DELIVERED if self.reads_result else Result.Delivery.PENDING,
            delivered_at=now if self.reads_result else None,
        )
        self.size += result.size
        self.change(
            state=Task.State.RESOLVED,
            outcome=outcome,
            resolved_at=now,
            awaits=None,
            waits_on=None,
            size=self.size,
            status_at=now,
            is_direct=is_direct,
        )
        result.save(force_insert=True)
        return result
