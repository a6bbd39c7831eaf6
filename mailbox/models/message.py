from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from mailbox import json_text


class MessageQuerySet(models.QuerySet["Message"]):
    def in_order(self) -> MessageQuerySet:
        return self.order_by("seq")


class Message(models.Model):
    """What the holder of a task said while at work. Source: corvid-agent, agent messages; A2A, history."""

    task = models.ForeignKey("mailbox.Task", models.CASCADE, related_name="messages", db_index=False)
    seq = models.PositiveIntegerField()  # the number of its row in the task's journal
    content = models.TextField()  # JSON text: an array of content blocks
    said_at = models.DateTimeField()

    objects: ClassVar[MessageQuerySet] = MessageQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "seq"], name="message_seq_unique")]

    def __str__(self) -> str:
        return f"message {self.seq} of task {self.task_id}"

    @property
    def blocks(self) -> list[dict[str, Any]]:
        loaded: list[dict[str, Any]] = json_text.loads(self.content)
        return loaded
