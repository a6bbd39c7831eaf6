"""The limits of one task: how much its parties may say and produce before its result."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from mailbox.models import Task
from mailbox.words import json_text
from mailbox.words.conversation import Details
from mailbox.words.errors import InvalidRequestError, TaskTooLargeError

MOST_ROWS = 10_000  # numbered journal rows of one task


def check(task: Task, sizes: Sequence[int], *, path: str) -> None:
    """Raise unless the limits of the task allow a further row of each size. Its row is locked.

    Raises `TaskTooLargeError` beyond ``A2A_TASK_MAX_BYTES``. Raises `InvalidRequestError` for the field at ``path``
    beyond `MOST_ROWS`.
    """
    earlier = max(0, task.size - size_of(task.intent_text, task.metadata))
    if earlier + sum(sizes) > settings.A2A_TASK_MAX_BYTES:
        raise TaskTooLargeError(
            f"The messages and artifacts of one task have at most {settings.A2A_TASK_MAX_BYTES} bytes.",
            task_id=task.uuid,
        )
    if task.journal_seq + len(sizes) > MOST_ROWS:
        raise InvalidRequestError({path: f"a task has at most {MOST_ROWS} journal rows"})


def size_of_closing(blocks: Sequence[Mapping[str, Any]], details: Details | None) -> int:
    """Return the bytes of the message that a result adds to its task."""
    details = details or Details()
    return size_of_words(json_text.dumps([dict(block) for block in blocks]), details.message_id, details.extra)


def size_of_words(content: str, own_id: str, extra: str) -> int:
    """Return the bytes of a message or an artifact: its blocks, the id that its author gave it, and its details."""
    return size_of(content, own_id, "" if extra == "{}" else extra)


def size_of(*texts: str) -> int:
    """Return the bytes that stored texts count for."""
    return sum(len(text.encode()) for text in texts)
