"""The artifacts and the closing words of a cached result: kept with it, and given to each task that it answers.

The parts are a JSON object with ``artifacts``, each whole, and with ``closing``, the blocks of the closing words. It
also has ``closing_extra``, their details, and ``is_direct``, whether the result is one message and no task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mailbox.access.audit import Journal
from mailbox.journal import entries
from mailbox.journal.entries.task_life import ArtifactData
from mailbox.life import task_limits
from mailbox.models import Artifact, Message, Task
from mailbox.models.artifact import whole
from mailbox.words import json_text

MOST = 1_048_576  # characters of the parts of a cached result, since each task that it answers gets a copy


def of(task: Task) -> str:
    """Return the parts of a resolved task as JSON text. Each artifact is whole."""
    named = [
        {
            "artifact_id": one.artifact_id,
            "content": one.blocks,
            "extra": json_text.dumps(one.details),
            "last_chunk": one.is_complete,
        }
        for one in whole(Artifact.objects.filter(task=task).in_order())
    ]
    closing = Message.objects.closing_of(task).first()
    blocks, extra = (closing.blocks, closing.extra) if closing else ([], "{}")
    parts = {"artifacts": named, "closing": blocks, "closing_extra": extra, "is_direct": task.is_direct}
    return json_text.dumps(parts)


def read(parts: str) -> Mapping[str, Any]:
    """Return kept parts. They are empty for a result without parts."""
    found: Mapping[str, Any] = json_text.loads(parts)
    return found


def produce(task: Task, parts: Mapping[str, Any], journal: Journal) -> int:
    """Give the kept artifacts to ``task``, which is unresolved and locked. Return their bytes.

    Journals ``a2a_task_updated`` for each, without a lease.
    """
    total = 0
    for kept in parts.get("artifacts", ()):
        content = json_text.dumps(kept["content"])
        size = task_limits.size_of_words(content, kept["artifact_id"], kept["extra"])
        task.change(size=task.size + size)
        Artifact.objects.create(
            task=task,
            seq=task.journal_seq,
            artifact_id=kept["artifact_id"],
            append=False,
            last_chunk=kept["last_chunk"],
            content=content,
            extra=kept["extra"],
            said_at=journal.now,
        )
        produced = ArtifactData(
            artifact_id=kept["artifact_id"],
            append=False,
            last_chunk=kept["last_chunk"],
            blocks=len(kept["content"]),
            bytes=task_limits.size_of(content),
        )
        journal.life(task, entries.task_updated(None, produced, number=task.journal_seq))
        total += size
    return total


def count_closing(task: Task, parts: Mapping[str, Any]) -> int:
    """Add the bytes of the kept closing words to the size of ``task``, which is resolved next. Return them."""
    size = task_limits.size_of_words(_closing(parts), "", _extra(parts)) if has_closing(parts) else 0
    task.size += size
    return size


def close(task: Task, parts: Mapping[str, Any], journal: Journal) -> None:
    """Store the kept closing words of ``task``, which was just resolved."""
    if has_closing(parts):
        Message.objects.create(
            task=task, seq=task.journal_seq, content=_closing(parts), extra=_extra(parts), said_at=journal.now
        )


def has_closing(parts: Mapping[str, Any]) -> bool:
    """Whether the parts have closing words, or details of a result whose words are its content."""
    return bool(parts.get("closing")) or _extra(parts) != "{}"


def _closing(parts: Mapping[str, Any]) -> str:
    return json_text.dumps(parts.get("closing", []))


def _extra(parts: Mapping[str, Any]) -> str:
    """Return the details of the closing words; parts that an earlier version kept have none."""
    return str(parts.get("closing_extra", "{}"))
