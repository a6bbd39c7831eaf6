"""The methods of MCP that the hub answers, by their names, and what each version adds to their results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from mailbox.dialects.base.fields import Lax, Text
from mailbox.dialects.base.view import parse
from mailbox.dialects.mcp import resources, tool_results
from mailbox.dialects.mcp.errors import InvalidParamsError, UnknownMethodError
from mailbox.dialects.mcp.messages import BY_ENVELOPE, BY_HANDSHAKE, META, VERSIONS
from mailbox.dialects.mcp.tools import TOOLS, described
from mailbox.dialects.mcp.waiting import McpCall, Waiting
from mailbox.words.errors import MailboxError, UnauthenticatedError

TOOLS_KEPT_MS = 300_000  # how long a client may keep a result that no task changes
INSTRUCTIONS = (
    "This hub carries tasks between agents and keeps them until they are answered. To let another agent do something, "
    "choose it with list_agents, call send_task, then wait_for_result until the task is resolved; answer its questions "
    "with say. To work for others, call receive_task with a wait, do the work, and post it with answer_task under the "
    "lease_id; report_progress meanwhile, and ask_sender if something is unclear."
)
_NAME = "a2a-hub"

Json = dict[str, Any]


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
    versions: tuple[str, ...] = VERSIONS
    kept_ms: int | None = None


def run(call: McpCall) -> Json | Waiting[Json]:
    """Return the result of a request, or the wait for it. Raises `UnknownMethodError` and the errors of the method."""
    message = call.message
    method = METHODS.get(message.method)
    if method is None or message.version not in method.versions:
        raise UnknownMethodError(f'The hub has no method "{message.method[:50]}" in MCP {message.version}.')
    found = method.run(call)
    if isinstance(found, Generator):
        return _waited(found, method, message.version)
    return _complete(found, method, message.version)


def _waited(steps: Waiting[Json], method: McpMethod, version: str) -> Waiting[Json]:
    return _complete((yield from steps), method, version)


def _complete(result: Json, method: McpMethod, version: str) -> Json:
    """Add what versions of `BY_ENVELOPE` have in each result. No client may show a result to another caller."""
    if version not in BY_ENVELOPE:
        return result
    kept = {} if method.kept_ms is None else {"ttlMs": method.kept_ms, "cacheScope": "private"}
    meta = {**result.get("_meta", {}), f"{META}serverInfo": _server_info()}
    return {**result, **kept, "resultType": "complete", "_meta": meta}


def _server_info() -> Json:
    return {"name": _NAME, "title": settings.A2A_HUB_NAME, "version": settings.A2A_VERSION}


def _initialize(call: McpCall) -> Json:
    wanted = parse(InitializeParams, call.message.params).protocolVersion
    return {
        "protocolVersion": wanted if wanted in BY_HANDSHAKE else BY_HANDSHAKE[-1],
        "capabilities": _capabilities(),
        "serverInfo": _server_info(),
        "instructions": INSTRUCTIONS,
    }


def _discover(call: McpCall) -> Json:
    return {"supportedVersions": list(VERSIONS), "capabilities": _capabilities(), "instructions": INSTRUCTIONS}


def _capabilities() -> Json:
    return {"tools": {}, "resources": {}}


def _tools(call: McpCall) -> Json:
    _must_be_one_page(call)
    return {"tools": list(described())}


def _templates(call: McpCall) -> Json:
    _must_be_one_page(call)
    return {"resourceTemplates": resources.TEMPLATES}


def _must_be_one_page(call: McpCall) -> None:
    if parse(PageParams, call.message.params).cursor is not None:
        raise InvalidParamsError("This list has one page, and no cursor.")


def _call_tool(call: McpCall) -> Json | Waiting[Json]:
    wanted = parse(ToolParams, call.message.params)
    tool = TOOLS.get(wanted.name)
    if tool is None:
        raise InvalidParamsError(f'The hub has no tool "{wanted.name[:50]}".')
    try:
        found = tool.run(call, parse(tool.arguments, wanted.arguments or {}))
    except UnauthenticatedError:
        raise
    except MailboxError as error:
        return tool_results.failed(error)
    return _awaited_tool(found) if isinstance(found, Generator) else tool_results.done(found)


def _awaited_tool(steps: Waiting[Json]) -> Waiting[Json]:
    try:
        return tool_results.done((yield from steps))
    except UnauthenticatedError:
        raise
    except MailboxError as error:
        return tool_results.failed(error)


def _resources(call: McpCall) -> Json:
    return resources.listed(call, parse(PageParams, call.message.params).cursor)


def _read_resource(call: McpCall) -> Json:
    return {"contents": resources.read(call, parse(ResourceParams, call.message.params).uri)}


METHODS: Mapping[str, McpMethod] = {
    "initialize": McpMethod(run=_initialize, versions=BY_HANDSHAKE),
    "ping": McpMethod(run=lambda _: {}, versions=BY_HANDSHAKE),
    "server/discover": McpMethod(run=_discover, versions=BY_ENVELOPE, kept_ms=TOOLS_KEPT_MS),
    "tools/list": McpMethod(run=_tools, kept_ms=TOOLS_KEPT_MS),
    "tools/call": McpMethod(run=_call_tool),
    "resources/list": McpMethod(run=_resources, kept_ms=0),
    "resources/templates/list": McpMethod(run=_templates, kept_ms=TOOLS_KEPT_MS),
    "resources/read": McpMethod(run=_read_resource, kept_ms=0),
}
