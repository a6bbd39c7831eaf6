"""The task: one row for any dialect, and the lock of every row that belongs to it.

The constraints of every task, in both databases.

The indexes of the tasks, with the queries that use them. An index slows down every change of its tasks.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL

from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent
from mailbox.models.lease import Lease
from mailbox.models.result import Result
from mailbox.models.task_queries import TaskQuerySet
from mailbox.words import json_text
from mailbox.words.envelopes import A2A, DuplicateSafety, TaskEnvelope, TaskSource
from mailbox.words.times import epoch_ms

# Narrows to the dialects beside the hub's own. SQLite uses their indexes only if a literal excludes that one.
OF_OTHER_DIALECTS = ~Q(RawSQL("mailbox_task.dialect = 'mailbox'", (), models.BooleanField()))

INDEXES = [
    models.Index(fields=["waits_on"], name="task_waiters", condition=Q(waits_on__isnull=False)),
    # backlogs: queued tasks of an agent that wait on another task.
    models.Index(fields=["recipient"], name="task_waiting_for", condition=Q(state="queued", waits_on__isnull=False)),
    # leasing.lease_tasks: the oldest queued task of one recipient.
    models.Index(
        fields=["recipient", "queued_at", "id"],
        name="task_lease_order",
        condition=Q(state="queued", waits_on=None),
    ),
    # inspection: queued tasks of one sender.
    models.Index(fields=["sender", "queued_at", "id"], name="task_queued_by_sender", condition=Q(state="queued")),
    # expiry: queued and interrupted tasks past their deadline.
    models.Index(
        fields=["deadline_ms"],
        name="task_open_by_deadline",
        condition=Q(state__in=["queued", "interrupted"], deadline_ms__isnull=False),
    ),
    # the list of tasks, newest first: interrupted tasks.
    models.Index(fields=["id"], name="task_interrupted", condition=Q(state="interrupted")),
    # backlogs: the open questions of one agent, and those to one agent, the oldest first.
    models.Index(fields=["recipient", "status_at"], name="task_questions_of", condition=Q(state="interrupted")),
    models.Index(fields=["sender", "status_at"], name="task_questions_to", condition=Q(state="interrupted")),
    # the list of the official A2A protocol: the tasks of one sender for one recipient, newest status first.
    models.Index(
        fields=["sender", "recipient", "-status_at", "-id"], name="task_by_status_time", condition=Q(dialect="a2a")
    ),
    # compaction.cap_sent: the tasks of one dialect, oldest first.
    models.Index(fields=["dialect", "id"], name="task_by_dialect", condition=~Q(dialect="mailbox")),
    # compaction.cap_sent, and the list of a dialect: the tasks of one sender in one dialect, oldest first.
    models.Index(
        fields=["sender", "dialect", "id"], name="task_by_sender_and_dialect", condition=~Q(dialect="mailbox")
    ),
    models.Index(fields=["parent"], name="task_children", condition=Q(parent__isnull=False)),
    # tree_list.newest: the newest children, whose roots are listed.
    models.Index(fields=["id"], name="task_newest_children", condition=Q(parent__isnull=False)),
    # search: the tasks of one idempotency key, newest first, and those of all keys with one beginning.
    models.Index(
        fields=["idempotency_key", "-id"],
        name="task_by_key_or_prefix",
        opclasses=["varchar_pattern_ops", "int8_ops"],
        condition=Q(idempotency_key__isnull=False),
    ),
    # search: the tasks of one conversation, newest first.
    models.Index(fields=["context_id", "-id"], name="task_by_context", condition=Q(context_id__isnull=False)),
    # the list of tasks, newest first: of one agent, of a rare outcome, of one kind.
    models.Index(fields=["recipient", "id"], name="task_by_recipient"),
    models.Index(fields=["sender", "id"], name="task_by_sender"),
    models.Index(fields=["outcome", "id"], name="task_not_ok", condition=~Q(outcome="ok") & Q(outcome__isnull=False)),
    models.Index(fields=["task_kind", "id"], name="task_by_kind", condition=Q(task_kind__isnull=False)),
]


CONSTRAINTS = [
    models.CheckConstraint(
        condition=Q(state="resolved", resolved_at__isnull=False, outcome__isnull=False)
        | Q(~Q(state="resolved"), resolved_at=None, outcome=None),
        name="task_resolved_at_iff_resolved",
    ),
    models.CheckConstraint(condition=Q(waits_on=None) | Q(state="queued"), name="task_waits_only_in_queue"),
    # One unresolved task does the work of a cache key. Of two duplicates sent at once, one fails here.
    models.UniqueConstraint(
        fields=["cache_key"],
        condition=Q(state__in=["queued", "in_flight", "interrupted"], waits_on=None, cache_key__isnull=False),
        name="task_one_leader_per_cache_key",
    ),
    models.CheckConstraint(condition=Q(deadline_ms=None) | Q(deadline_ms__gte=0), name="task_deadline_not_negative"),
    models.CheckConstraint(
        # NULL IN (...) is unknown, which passes a check. So NULL is tested, too.
        condition=Q(duplicate_safety=None, idempotency_key=None)
        | Q(
            duplicate_safety__isnull=False,
            duplicate_safety__in=["unsafe", "idempotent"],
            idempotency_key__isnull=False,
        ),
        name="task_idempotency_is_whole",
    ),
    models.CheckConstraint(condition=~Q(state="in_flight") | Q(attempt__gte=1), name="task_in_flight_has_attempt"),
    models.CheckConstraint(
        condition=Q(state="interrupted", awaits__isnull=False, awaits__in=["input", "authorization"])
        | Q(~Q(state="interrupted"), awaits=None),
        name="task_awaits_iff_interrupted",
    ),
]


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
        return has_same_parties and json_text.same(self.said(), other.said())

    def said(self) -> Sequence[object]:
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
    def is_idempotent(self) -> bool:
        """Whether the task declares that doing it twice is safe, with a key."""
        return self.duplicate_safety == DuplicateSafety.IDEMPOTENT and bool((self.idempotency_key or "").strip())

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
