"""The methods of MCP that the hub answers, by their names, and what each version adds to their results.

The resources are each task as JSON, and each artifact of a task. Source: MCP, "Resources", "Tool result".
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings

from mailbox.database import outages
from mailbox.database.paging import BUDGET
from mailbox.dialects.base.bodies import Lax, Text, encoded
from mailbox.dialects.base.view import parse
from mailbox.dialects.mcp import messages, tools, wire
from mailbox.dialects.mcp.messages import McpCall, Waiting
from mailbox.dialects.mcp.tools import TOOLS, described
from mailbox.inspection import answers, lists, tasks
from mailbox.inspection.answers import Produced
from mailbox.life import expiry
from mailbox.models import Task
from mailbox.words import content, errors
from mailbox.words.errors import MailboxError, UnauthenticatedError, UnknownTaskError

JSON_TYPE, TEXT_TYPE = "application/json", "text/plain"
RESOURCES = 50  # tasks of one page of the list
TITLE = 80  # characters

Json = dict[str, Any]

TEMPLATES: list[Json] = [
    {
        "uriTemplate": wire.TASK_URI,
        "name": "task",
        "title": "A task",
        "description": "A task with its result, its newest messages and the list of its artifacts.",
        "mimeType": JSON_TYPE,
    },
    {
        "uriTemplate": wire.ARTIFACT_URI,
        "name": "artifact",
        "title": "An artifact of a task",
        "description": "The content of an artifact: one part for each of its blocks.",
    },
]
ERROR_KEY = "a2a-hub/error"  # of ``_meta``
_MEDIA = ("image", "audio")
TOOLS_KEPT_MS = 300_000  # how long a client may keep a result that no task changes
INSTRUCTIONS = (
    "This hub carries tasks between agents and keeps them until they are answered. To let another agent do something, "
    "choose it with list_agents, call send_task, then wait_for_result until the task is resolved; answer its questions "
    "with say. To work for others, call receive_task with a wait, do the work, and post it with answer_task under the "
    "lease_id; report_progress meanwhile, and ask_sender if something is unclear."
)
CAPABILITIES: Json = {"tools": {}, "resources": {}}


def _resources(call: McpCall) -> Json:
    """Return a page of the caller's tasks, the newest first. The resource of a task names its artifacts."""
    cursor = parse(PageParams, call.message.params).cursor
    page = lists.all_tasks(call.caller, limit=RESOURCES, cursor=cursor)
    further = {} if page.next_cursor is None else {"nextCursor": page.next_cursor}
    return {"resources": [_entry(entry.task) for entry in page.items], **further}


def _entry(task: Task) -> Json:
    shown = wire.task(task, room=wire.OPENING)
    return {
        "uri": wire.task_uri(task.uuid),
        "name": f"task {task.uuid}",
        "title": " ".join(shown["text"].split())[:TITLE],
        "description": f"{shown['sender']} to {shown['recipient']}, {task.outcome or task.state}",
        "mimeType": JSON_TYPE,
    }


def read_resource(call: McpCall, uri: str) -> list[Json]:
    """Return the contents of a resource. Raises `UnknownResourceError`, also for a task that the caller may not see."""
    named = wire.parsed_uri(uri)
    try:
        if named is not None:
            task_id, name = named
            return (
                [_task_contents(call, task_id, uri)] if name is None else _artifact_contents(call, task_id, name, uri)
            )
    except UnknownTaskError:
        pass
    raise messages.UnknownResourceError(f"no resource {uri[:200]} is known to you", data={"uri": uri[:200]})


def _task_contents(call: McpCall, task_id: UUID, uri: str) -> Json:
    task = expiry.current(call.caller, task_id)
    newest, is_all = tasks.newest_messages(task, most=tools.MESSAGES, characters=BUDGET)
    produced = answers.produced_artifacts(task)
    details = answers.artifact_details(task, produced) if produced else {}
    whole = {
        **tools.awaited_task(task, room=wire.WHOLE),
        "messages": [wire.message(one, room=wire.WHOLE) for one in newest],
        "earlier_messages": not is_all,
        "artifacts": wire.artifacts(task.uuid, produced, details),
    }
    return {"uri": uri, "mimeType": JSON_TYPE, "text": encoded(whole).decode()}


def _artifact_contents(call: McpCall, task_id: UUID, name: str, uri: str) -> list[Json]:
    task = expiry.current(call.caller, task_id)
    named = next((one for one in answers.produced_artifacts(task) if one.artifact_id == name), None)
    if named is None:
        outages.confirm_reads()
        raise UnknownTaskError.of(task_id)
    if named.size > BUDGET:
        raise messages.InvalidParamsError(
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
    named = block["resource"].get("mimeType")
    return named if isinstance(named, str) else usual


def tool_result(answer: Json) -> Json:
    """Return the result of a tool that answered. Its text shows no picture or sound, which are blocks of their own."""
    text = encoded(_without_media(answer)).decode()
    return {"content": [{"type": "text", "text": text}, *_media_in(answer)], "structuredContent": answer}


def tool_failure(error: MailboxError) -> Json:
    """Return the result of a tool that the hub refused: the code and the sentence."""
    text = f"{error.code}: {errors.text_for_program(error)}"
    return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {ERROR_KEY: messages.details(error)}}


def _is_media(value: Json) -> bool:
    fields = (value.get("data"), value.get("mimeType"))
    return value.get("type") in _MEDIA and all(isinstance(field, str) for field in fields)


def _media_in(value: Any) -> Iterator[Json]:
    if isinstance(value, dict) and _is_media(value):
        yield {name: value[name] for name in ("type", "data", "mimeType")}
    elif isinstance(value, dict):
        for part in value.values():
            yield from _media_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from _media_in(part)


def _without_media(value: Any) -> Any:
    if isinstance(value, dict) and _is_media(value):
        return {**value, "data": "[below]"}
    if isinstance(value, dict):
        return {key: _without_media(part) for key, part in value.items()}
    return [_without_media(part) for part in value] if isinstance(value, list) else value


class InitializeParams(Lax):
    protocolVersion: Text  # noqa: N815 (as the protocol spells it)


class PageParams(Lax):
    cursor: Text | None = None


class ToolParams(Lax):
    name: Text
    arguments: dict[str, Any] | None = None


class ResourceParams(Lax):
    uri: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class McpMethod:
    """A method. ``kept_ms`` is how long its result may be kept by a client; None: it may not have such a hint."""

    run: Callable[[McpCall], Json | Waiting[Json]]
    versions: tuple[str, ...] = messages.VERSIONS
    kept_ms: int | None = None


def run(call: McpCall) -> Json | Waiting[Json]:
    """Return the result of a request, or the wait for it. Raises `UnknownMethodError` and the errors of the method."""
    message = call.message
    method = METHODS.get(message.method)
    if method is None or message.version not in method.versions:
        raise messages.UnknownMethodError(f'The hub has no method "{message.method[:50]}" in MCP {message.version}.')
    result = method.run(call)
    if isinstance(result, Generator):
        return _waited(result, method, message.version)
    return _complete(result, method, message.version)


def _waited(steps: Waiting[Json], method: McpMethod, version: str) -> Waiting[Json]:
    return _complete((yield from steps), method, version)


def _complete(result: Json, method: McpMethod, version: str) -> Json:
    """Add what versions of `BY_ENVELOPE` have in each result. No client may show a result to another caller."""
    if version not in messages.BY_ENVELOPE:
        return result
    kept = {} if method.kept_ms is None else {"ttlMs": method.kept_ms, "cacheScope": "private"}
    meta = {**result.get("_meta", {}), f"{messages.META}serverInfo": _server_info()}
    return {**result, **kept, "resultType": "complete", "_meta": meta}


def _server_info() -> Json:
    return {"name": "a2a-hub", "title": settings.A2A_HUB_NAME, "version": settings.A2A_VERSION}


def _initialize(call: McpCall) -> Json:
    wanted = parse(InitializeParams, call.message.params).protocolVersion
    return {
        "protocolVersion": wanted if wanted in messages.BY_HANDSHAKE else messages.BY_HANDSHAKE[-1],
        "capabilities": CAPABILITIES,
        "serverInfo": _server_info(),
        "instructions": INSTRUCTIONS,
    }


def _discover(call: McpCall) -> Json:
    return {"supportedVersions": list(messages.VERSIONS), "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS}


def _tools(call: McpCall) -> Json:
    _must_have_no_cursor(call)
    return {"tools": list(described())}


def _templates(call: McpCall) -> Json:
    _must_have_no_cursor(call)
    return {"resourceTemplates": TEMPLATES}


def _must_have_no_cursor(call: McpCall) -> None:
    if parse(PageParams, call.message.params).cursor is not None:
        raise messages.InvalidParamsError("This list has one page, and no cursor.")


def _call_tool(call: McpCall) -> Json | Waiting[Json]:
    wanted = parse(ToolParams, call.message.params)
    tool = TOOLS.get(wanted.name)
    if tool is None:
        raise messages.InvalidParamsError(f'The hub has no tool "{wanted.name[:50]}".')
    try:
        result = tool.run(call, parse(tool.arguments, wanted.arguments or {}))
    except UnauthenticatedError:
        raise
    except MailboxError as error:
        return tool_failure(error)
    return _awaited_tool(result) if isinstance(result, Generator) else tool_result(result)


def _awaited_tool(steps: Waiting[Json]) -> Waiting[Json]:
    try:
        return tool_result((yield from steps))
    except UnauthenticatedError:
        raise
    except MailboxError as error:
        return tool_failure(error)


def _read_resource(call: McpCall) -> Json:
    return {"contents": read_resource(call, parse(ResourceParams, call.message.params).uri)}


METHODS: Mapping[str, McpMethod] = {
    "initialize": McpMethod(run=_initialize, versions=messages.BY_HANDSHAKE),
    "ping": McpMethod(run=lambda _: {}, versions=messages.BY_HANDSHAKE),
    "server/discover": McpMethod(run=_discover, versions=messages.BY_ENVELOPE, kept_ms=TOOLS_KEPT_MS),
    "tools/list": McpMethod(run=_tools, kept_ms=TOOLS_KEPT_MS),
    "tools/call": McpMethod(run=_call_tool),
    "resources/list": McpMethod(run=_resources, kept_ms=0),
    "resources/templates/list": McpMethod(run=_templates, kept_ms=TOOLS_KEPT_MS),
    "resources/read": McpMethod(run=_read_resource, kept_ms=0),
}
