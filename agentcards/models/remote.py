"""Rows about remote agents: their cards, the calls to them, their outages, and the conversations about tasks.

A `RemoteConversation` joins a task of the hub to the task that a remote agent does for it.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q

from agentcards.fields import SealedUrlField
from mailbox.database.managers import managed_by
from mailbox.models import Agent, Lease, Task
from mailbox.words import digests
from mailbox.words.a2a.v1_0 import LONGEST_TENANT
from mailbox.words.redaction import has_credentials

MAX_A2A_DEPTH = 3  # agents that may have passed a request on, including its sender


class RemoteCard(models.Model):
    """A cached card of a remote agent, shared by all processes. Source: corvid-agent, card cache."""

    url = models.CharField(max_length=600, unique=True)  # of the card itself
    document = models.TextField()  # JSON text, as received
    fetched_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.url

    @property
    def card(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.document)
        return loaded


class RemoteCallQuerySet(models.QuerySet["RemoteCall"]):
    def at_work(self, now: datetime) -> RemoteCallQuerySet:
        """Narrow to calls that a remote agent works on or that are being submitted.

        Leaves out calls whose submission was interrupted.
        """
        lasts = RemoteCall.SUBMISSION_LASTS
        being_submitted = Q(remote_task_id=None, began_at__gte=now - lasts, began_at__lte=now + lasts)
        return self.filter(Q(remote_task_id__isnull=False) | being_submitted, lease__ended_at=None)

    def due(self, now: datetime) -> RemoteCallQuerySet:
        """Narrow to calls whose next poll is due, the longest due first.

        A poll planned further ahead than `RemoteCall.FURTHEST` is due: its time was taken from a clock that ran ahead.
        """
        is_due = Q(next_look_at__lte=now) | Q(next_look_at__gt=now + RemoteCall.FURTHEST)
        return self.filter(is_due, lease__ended_at=None).order_by("next_look_at")

    def cut(self, now: datetime) -> RemoteCallQuerySet:
        """Narrow to calls whose submission was interrupted and may be repeated.

        Either nothing was sent, because a call of the official protocol sends after it has stored its conversation. Or
        the agent is of a hub, which does a repeated submission once. Or the agent was sent all messages.
        """
        before = now - RemoteCall.SUBMISSION_LASTS
        unsent = Q(protocol=RemoteCall.Protocol.OFFICIAL, lease__task__remote_conversation=None)
        of_hub = Q(lease__task__remote_conversation__is_hub=True)
        has_all = Q(lease__task__remote_conversation__told_turn__gte=F("lease__task__turn"))
        calls = self.filter(unsent | of_hub | has_all, remote_task_id=None, lease__ended_at=None)
        return calls.filter(began_at__lt=before).order_by("began_at")

    def over(self) -> RemoteCallQuerySet:
        """Narrow to calls whose lease has ended, for any reason."""
        return self.filter(lease__ended_at__isnull=False)


class RemoteCall(models.Model):
    """A lease whose task the hub has a remote agent do. One per lease, deleted after the lease has ended.

    The row exists before the hub submits the task. If a carrier dies, no other carrier submits the task again. The row
    keeps the remote task's id, so that another carrier can continue to poll it.
    """

    SUBMISSION_LASTS = timedelta(minutes=1)  # longer than any submission can take
    FURTHEST = timedelta(minutes=5)  # no poll is planned further ahead
    USUAL_TIMEOUT, OFFICIAL_TIMEOUT = timedelta(minutes=5), timedelta(days=1)

    class Protocol(models.TextChoices):
        CORVID = "corvid"
        OFFICIAL = "official"

    lease = models.OneToOneField("mailbox.Lease", models.CASCADE, related_name="remote_call")
    # The protocol that the agent speaks.
    protocol = models.CharField(
        max_length=10, choices=Protocol.choices, default=Protocol.CORVID, db_default=Protocol.CORVID
    )
    base_url = SealedUrlField(max_length=500)  # of the agent, when the call began; encrypted if it has credentials
    # The remote agent's id of the task. None: being submitted, or interrupted; then it is unknown if the agent has it.
    remote_task_id = models.CharField(max_length=500, null=True)
    began_at = models.DateTimeField()
    gives_up_at = models.DateTimeField()  # the end of the work timeout, or the task's deadline if that is earlier
    next_look_at = models.DateTimeField(null=True)  # time of the next poll; None until there is a remote task
    messages_seen = models.PositiveIntegerField(default=0)  # messages of the remote agent posted as updates

    objects: ClassVar[RemoteCallQuerySet] = managed_by(RemoteCallQuerySet)

    class Meta:
        indexes = [models.Index(fields=["next_look_at"], name="remote_call_due")]

    def __str__(self) -> str:
        return f"remote task {self.remote_task_id or '(not known)'} of lease {self.lease.lease_id}"

    @classmethod
    def begin(cls, lease: Lease, url: str, protocol: str, *, remote_task_id: str | None = None) -> RemoteCall:
        """Store the call of a lease that has begun. With a ``remote_task_id`` nothing is to submit, and a poll is due.

        Without a work timeout and a deadline the agent has five minutes, or a day in the official protocol.
        """
        usual = cls.USUAL_TIMEOUT if protocol == cls.Protocol.CORVID else cls.OFFICIAL_TIMEOUT
        gives_up_at = lease.leased_at + (lease.task.work_timeout or usual)
        if lease.task.deadline_ms is not None:
            left = lease.task.deadline_ms / 1000 - lease.leased_at.timestamp()
            gives_up_at = min(gives_up_at, lease.leased_at + timedelta(seconds=max(0.0, left)))
        return cls.objects.create(
            lease=lease,
            base_url=url,
            protocol=protocol,
            remote_task_id=remote_task_id,
            began_at=lease.leased_at,
            gives_up_at=gives_up_at,
            next_look_at=None if remote_task_id is None else lease.leased_at,
        )

    @property
    def timeout_ms(self) -> int:
        """The time the remote agent has for the task, counted from the start of the lease."""
        return (self.gives_up_at - self.lease.leased_at) // timedelta(milliseconds=1)

    def is_out_of_time(self, now: datetime) -> bool:
        """Whether the deadline or the work timeout of the task itself has passed, and with it ``gives_up_at``."""
        return self.lease.task.is_overdue(now) or self.lease.has_timed_out(now)

    def claim(self, until: datetime) -> bool:
        """Claim the due poll, so that no other carrier polls before ``until``. False: another carrier was first."""
        unclaimed = RemoteCall.objects.filter(pk=self.pk, next_look_at=self.next_look_at)
        self.next_look_at = until
        return bool(unclaimed.update(next_look_at=until))

    def claim_submission(self, now: datetime) -> bool:
        """Claim an interrupted or slow submission. False: another carrier was first. A repeat changes nothing."""
        unclaimed = RemoteCall.objects.filter(pk=self.pk, began_at__in=[self.began_at, now], remote_task_id=None)
        is_claimed = bool(unclaimed.update(began_at=now))
        self.began_at = now
        return is_claimed


class RemoteOutageQuerySet(models.QuerySet["RemoteOutage"]):
    def put_off(self, now: datetime) -> RemoteOutageQuerySet:
        """Narrow to outages whose next call is not due yet.

        A time beyond the longest pause was set by a clock that was ahead, and does not count.
        """
        return self.filter(next_call_at__gt=now, next_call_at__lte=now + RemoteOutage.LONGEST_PAUSE)


class RemoteOutage(models.Model):
    """A remote agent to which the hub could not connect.

    The row is deleted after the next connection, and when the agent's URL changes.
    """

    SHORTEST_PAUSE, LONGEST_PAUSE = timedelta(seconds=1), timedelta(minutes=5)

    agent = models.OneToOneField(Agent, models.CASCADE, related_name="remote_outage")
    # Of the agent, when the calls failed; of a URL with credentials only the digest.
    base_url = models.CharField(max_length=500)
    since = models.DateTimeField()  # time of the first failure
    next_call_at = models.DateTimeField()

    objects: ClassVar[RemoteOutageQuerySet] = managed_by(RemoteOutageQuerySet)

    def __str__(self) -> str:
        return f"no connection to {self.agent} since {self.since}"

    @classmethod
    def extend(cls, agent: Agent, base_url: str, now: datetime) -> RemoteOutage:
        """Record a failed connection, and put the next call off by the time since the first failure, within bounds.

        So the pauses double. The failure of a call that had begun before the last pause changes nothing. Runs in a
        transaction, and locks the row.
        """
        base_url = f"digest:{digests.digest(base_url)}" if has_credentials(base_url) else base_url
        begun = {"base_url": base_url, "since": now, "next_call_at": now + cls.SHORTEST_PAUSE}
        row, is_new = cls.objects.select_for_update().get_or_create(agent=agent, defaults=begun)
        if is_new or (row.base_url == base_url and now < row.next_call_at <= now + cls.LONGEST_PAUSE):
            return row
        if row.base_url != base_url or row.since > now:
            row.base_url, row.since = base_url, now
        row.next_call_at = now + min(max(now - row.since, cls.SHORTEST_PAUSE), cls.LONGEST_PAUSE)
        row.save(update_fields=["base_url", "since", "next_call_at"])
        return row


class RemoteConversationQuerySet(models.QuerySet["RemoteConversation"]):
    def over(self) -> RemoteConversationQuerySet:
        """Narrow to conversations whose task of the hub is resolved."""
        return self.filter(task__state=Task.State.RESOLVED)

    def awaiting_authorization(self, now: datetime) -> RemoteConversationQuerySet:
        """Narrow to conversations whose agent waits for an authorization, and whose next poll is due."""
        waiting = {"task__state": Task.State.INTERRUPTED, "task__awaits": Task.Awaits.AUTHORIZATION}
        return self.filter(next_look_at__lte=now, **waiting).order_by("next_look_at")


class RemoteConversation(models.Model):
    """A task of the hub whose work a remote agent does over the official protocol.

    One per task. The row outlives the leases of its task: after the answer to a question the next lease goes on with
    the same remote task. It is deleted after the task is resolved. Source: A2A, multi-turn tasks.
    """

    task = models.OneToOneField("mailbox.Task", models.CASCADE, related_name="remote_conversation")
    # The interface of the card that the hub chose for the first message. The whole conversation is held there.
    interface_url = models.CharField(max_length=500)
    binding = models.CharField(max_length=20)
    tenant = models.CharField(max_length=LONGEST_TENANT, default="")
    streams = models.BooleanField()
    key_header = models.CharField(max_length=100)
    is_hub = models.BooleanField()  # whether the agent does a repeated submission once
    remote_task_id = models.CharField(max_length=500, null=True)  # None: not known yet
    remote_context_id = models.CharField(max_length=500, default="")
    # Number of messages of the sender that the agent was sent. The last does not count if it was answered directly.
    told_turn = models.PositiveIntegerField(default=0)
    asked = models.CharField(max_length=600, default="")  # what tells its last question from the next; "" before one
    has_ended = models.BooleanField(default=False)  # whether the remote task is known to have ended
    # The next poll of a remote task that awaits an authorization. None: a call polls it, or nothing does.
    next_look_at = models.DateTimeField(null=True)

    objects: ClassVar[RemoteConversationQuerySet] = managed_by(RemoteConversationQuerySet)

    def __str__(self) -> str:
        return f"remote task {self.remote_task_id or '(not known)'} of task {self.task_id}"

    def claim(self, until: datetime) -> bool:
        """Claim the due poll, so that no other carrier polls before ``until``. False: another carrier was first."""
        unclaimed = RemoteConversation.objects.filter(pk=self.pk, next_look_at=self.next_look_at)
        self.next_look_at = until
        return bool(unclaimed.update(next_look_at=until))

    def forget(self) -> bool:
        """Delete the row. False: another carrier has deleted it."""
        return bool(RemoteConversation.objects.filter(pk=self.pk).delete()[0])
