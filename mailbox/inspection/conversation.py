"""The conversation about one task: what its parties sent each other, and what its holder produced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from mailbox.gate.callers import Caller
from mailbox.gate.visibility import visible_tasks
from mailbox.models import Artifact, Message, Task
from mailbox.words.errors import UnknownTaskError

MOST_MESSAGES = 1000  # in one answer


@dataclass(slots=True, kw_only=True)
class WholeArtifact:
    """An artifact as a reader sees it: its newest placement and the chunks that were added since.

    ``seq`` is the journal number of its newest row, ``said_at`` the time of that row. ``details`` are the name, the
    description, the metadata and the extensions, each as its newest row gave it. ``is_complete``: that row was the last
    chunk.
    """

    artifact_id: str
    seq: int = 0
    said_at: datetime | None = None
    blocks: list[dict[str, Any]] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    is_complete: bool = False

    def add(self, row: Artifact) -> None:
        if not row.append:
            self.blocks, self.details = [], {}
        self.blocks += row.blocks
        self.details |= row.details
        self.seq, self.said_at, self.is_complete = row.seq, row.said_at, row.last_chunk


def messages(caller: Caller, task_id: UUID, *, after: int = 0, limit: int = 100) -> Sequence[Message]:
    """Return the messages of both parties with a journal number above ``after``, in order, at most ``limit``.

    The task itself is the sender's first message, and no row of these. Progress without a message is a row; a question
    without words is not. Each message has its task loaded.

    Raises `UnknownTaskError`, the same for an absent task and for a task that the caller may not see.
    """
    task = _visible(caller, task_id)
    spoken = Message.objects.filter(task=task, seq__gt=after).exclude(content="[]")
    found = list(spoken.in_order()[: min(limit, MOST_MESSAGES)])
    for message in found:
        message.task = task
    return found


def artifacts(caller: Caller, task_id: UUID) -> Sequence[WholeArtifact]:
    """Return the artifacts of the task, in the order in which they were first placed. Raises as `messages` does."""
    return fold(Artifact.objects.filter(task=_visible(caller, task_id)).in_order())


def fold(rows: Iterable[Artifact]) -> list[WholeArtifact]:
    """Return the artifacts that these rows of one task make, in the order of their first rows."""
    found: dict[str, WholeArtifact] = {}
    for row in rows:
        found.setdefault(row.artifact_id, WholeArtifact(artifact_id=row.artifact_id)).add(row)
    return list(found.values())


def newest_of_senders(tasks: Iterable[Task]) -> Mapping[int, Message]:
    """Return the newest message of each task's sender, by the task's primary key, with the task.

    A task whose sender has sent nothing since the task itself has none. The caller may see the tasks.
    """
    spoken = {task.pk: task for task in tasks if task.turn > 1}
    if not spoken:
        return {}
    of_sender = Message.objects.of_role(Message.Role.USER)
    newest = of_sender.filter(task=OuterRef("task")).order_by("-seq").values("seq")[:1]
    found = {message.task_id: message for message in of_sender.filter(task__in=spoken, seq=Subquery(newest))}
    for key, message in found.items():
        message.task = spoken[key]
    return found


def _visible(caller: Caller, task_id: UUID) -> Task:
    task = visible_tasks(caller).filter(uuid=task_id).only("uuid", "journal_seq", "turn", "state", "awaits").first()
    if task is None:
        raise UnknownTaskError.of(task_id)
    return task
