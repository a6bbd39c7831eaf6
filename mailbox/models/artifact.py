"""Artifacts: the work that a holder produces before the result, whole or in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.db import models

from mailbox.database.managers import managed_by
from mailbox.words import json_text

if TYPE_CHECKING:
    from mailbox.models.task import Task


class ArtifactQuerySet(models.QuerySet["Artifact"]):
    def in_order(self) -> ArtifactQuerySet:
        return self.order_by("seq")

    def posted_by(self, attempt_id: UUID, task: Task) -> ArtifactQuerySet:
        """Narrow to the artifacts and chunks of one call for a task, in order."""
        return self.filter(task=task, post_attempt_id=attempt_id).in_order()


class Artifact(models.Model):
    """One whole artifact of a task, or one chunk. Rows are never changed. Source: A2A, artifacts.

    A reader sees the fold of the rows with one ``artifact_id``. A row without ``append`` places or replaces the
    artifact. A row with ``append`` adds its blocks. Compaction deletes the rows with their task.
    """

    task = models.ForeignKey("mailbox.Task", models.CASCADE, related_name="artifacts", db_index=False)
    seq = models.PositiveIntegerField()  # the number of its row in the task's journal
    artifact_id = models.CharField(max_length=500)  # as the holder named it; unique within the task by the fold
    append = models.BooleanField()  # whether the blocks are added to the artifact, and not a new one
    last_chunk = models.BooleanField()  # whether the artifact is complete with this row
    content = models.TextField()  # JSON text: an array of content blocks
    # JSON text of an object: name, description, metadata, extensions, each only if the holder gave it.
    extra = models.TextField(default="{}")
    said_at = models.DateTimeField()
    post_attempt_id = models.UUIDField(null=True)  # the holder's id of the call; None without one

    objects: ClassVar[ArtifactQuerySet] = managed_by(ArtifactQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "seq"], name="artifact_seq_unique")]
        indexes = [
            models.Index(
                fields=["task", "post_attempt_id"],
                name="artifact_by_attempt",
                condition=models.Q(post_attempt_id__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"artifact {self.artifact_id} in row {self.seq} of task {self.task_id}"

    @property
    def blocks(self) -> list[dict[str, Any]]:
        loaded: list[dict[str, Any]] = json_text.loads(self.content)
        return loaded

    @property
    def details(self) -> dict[str, Any]:
        """Return ``extra`` as a dict."""
        loaded: dict[str, Any] = json_text.loads(self.extra)
        return loaded
