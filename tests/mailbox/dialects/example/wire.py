from typing import Literal

from typing_extensions import TypedDict

from mailbox.models import Result, Task
from mailbox.words import content


class ExampleTask(TypedDict):
    """A task. ``text`` is the answer or the error; null until the task ends."""

    id: str
    state: Literal["open", "done", "failed"]
    text: str | None


def task(row: Task, result: Result | None) -> ExampleTask:
    """Render a task of any dialect."""
    if result is None:
        return {"id": str(row.uuid), "state": "open", "text": None}
    failed = result.status == Result.Status.ERROR
    text = result.error_message if failed else content.text_of(result.blocks)
    return {"id": str(row.uuid), "state": "failed" if failed else "done", "text": text}


class ExampleError(TypedDict):
    problem: str
