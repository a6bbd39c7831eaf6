"""Tasks with their whole answers, for pollers and for callbacks. A result is read with its artifacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mailbox.dialects.yeoman import status
from mailbox.inspection import answers
from mailbox.models import Result, Task

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.yeoman.answers import TaskStatus


def record(task: Task, result: Result | None) -> TaskStatus:
    """Return a task as this dialect shows it. ``result`` is None until the task ends."""
    return status.render(task, result, None if result is None else answers.whole_of(result))


def records(tasks: Sequence[Task]) -> list[TaskStatus]:
    """Return tasks as `record` does, each with the result of its row. Their answers share the room of one page."""
    results = [task.result_or_none for task in tasks]
    whole = answers.whole(result for result in results if result is not None)
    return [
        status.render(task, result, None if result is None else whole[result.pk])
        for task, result in zip(tasks, results, strict=True)
    ]
