"""The value that a handler returns, as a result or a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2a_hub_client.models.content import Block, JsonBlock, blocks_of
from a2a_hub_client.models.conversation import Update
from a2a_hub_client.models.sent import Answer
from a2a_hub_client.models.tasks import Result
from a2a_hub_client.worker.leased_task import ASKING, TaskResult
from a2a_hub_client.worker.strict_json import plain
from a2a_hub_client.worker.task import Task

# A text, content blocks, or a dict, which becomes one JSON block. None: done, without content. A `Result` is that of
# another task, passed on.
Returned = str | Block | list[Block] | dict[str, Any] | Answer | Result | Update | None


def closing_of(returned: object, task: Task) -> TaskResult:
    """Return the result or the question. Raises `TypeError` or `ValueError` for what is neither."""
    if task.closing is not None and returned is not task.closing:
        raise TypeError("the handler has to return what task.ask() or task.reject() made")
    spoken, _ = plain(_spoken(returned))
    return TaskResult(spoken=spoken)


def _spoken(returned: object) -> Mapping[str, Any]:
    if isinstance(returned, Update) and returned.fields.get("status") in ASKING:
        return returned.fields
    if isinstance(returned, Answer):
        return {key: value for key, value in returned.body().items() if key not in ("task_id", "lease_id")}
    if isinstance(returned, Result):
        fields = {"error_message": returned.error_message, "message": returned.message}
        given = {key: value for key, value in fields.items() if value}
        return {"status": returned.status, "content": returned.content, **given}
    return {"status": "ok", "content": _content(returned)}


def _content(returned: object) -> list[Block]:
    if returned is None:
        return []
    if isinstance(returned, (str, Block)):
        return blocks_of(returned)
    if isinstance(returned, dict):
        return [JsonBlock(returned)]
    if isinstance(returned, list) and all(isinstance(block, Mapping) and "type" in block for block in returned):
        return blocks_of(returned)
    wanted = "a str, a dict, a list of content blocks, task.answer(), task.ask(), task.reject() or None"
    raise TypeError(f"the handler returned a {type(returned).__name__}, and must return {wanted}")
