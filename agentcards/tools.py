"""The MCP tools that agents may use, as the hub knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from agentcards.models import Tool
from mailbox.gate import audit, capabilities
from mailbox.gate.callers import Caller
from mailbox.gate.requests import Request
from mailbox.words.errors import Draft, InvalidRequestError
from mailbox.words.kinds import Kind

MOST_TOOLS = 10_000
FASTMCP_KEYS = ("fastmcp", "_fastmcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """What an import did, by tool name. ``is_partial``: the listing said that more pages follow."""

    added: Sequence[str]
    changed: Sequence[str]
    unchanged: Sequence[str]
    is_partial: bool


def registered() -> Sequence[Tool]:
    """Return the tools that the hub knows, as they were registered."""
    return list(Tool.objects.in_order())


def import_tools(caller: Caller, listing: object, *, default: bool = False) -> Import:
    """Register the tools of an MCP ``tools/list`` answer, or bring those already registered up to date.

    ``listing`` is the JSON-RPC response, its result, or the list of tools alone. Beside MCP's ``name`` and
    ``description`` a tool may carry ``tags``, its own or as FastMCP writes them; without any it keeps those it
    has. ``default`` makes all of them default tools; otherwise new ones are none, and known ones stay what they
    are. Tools that the listing lacks stay. All or nothing. Needs ``a2a.tools``. Raises `InvalidRequestError`;
    journals ``tools_imported``. Source: MCP, "Listing Tools".
    """
    given, is_partial = _tools_in(listing)
    wanted = _read(given)
    return audit.once_more_on_conflict(lambda: _store(caller, wanted, default=default, is_partial=is_partial))


def _store(caller: Caller, wanted: Sequence[Tool], *, default: bool, is_partial: bool) -> Import:
    with audit.decision(caller) as journal:
        journal.beside(capabilities.require(caller, Request.to_manage_tools(), journal.now).draft)
        names = [tool.name for tool in wanted]
        known = {tool.name: tool for tool in Tool.objects.select_for_update().filter(name__in=names).order_by("pk")}
        changed = [
            tool.name
            for tool in wanted
            if tool.name in known and _bring_up_to_date(known[tool.name], tool, default=default)
        ]
        added = [tool for tool in wanted if tool.name not in known]
        for tool in added:
            tool.is_default = default
        Tool.objects.bulk_create(added)
        done = Import(
            added=[tool.name for tool in added],
            changed=changed,
            unchanged=[name for name in known if name not in changed],
            is_partial=is_partial,
        )
        if done.added or done.changed:
            data = {"added": done.added, "changed": done.changed, "default": default}
            journal.beside(Draft(kind=Kind.TOOLS_IMPORTED, data=data))
    return done


def _tools_in(listing: object) -> tuple[list[Any], bool]:
    if isinstance(listing, Mapping) and isinstance(listing.get("result"), Mapping):
        listing = listing["result"]
    tools = listing.get("tools") if isinstance(listing, Mapping) else listing
    if not isinstance(tools, list) or len(tools) > MOST_TOOLS:
        raise InvalidRequestError({"tools": f"expected an MCP tools/list answer with at most {MOST_TOOLS} tools"})
    return tools, isinstance(listing, Mapping) and bool(listing.get("nextCursor"))


def _read(given: Sequence[Any]) -> list[Tool]:
    """Return the tools as rows that are not stored; raise `InvalidRequestError` naming every one that is none."""
    problems: dict[str, str] = {}
    tools: dict[str, Tool] = {}
    for number, one in enumerate(given):
        fields = one if isinstance(one, Mapping) else {}
        name, description = fields.get("name"), fields.get("description") or ""
        if not isinstance(name, str) or not name.strip() or not isinstance(description, str):
            problems[f"tools.{number}"] = "expected an object with a name, and a description that is text"
        elif name in tools:
            problems[f"tools.{number}"] = f"{name!r} is listed twice"
        else:
            tools[name] = Tool(name=name, description=description, tags=_tags(fields))
            problems |= _problems(tools[name], f"tools.{number}")
    if problems:
        raise InvalidRequestError(problems)
    return list(tools.values())


def _problems(tool: Tool, path: str) -> dict[str, str]:
    try:
        tool.clean_fields()
    except ValidationError as error:
        return {f"{path}.{field}": " ".join(messages) for field, messages in error.message_dict.items()}
    return {}


def _tags(fields: Mapping[str, Any]) -> Any:
    """Return the tags as given, MCP having no word for them; an empty list without."""
    meta = fields.get("_meta")
    places = [fields, *(meta.get(key) for key in FASTMCP_KEYS)] if isinstance(meta, Mapping) else [fields]
    return next((place["tags"] for place in places if isinstance(place, Mapping) and place.get("tags")), [])


def _bring_up_to_date(known: Tool, wanted: Tool, *, default: bool) -> bool:
    """Store what the listing says differently; say whether there was anything."""
    news = {"description": wanted.description, "tags": wanted.tags or known.tags}
    news["is_default"] = default or known.is_default
    changed = [field for field, value in news.items() if getattr(known, field) != value]
    for field in changed:
        setattr(known, field, news[field])
    if changed:
        known.save(update_fields=changed)
    return bool(changed)
