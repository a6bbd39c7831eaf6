"""The artifacts of one task, each folded from its rows. Their contents are read a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models.functions import Length

from mailbox.database.paging import in_turn
from mailbox.models import Artifact, Task
from mailbox.models.artifact import ArtifactQuerySet, fold, merged
from mailbox.words import json_text


@dataclass(slots=True, kw_only=True)
class Produced:
    """An artifact as it was when its task was read. ``rows`` are the numbers and sizes of its rows, in order.

    A size counts the characters of the row's content as JSON. ``is_complete`` is whether its newest row is its last.
    """

    artifact_id: str
    since: datetime
    until: datetime
    rows: list[tuple[int, int]]
    is_complete: bool

    @property
    def seq(self) -> int:
        """The number of the row that placed it, which names it within its task."""
        return self.rows[0][0]

    @property
    def size(self) -> int:
        return sum(size for _, size in self.rows)


def produced(task: Task) -> Sequence[Produced]:
    """Return the artifacts of a task in the order in which they were placed. No content is read. One query."""
    columns = ("seq", "artifact_id", "append", "last_chunk", "size", "said_at")
    every = _rows(task).annotate(size=Length("content")).values_list(*columns, named=True)
    return [
        Produced(
            artifact_id=artifact_id,
            since=rows[0].said_at,
            until=rows[-1].said_at,
            rows=[(row.seq, row.size) for row in rows],
            is_complete=rows[-1].last_chunk,
        )
        for artifact_id, rows in fold(every).items()
    ]


def placed_at(task: Task, seq: int) -> Produced | None:
    """Return the artifact that the row ``seq`` placed; None without one, and if another row replaced it."""
    return next((one for one in produced(task) if one.seq == seq), None)


def details(task: Task, wanted: Sequence[Produced]) -> Mapping[int, dict[str, Any]]:
    """Return the name, description, metadata and extensions of each artifact by its ``seq``. One query.

    An artifact has those of these that its holder gave. ``wanted`` are of `produced`, in its order.
    """
    seqs = {one.artifact_id: one.seq for one in wanted}
    given = _rows(task).filter(artifact_id__in=seqs, seq__gte=min(seqs.values(), default=0)).exclude(extra="{}")
    extras: dict[int, list[str]] = {one.seq: [] for one in wanted}
    for seq, artifact_id, extra in given.values_list("seq", "artifact_id", "extra"):
        if seq >= seqs[artifact_id]:
            extras[seqs[artifact_id]].append(extra)
    return {seq: merged(of_rows) for seq, of_rows in extras.items()}


def beginnings(
    task: Task, wanted: Sequence[Produced], *, characters: int, largest: int
) -> Mapping[int, tuple[list[dict[str, Any]], bool]]:
    """Return the first content blocks of each artifact by its ``seq``, and whether these are all of them. One query.

    The rows of an artifact are read until ``characters`` of all artifacts are read, or a row exceeds ``largest``.
    """
    blocks: dict[int, list[dict[str, Any]]] = {one.seq: [] for one in wanted}
    numbers: dict[int, int] = {}
    left = characters
    for one in wanted:
        for seq, size in one.rows:
            if left <= 0 or size > largest:
                break
            left -= size
            numbers[seq] = one.seq
    is_all = {one.seq: one.rows[-1][0] in numbers for one in wanted}
    rows = Artifact.objects.filter(task=task, seq__in=numbers).in_order().values_list("seq", "content")
    for seq, content in rows:
        blocks[numbers[seq]] += json_text.loads(content)
    return {seq: (read, is_all[seq]) for seq, read in blocks.items()}


def blocks_of(task: Task, one: Produced) -> Iterator[dict[str, Any]]:
    """Yield all content blocks of an artifact, in order. Few rows are in memory at once."""
    rows = _rows(task).filter(artifact_id=one.artifact_id, seq__gte=one.seq, seq__lte=one.rows[-1][0])
    for row, _ in in_turn(rows, ("seq",)):
        yield from row.blocks


def _rows(task: Task) -> ArtifactQuerySet:
    """Return the rows of a task that were there when it was read, in order."""
    return Artifact.objects.filter(task=task, seq__lte=task.journal_seq).in_order()
