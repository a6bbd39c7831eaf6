"""The row that joins a task of the hub to the task that a remote agent does for it."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.db import models

from mailbox.database.managers import managed_by
from mailbox.models import Task
from mailbox.words.a2a.v1_0 import LONGEST_TENANT


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
    told_turn = models.PositiveIntegerField(default=0)  # number of messages of the sender that the agent was sent
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
