"""``tools import``, ``tools list``."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from agentcards.models import Tool
from agentcards.tools import import_tools, registered
from mailbox.access.callers import Caller
from mailbox.management.cli import arguments, output
from mailbox.words import json_text
from mailbox.words.errors import InvalidJsonError


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("tools", help="register and list MCP tools, which agent cards show as skills")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    bring = verbs.add_parser("import", help="register the tools of an MCP tools/list answer, or update them")
    bring.add_argument("listing", type=_json_file, metavar="FILE", help="file with the JSON answer; - reads stdin")
    bring.add_argument("--default", action="store_true", help="let every agent without a list of tools use these tools")
    arguments.add_json(bring)
    bring.set_defaults(run=_import)

    listed = verbs.add_parser("list", help="list tools in the order of registration")
    arguments.add_json(listed)
    listed.set_defaults(run=_list)


def _import(options: Namespace) -> str:
    done = import_tools(Caller.command_line(), options.listing, default=options.default)
    if options.json:
        answer = {"added": done.added, "changed": done.changed, "unchanged": done.unchanged, "partial": done.is_partial}
        return output.as_json({"kind": "a2a_tools_imported", **answer})
    summary = f"{len(done.added)} added, {len(done.changed)} changed, {len(done.unchanged)} unchanged"
    return f"{summary}; the listing has more pages: import those too" if done.is_partial else summary


def _list(options: Namespace) -> str:
    tools = registered()
    if options.json:
        return output.as_json({"kind": "a2a_tools", "tools": [_tool(tool) for tool in tools]})
    rows = [(tool.name, "default" if tool.is_default else "", ",".join(tool.tags), tool.description) for tool in tools]
    return output.lines(output.columns(rows), none="(no tools)")


def _tool(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "tags": tool.tags, "default": tool.is_default}


def _json_file(path: str) -> Any:
    try:
        return json_text.loads(sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes())
    except OSError as error:
        raise ArgumentTypeError(f"cannot read {path}: {error.strerror}") from error
    except InvalidJsonError as error:
        raise ArgumentTypeError(f"{path} is not accepted: {error}") from error
