"""Conversations and artifacts for tests."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.life import conversation, updates
from mailbox.models import Artifact, Lease, Task
from mailbox.words import json_text
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words

STATUSES = {"input": UpdateStatus.INPUT_REQUIRED, "authorization": UpdateStatus.AUTH_REQUIRED}


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def asked(holder: Caller, lease: Lease, *texts: str, awaits: str = "input", **fields: Any) -> Task:
    """Let the holder of a lease put a question to the task's sender; return the interrupted task."""
    question = Update(message=list(map(block, texts)), status=STATUSES[awaits], **fields)
    updates.post_updates(holder, lease.task.uuid, [question])
    return now(lease.task)


def said(sender: Caller, task: Task, *texts: str, **fields: Any) -> Task:
    """Let the sender send a further message, which answers an open question; return the task."""
    conversation.say(sender, task.uuid, Words(content=list(map(block, texts)), **fields))
    return now(task)


def told(holder: Caller, task: Task, text: str, *, progress: float | None = None) -> None:
    """Let the holder post a message, with its progress if given."""
    updates.post_updates(holder, task.uuid, [Update(message=[block(text)], progress=progress)])


def made(holder: Caller, task: Task, *content: str | dict[str, Any], artifact_id: str = "report", **fields: Any) -> int:
    """Let the holder post an artifact, or a chunk of it; return the number of its row."""
    blocks = [block(one) if isinstance(one, str) else one for one in content]
    return updates.post_updates(
        holder, task.uuid, [ArtifactUpdate(content=blocks, artifact_id=artifact_id, **fields)]
    ).seq


def many_chunks(holder: Caller, task: Task, texts: Sequence[str]) -> Task:
    """Let the holder post an artifact in chunks. Only the first is posted by the verb, which is slow for thousands."""
    first, *rest = texts
    seq = made(holder, task, first)
    Artifact.objects.bulk_create(
        Artifact(
            task=task,
            seq=seq + number,
            artifact_id="report",
            append=True,
            last_chunk=False,
            content=json_text.dumps([block(text)]),
            said_at=timezone.now(),
        )
        for number, text in enumerate(rest, start=1)
    )
    Task.objects.filter(pk=task.pk).update(journal_seq=seq + len(rest))
    return now(task)


def now(task: Task) -> Task:
    """Return the task as it is stored now."""
    return Task.objects.with_parties().get(pk=task.pk)
