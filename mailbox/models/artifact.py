"""Artifacts: the work that a holder produces before the result, whole or in chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar
from uuid import UUID

from django.db import models

from mailbox.database.managers import managed_by
from mailbox.words import json_text


class ArtifactQuerySet(models.QuerySet["Artifact"]):
    def in_order(self) -> ArtifactQuerySet:
        return self.order_by("seq")

    def posted_by(self, attempt_id: UUID, task_id: int) -> ArtifactQuerySet:
        """Narrow to the artifacts and chunks of one call for a task, in order."""
        return self.filter(task=task_id, post_attempt_id=attempt_id).in_order()


class Artifact(models.Model):
    """One whole artifact of a task, or one chunk. Rows are never changed. Source: A2A, artifacts.

    A reader sees the `fold` of the rows. Compaction deletes the rows with their task.
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


class Chunk(Protocol):
    """The columns of a row of `artifacts` that `fold` reads."""

    @property
    def artifact_id(self) -> str: ...
    @property
    def append(self) -> bool: ...


Row = TypeVar("Row", bound=Chunk)


def fold(rows: Iterable[Row]) -> Mapping[str, list[Row]]:
    """Return the rows that make up each artifact, by its id. ``rows`` are the rows of one task, in order.

    A row without ``append`` places the artifact, or replaces it: its earlier rows are dropped, and it comes after the
    artifacts that were placed before. A row with ``append`` adds its blocks, and replaces the details that it gives. If
    its artifact was placed before the first of ``rows``, the artifact begins with the added row.
    Source: A2A, TaskArtifactUpdateEvent.
    """
    folded: dict[str, list[Row]] = {}
    for row in rows:
        if not row.append:
            folded.pop(row.artifact_id, None)
        folded.setdefault(row.artifact_id, []).append(row)
    return folded


def merged(extras: Iterable[str]) -> dict[str, Any]:
    """Return the details of an artifact from the ``extra`` of its rows, in order.

    The name, the description, the metadata and the extensions are each as the newest row gave it.
    """
    details: dict[str, Any] = {}
    for extra in extras:
        details |= json_text.loads(extra)
    return details


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeArtifact:
    """An artifact as a reader sees it, with its blocks and its details, see `fold` and `merged`.

    ``seq`` is the journal number of its newest row, ``said_at`` the time of that row. ``is_complete``: that row was the
    last chunk. ``append``: the rows begin with a chunk of an artifact that was placed before them.
    """

    artifact_id: str
    append: bool
    seq: int
    said_at: datetime
    blocks: list[dict[str, Any]]
    details: dict[str, Any]
    is_complete: bool


def whole(rows: Iterable[Artifact]) -> list[WholeArtifact]:
    """Return the artifacts that ``rows`` make up, in the order of their placement; see `fold`."""
    return [_whole(artifact_id, chunks) for artifact_id, chunks in fold(rows).items()]


def _whole(artifact_id: str, rows: list[Artifact]) -> WholeArtifact:
    newest = rows[-1]
    return WholeArtifact(
        artifact_id=artifact_id,
        append=rows[0].append,
        seq=newest.seq,
        said_at=newest.said_at,
        blocks=[block for row in rows for block in row.blocks],
        details=merged(row.extra for row in rows),
        is_complete=newest.last_chunk,
    )
