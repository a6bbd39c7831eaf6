"""The registered MCP tools, which agents may use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from agentcards.models import Tool
from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.journal import hub_entries
from mailbox.words.errors import InvalidRequestError

MOST_TOOLS = 10_000
FASTMCP_KEYS = ("fastmcp", "_fastmcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """The outcome of an import, as names of tools. ``is_partial``: the listing has further pages."""

    added: Sequence[str]
    changed: Sequence[str]
    unchanged: Sequence[str]
    is_partial: bool


def registered() -> Sequence[Tool]:
    """Return the registered tools, in the order of registration."""
    return list(Tool.objects.in_order())


def import_tools(caller: Caller, listing: object, *, default: bool = False) -> Import:
    """Register the tools of an MCP ``tools/list`` answer, and update those that are already registered.

    ``listing`` is the JSON-RPC response, its result, or the list of tools. A tool has ``name`` and ``description``.
    It may have ``tags``, at the top level or as FastMCP writes them; without tags, a registered tool keeps its own.
    ``default`` makes all listed tools default tools. Without it new tools are not, and registered tools stay as they
    are. Registered tools that the listing lacks stay. The import stores all tools or none. Needs ``a2a.tools``.
    Journals ``tools_imported``. Raises `InvalidRequestError`. Source: MCP, "Listing Tools".
    """
    entries, is_partial = _tools_in(listing)
    wanted = _read(entries)
    return audit.again_on_conflict(lambda: _store(caller, wanted, default=default, is_partial=is_partial))


def _store(caller: Caller, wanted: Sequence[Tool], *, default: bool, is_partial: bool) -> Import:
    with audit.decision(caller) as journal:
        journal.admit(Request.to_manage_tools())
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
            journal.beside(hub_entries.ToolsImportedEntry(done.added, done.changed, default=default))
    return done


def _tools_in(listing: object) -> tuple[list[Any], bool]:
    if isinstance(listing, Mapping) and isinstance(listing.get("result"), Mapping):
        listing = listing["result"]
    tools = listing.get("tools") if isinstance(listing, Mapping) else listing
    if not isinstance(tools, list) or len(tools) > MOST_TOOLS:
        raise InvalidRequestError({"tools": f"expected an MCP tools/list answer with at most {MOST_TOOLS} tools"})
    return tools, isinstance(listing, Mapping) and bool(listing.get("nextCursor"))


def _read(entries: Sequence[Any]) -> list[Tool]:
    """Return the tools as unsaved rows. Raises `InvalidRequestError` with the problem of each invalid entry."""
    problems: dict[str, str] = {}
    tools: dict[str, Tool] = {}
    for number, entry in enumerate(entries):
        fields = entry if isinstance(entry, Mapping) else {}
        name, description = fields.get("name"), fields.get("description") or ""
        if not isinstance(name, str) or not name.strip() or not isinstance(description, str):
            problems[f"tools.{number}"] = "expected an object with a name, and with text as description"
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
    """Return the tool's tags as given, [] if it has none. MCP has no field for them, but FastMCP has."""
    meta = fields.get("_meta")
    places = [fields, *(meta.get(key) for key in FASTMCP_KEYS)] if isinstance(meta, Mapping) else [fields]
    return next((place["tags"] for place in places if isinstance(place, Mapping) and place.get("tags")), [])


def _bring_up_to_date(known: Tool, wanted: Tool, *, default: bool) -> bool:
    """Store the fields that differ from the listing; return whether any did."""
    values = {"description": wanted.description, "tags": wanted.tags or known.tags}
    values["is_default"] = default or known.is_default
    changed = [field for field, value in values.items() if getattr(known, field) != value]
    for field in changed:
        setattr(known, field, values[field])
    if changed:
        known.save(update_fields=changed)
    return bool(changed)
