from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID, uuid5

from django.db import models
from django.db.models import Exists, OuterRef
from django.db.models.functions import Length

from mailbox.database.managers import managed_by
from mailbox.models.audit import AuditEvent
from mailbox.words import json_text
from mailbox.words.conversation import PROGRESS
from mailbox.words.kinds import Kind


class MessageQuerySet(models.QuerySet["Message"]):
    def in_order(self) -> MessageQuerySet:
        return self.order_by("seq")

    def posted_by(self, attempt_id: UUID, task_id: int) -> MessageQuerySet:
        """Narrow to the messages of one call for a task, in order."""
        return self.filter(task=task_id, post_attempt_id=attempt_id).in_order()

    def of_role(self, role: Message.Role) -> MessageQuerySet:
        return self.filter(role=role)

    def closing(self) -> MessageQuerySet:
        """Narrow to the closing words of results: the messages with the number of the result's journal row."""
        posted = AuditEvent.objects.filter(task_id=OuterRef("task__uuid"), seq=OuterRef("seq"))
        return self.filter(Exists(posted.filter(kind__in=[Kind.RESULT_POSTED, Kind.RESULT_REPLAYED])))

    def closing_of(self, task_id: int, seq: int) -> MessageQuerySet:
        """Narrow to the closing words of a resolved task, also before its journal rows are written.

        ``seq`` is the number of the task's newest row. No message comes after a result, so a message with it closes.
        """
        return (self.filter(seq=seq) | self.closing()).filter(task=task_id)

    def newest_of(self, task_id: int, *, seq: int, most: int, characters: int) -> tuple[list[Message], bool]:
        """Return the newest messages of a task in order, and whether these are all of its messages.

        They are at most ``most``. Older messages are left out once the JSON exceeds ``characters``. ``seq`` is the
        newest number of the task as it was read. Messages above it are left out, so that no answer shows them beside an
        older state.
        """
        messages = self.filter(task=task_id, seq__lte=seq)
        sizes = list(messages.order_by("-seq").values_list("seq", Length("content"))[: most + 1])
        wanted, left = 0, characters
        for _, size in sizes[:most]:
            wanted += 1
            left -= size
            if left < 0:
                break
        if not wanted:
            return [], True
        return list(messages.filter(seq__gte=sizes[wanted - 1][0]).in_order()), wanted == len(sizes)


class Message(models.Model):
    """A message of a task's holder or sender, the holder's progress, or both.

    A question without words is a row without blocks. Source: corvid-agent, agent messages; A2A, history.
    """

    class Role(models.TextChoices):
        AGENT = "agent"  # the recipient of the task
        USER = "user"  # the sender of the task

    task = models.ForeignKey("mailbox.Task", models.CASCADE, related_name="messages", db_index=False)
    seq = models.PositiveIntegerField()  # the number of its row in the task's journal
    # JSON text: an array of content blocks, then perhaps a block of type PROGRESS with value (0 to 1) and note.
    content = models.TextField()
    said_at = models.DateTimeField()
    post_attempt_id = models.UUIDField(null=True)  # the caller's id of the call; None without one
    role = models.CharField(max_length=5, choices=Role.choices, default=Role.AGENT, db_default=Role.AGENT)
    message_id = models.TextField(blank=True, default="", db_default="")  # as its author named it; see `shown_id`
    # JSON text of an object: metadata, extensions, reference_task_ids, each only if the author gave it.
    extra = models.TextField(default="{}", db_default="{}")

    objects: ClassVar[MessageQuerySet] = managed_by(MessageQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "seq"], name="message_seq_unique")]
        indexes = [
            models.Index(
                fields=["task", "post_attempt_id"],
                name="message_by_attempt",
                condition=models.Q(post_attempt_id__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"message {self.seq} of task {self.task_id}"

    @property
    def blocks(self) -> list[dict[str, Any]]:
        loaded: list[dict[str, Any]] = json_text.loads(self.content)
        return loaded

    @property
    def words(self) -> list[dict[str, Any]]:
        """Return the content blocks, without the progress."""
        return [block for block in self.blocks if block["type"] != PROGRESS]

    @property
    def progress(self) -> dict[str, Any] | None:
        """Return the progress as a block with value and note; None for a message without progress."""
        return next((block for block in self.blocks if block["type"] == PROGRESS), None)

    @property
    def is_progress_alone(self) -> bool:
        return all(block["type"] == PROGRESS for block in self.blocks)

    @property
    def details(self) -> dict[str, Any]:
        """Return ``extra`` as a dict."""
        loaded: dict[str, Any] = json_text.loads(self.extra)
        return loaded

    @property
    def shown_id(self) -> str:
        """The id of the message: as its author named it, else derived from task and seq, so that each read agrees.

        The task must be loaded.
        """
        return self.message_id or str(uuid5(self.task.uuid, f"message {self.seq}"))
