"""Conversations as JSON. Pure: no queries, no clock. Source: A2A, messages and artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from mailbox.database.paging import Page
from mailbox.dialects.covenant import wire
from mailbox.inspection.conversation import Reading
from mailbox.life.conversation import Sent
from mailbox.models import Artifact, Lease, Message
from mailbox.models.artifact import WholeArtifact, whole
from mailbox.words.times import epoch_ms

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.covenant import conversation_answers, lease_answers


def said(row: Message) -> lease_answers.SaidMessage:
    """Render a message as its author sent it, with the keys that the author gave. The role is that of its author."""
    rendered = {
        "message_id": row.shown_id,
        "content": row.words,
        **row.details,
        "role": wire.choice(row.role),
    }
    return cast("lease_answers.SaidMessage", rendered)


def message(row: Message) -> conversation_answers.WireMessage:
    """Render a message with its number and time, and with the progress that it reports."""
    rendered = cast(
        "conversation_answers.WireMessage", {**said(row), "seq": row.seq, "said_at_ms": epoch_ms(row.said_at)}
    )
    if (progress := row.progress) is not None:
        rendered["progress"] = {"fraction": progress["value"], "note": progress["note"]}
    return rendered


def messages(read: Reading) -> dict[str, Any]:
    """Render a page of messages with the state of their task."""
    task = read.task
    awaits = {} if task.awaits is None else {"awaits": task.awaits}
    return {
        "kind": "a2a_messages",
        "task_id": task.uuid,
        "state": task.state,
        **awaits,
        "turn": task.turn,
        "messages": [message(row) for row in read.page.items],
        "next_after": read.next_after,
    }


def sent(answer: Sent) -> dict[str, Any]:
    """Render the answer to a message of the task's sender."""
    row = answer.message
    ids = {"task_id": row.task.uuid, "message_id": row.shown_id}
    return {"kind": "a2a_message_sent", **ids, "seq": row.seq, "turn": answer.turn}


def artifacts(task_id: UUID, page: Page[Artifact]) -> dict[str, Any]:
    """Render a page of artifacts. The chunks of an artifact on the page are one entry."""
    return {
        "kind": "a2a_artifacts",
        "task_id": task_id,
        "artifacts": [_artifact(one) for one in whole(page.items)],
        "next_cursor": page.next_cursor,
    }


def _artifact(one: WholeArtifact) -> conversation_answers.WireArtifact:
    rendered = {
        "artifact_id": one.artifact_id,
        "append": one.append,
        "last_chunk": one.is_complete,
        "seq": one.seq,
        "said_at_ms": epoch_ms(one.said_at),
        "content": one.blocks,
        **one.details,
    }
    return cast("conversation_answers.WireArtifact", rendered)


def leased(row: Lease, newest: Mapping[int, Message]) -> lease_answers.WireLeased:
    """Render a lease for its new holder. ``newest`` has the newest messages of senders, by the key of their task."""
    rendered: lease_answers.WireLeased = {"task": wire.work(row.task), "lease": wire.lease(row), "turn": row.task.turn}
    if row.task_id in newest:
        rendered["message"] = said(newest[row.task_id])
    return rendered
