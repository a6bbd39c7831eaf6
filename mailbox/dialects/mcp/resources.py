"""The resources of the door: each task as JSON, and each artifact of a task. Source: MCP, "Resources"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from mailbox.database.paging import BUDGET
from mailbox.dialects.base.bodies import encoded
from mailbox.dialects.mcp import sender_tools, uris, wire
from mailbox.dialects.mcp.errors import InvalidParamsError, UnknownResourceError
from mailbox.dialects.mcp.waiting import McpCall
from mailbox.inspection import answers, lists, tasks
from mailbox.inspection.answers import Produced
from mailbox.life import expiry
from mailbox.models import Task
from mailbox.words import content
from mailbox.words.errors import UnknownTaskError

JSON_TYPE, TEXT_TYPE = "application/json", "text/plain"
PAGE = 50  # tasks of one page of the list
TITLE = 80  # characters

Json = dict[str, Any]

TEMPLATES: list[Json] = [
    {
        "uriTemplate": uris.TASK,
        "name": "task",
        "title": "A task",
        "description": "A task with its result, its newest messages and the list of its artifacts.",
        "mimeType": JSON_TYPE,
    },
    {
        "uriTemplate": uris.ARTIFACT,
        "name": "artifact",
        "title": "An artifact of a task",
        "description": "The content of an artifact: one part for each of its blocks.",
    },
]


def listed(call: McpCall, cursor: str | None) -> Json:
    """Return a page of the caller's tasks, the newest first. The resource of a task names its artifacts."""
    page = lists.all_tasks(call.caller, limit=PAGE, cursor=cursor)
    further = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
    return {"resources": [_entry(entry.task) for entry in page.items], **further}


def _entry(task: Task) -> Json:
    shown = wire.task(task, room=wire.OPENING)
    return {
        "uri": uris.of_task(task.uuid),
        "name": f"task {task.uuid}",
        "title": " ".join(shown["text"].split())[:TITLE],
        "description": f"{shown['sender']} to {shown['recipient']}, {task.outcome or task.state}",
        "mimeType": JSON_TYPE,
    }


def read(call: McpCall, uri: str) -> list[Json]:
    """Return the contents of a resource. Raises `UnknownResourceError`, also for a task that the caller may not see."""
    named = uris.parsed(uri)
    try:
        if named is not None:
            task_id, name = named
            return [_task(call, task_id, uri)] if name is None else _artifact(call, task_id, name, uri)
    except UnknownTaskError:
        pass
    raise UnknownResourceError(f"no resource {uri[:200]} is known to you", data={"uri": uri[:200]})


def _task(call: McpCall, task_id: UUID, uri: str) -> Json:
    task = expiry.current(call.caller, task_id)
    said, is_all = tasks.newest_messages(task, most=sender_tools.MESSAGES, characters=BUDGET)
    produced = answers.produced_artifacts(task)
    details = answers.artifact_details(task, produced) if produced else {}
    whole = {
        **sender_tools.awaited_task(task, room=wire.WHOLE),
        "messages": [wire.message(one, room=wire.WHOLE) for one in said],
        "earlier_messages": not is_all,
        "artifacts": wire.artifacts(task.uuid, produced, details),
    }
    return {"uri": uri, "mimeType": JSON_TYPE, "text": encoded(whole).decode()}


def _artifact(call: McpCall, task_id: UUID, name: str, uri: str) -> list[Json]:
    task = expiry.current(call.caller, task_id)
    named = next((one for one in answers.produced_artifacts(task) if one.artifact_id == name), None)
    if named is None:
        raise UnknownTaskError.of(task_id)
    if named.size > BUDGET:
        raise InvalidParamsError(
            f"The artifact has {named.size} characters, and one answer at most {BUDGET}. "
            f"Read it at /a2a/tasks/{task_id}/artifacts, which has pages."
        )
    return [{"uri": uri, **part} for part in _parts(task, named)]


def _parts(task: Task, named: Produced) -> Iterator[Json]:
    for block in content.joined(answers.blocks_of(task, named)):
        yield _part(block)


def _part(block: Mapping[str, Any]) -> Json:
    """Return a content block as the content of a resource: as text, or as base64."""
    match block:
        case {"type": "text", "text": str(text)}:
            return {"mimeType": TEXT_TYPE, "text": text}
        case {"type": "image" | "audio", "data": str(data), "mimeType": str(media_type)}:
            return {"mimeType": media_type, "blob": data}
        case {"type": "resource", "resource": {"text": str(text)}}:
            return {"mimeType": _type_of(block, TEXT_TYPE), "text": text}
        case {"type": "resource", "resource": {"blob": str(blob)}}:
            return {"mimeType": _type_of(block, "application/octet-stream"), "blob": blob}
        case {"type": "resource_link", "uri": str(uri)}:
            return {"mimeType": "text/uri-list", "text": uri}
        case {"type": "json", "value": value}:
            return {"mimeType": JSON_TYPE, "text": encoded(value).decode()}
    return {"mimeType": JSON_TYPE, "text": encoded(dict(block)).decode()}


def _type_of(block: Mapping[str, Any], usual: str) -> str:
    found = block["resource"].get("mimeType")
    return found if isinstance(found, str) else usual
