"""The ends of remote tasks as results of the hub's tasks, with all that the agent's last message has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from agentcards.carriages.reporting import RemoteEnding
from agentcards.official_client.shown import Block, ShownMessage, ShownTask
from mailbox.words import content
from mailbox.words.a2a.states import TaskState
from mailbox.words.conversation import Details
from mailbox.words.envelopes import ResultStatus

NO_REASON = "The remote agent gave no reason."


def of_answer(message: ShownMessage, *, is_direct: bool) -> RemoteEnding:
    """Return the ending by a message instead of a task. ``is_direct``: it answers the task's first message."""
    if is_direct and message.blocks:
        details = _worth_a_row(message)
        return RemoteEnding(status=ResultStatus.OK, content=message.blocks, is_direct=True, details=details)
    return _closed(ResultStatus.OK, message)


def of_task(shown: ShownTask) -> RemoteEnding:
    """Return the ending by a task that has ended.

    The last message of a completed task is its closing words. That of any other is the error message, by its text, and
    the closing words have the rest.
    """
    state, closing = shown.state, shown.closing
    if state == TaskState.COMPLETED:
        return _closed(ResultStatus.PARTIAL if shown.is_partial else ResultStatus.OK, closing)
    words = content.text_of(closing.blocks) if closing else ""
    if state == TaskState.REJECTED:
        ending = RemoteEnding(status=ResultStatus.REJECTED, error=words if words.strip() else NO_REASON)
    elif state == TaskState.CANCELED:
        ending = RemoteEnding.failed(f"the remote agent cancelled the task: {words}".removesuffix(": "))
    else:
        ending = RemoteEnding.failed(words or "Task failed")
    if closing is None:
        return ending
    rest = _beside(words, closing.blocks)
    return replace(ending, closing=rest, details=closing.details if rest else _worth_a_row(closing))


def _closed(status: ResultStatus, message: ShownMessage | None) -> RemoteEnding:
    if message is None or not message.blocks:
        return RemoteEnding(status=status)
    return RemoteEnding(status=status, closing=message.blocks, details=message.details)


def _beside(words: str, blocks: Sequence[Block]) -> Sequence[Block]:
    """Return the blocks that ``words`` do not tell: those after the plain texts, if the words are these texts."""
    plain = list(takewhile(lambda block: block.keys() == {"type", "text"}, blocks))
    return blocks[len(plain) :] if content.text_of(plain) == words else blocks


def _worth_a_row(message: ShownMessage) -> Details | None:
    """Return the details of the message; None if it has no more than an id, for which no row is stored."""
    return message.details if message.details.extra != Details().extra else None
