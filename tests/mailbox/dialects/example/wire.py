from __future__ import annotations

from typing import Any

from mailbox.models import Result, Task
from mailbox.words import content


def task(row: Task, result: Result | None) -> dict[str, Any]:
    """Render a task as `ExampleTask`."""
    if result is None:
        return {"id": str(row.uuid), "state": "open", "text": None}
    failed = result.status == Result.Status.ERROR
    text = result.error_message if failed else content.text_of(result.blocks)
    return {"id": str(row.uuid), "state": "failed" if failed else "done", "text": text}
