"""The remote agent olive, who speaks the official protocol, and the steps of a carrier in the thread of the test."""

from typing import Any

import pytest
from django.utils import timezone

from agentcards import profiles, remote_calls, remote_conversations
from mailbox.access.callers import Caller
from mailbox.models import Artifact, Message, Task
from mailbox.models.artifact import whole
from mailbox.words import content
from mailbox.words.conversation import Words
from tests.support import factories
from tests.support.remote_rounds import claim_all, look_all


@pytest.fixture
def olive(offie: Any, now: Any) -> Caller:
    """Register the remote agent olive with the card of ``offie``; return her as a caller."""
    caller = factories.agent("olive")
    profiles.update_profile(Caller.command_line(), factories.row_of(caller), {"card_url": offie.url})
    return caller


def follow_all() -> None:
    """Follow the due calls by a stream for one turn each."""
    for call in claim_all():
        remote_calls.follow(call)
    remote_calls.forget_ended()


def cancel_all() -> None:
    for conversation in remote_conversations.to_cancel():
        if conversation.forget():
            remote_conversations.cancel(conversation)


def resume_all() -> None:
    for conversation in remote_conversations.waiting(timezone.now()):
        remote_conversations.resume(conversation)


def said(task: Task) -> list[tuple[str, str]]:
    """Return the messages of a task after its own text, each with its role."""
    rows = Message.objects.filter(task=task).in_order()
    return [(row.role, content.text_of(row.words)) for row in rows]


def made(task: Task) -> dict[str, str]:
    """Return the texts of the artifacts by their ids."""
    found = whole(Artifact.objects.filter(task=task).in_order())
    return {one.artifact_id: "".join(block["text"] for block in one.blocks) for one in found}


def ask(text: str) -> Words:
    return Words(content=[{"type": "text", "text": text}])


def sent(sender: Caller, recipient: Caller, text: str, **more: Any) -> Task:
    return factories.sent_task(sender, recipient, intent_text=text, **more)


def look_until_done(now: Any, task: Task) -> None:
    """Make polls every 3 seconds until the task is resolved or interrupted, at most ten."""
    for _ in range(10):
        look_all()
        if state_of(task) in (Task.State.RESOLVED, Task.State.INTERRUPTED):
            return
        now.shift(3)


def state_of(task: Task) -> str:
    task.refresh_from_db()
    return task.state
