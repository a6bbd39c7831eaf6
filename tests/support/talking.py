"""Conversations and artifacts for tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from mailbox.gate import audit, entries
from mailbox.gate.callers import Caller
from mailbox.models import Artifact, Lease, Message, Task
from mailbox.words import json_text


def block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def asked(holder: Caller, lease: Lease, *texts: str, awaits: str = "input") -> Task:
    """Let the holder ask the task's sender, in these words; return the interrupted task."""
    with audit.decision(holder) as journal:
        task = lease.task
        task.refresh_from_db()
        lease.finish(Lease.End.ASKED, journal.now)
        task.change(state=Task.State.INTERRUPTED, awaits=awaits, status_at=journal.now)
        content = json_text.dumps([block(text) for text in texts])
        Message.objects.create(task=task, seq=task.journal_seq, content=content, said_at=journal.now)
        journal.life(task, entries.task_asked(lease.lease_id, awaits))
    return task


def answered(sender: Caller, task: Task, *texts: str) -> Task:
    """Let the sender answer the question of an interrupted task; return the queued task."""
    with audit.decision(sender) as journal:
        awaits = task.awaits
        task.change(state=Task.State.QUEUED, awaits=None, queued_at=journal.now, turn=task.turn + 1)
        content = json_text.dumps([block(text) for text in texts])
        Message.objects.create(task=task, seq=task.journal_seq, content=content, said_at=journal.now, role="user")
        journal.life(task, entries.message_sent(task.turn, "", answers=awaits))
    return task


def many_chunks(holder: Caller, task: Task, texts: Iterable[str], *, artifact_id: str = "report") -> None:
    """Store an artifact in chunks without the verb, which takes only so many in one call."""
    rows = [
        Artifact(
            task=task,
            seq=task.journal_seq + number,
            artifact_id=artifact_id,
            append=number > 1,
            last_chunk=False,
            content=json_text.dumps([block(text)]),
            said_at=timezone.now(),
        )
        for number, text in enumerate(texts, start=1)
    ]
    Artifact.objects.bulk_create(rows)
    Task.objects.filter(pk=task.pk).update(journal_seq=rows[-1].seq)
    task.refresh_from_db()
