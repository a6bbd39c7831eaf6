"""``profile``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from agentcards import profiles
from agentcards.models import AgentProfile
from mailbox.access.callers import Caller
from mailbox.dialects.corvid import wire
from mailbox.dialects.corvid.wire import CorvidAgent
from mailbox.management.cli import arguments, output
from mailbox.words import json_text

TEXTS = {
    "name": "the name that people see",
    "description": "what the agent does, for its card",
    "persona_archetype": "the agent's persona, for its card",
    "default_project": "its project; such an agent receives tasks/send tasks that name no agent",
    "wallet_address": "the agent's Algorand address, for its card",
    "card_version": "the agent's version; '' for the hub's",
    "documentation_url": "where people read about the agent",
    "icon_url": "a picture of the agent",
    "remote_url": "base URL of a remote agent; the hub delivers its tasks there; - reads stdin",
    "card_url": "card of a remote agent that speaks the official A2A protocol; - reads stdin",
}
LISTS = {
    "input_modes": "media types that it takes; '' for text, JSON and all others",
    "output_modes": "media types that it makes; '' for text, JSON and all others",
    "extended_tools": "tools that only its extended card shows",
}
SWITCHES = {
    "streaming": "whether clients may stream its tasks",
    "push_notifications": "whether clients may set callbacks",
    "extended_card": "whether it has an extended card",
    "card_for_0_3": "whether its card also serves clients of version 0.3",
}
URLS = ("remote_url", "card_url")


def add_commands(commands: arguments.Commands) -> None:
    profile = commands.add_parser("profile", help="show an agent's profile, or change it; '' empties a field")
    profile.add_argument("agent", metavar="NAME", help="the agent")
    for field, what in TEXTS.items():
        kind = arguments.url_without_credentials(_option(field)) if field in URLS else str
        profile.add_argument(_option(field), dest=f"profile_{field}", type=kind, metavar="TEXT", help=what)
    profile.add_argument(
        "--card-key",
        dest="profile_card_key",
        type=arguments.secret("--card-key"),
        metavar="-",
        help="read the hub's API key at that agent from stdin",
    )
    profile.add_argument("--skill-bundles", type=_names, metavar="A,B", help="names of skill bundles, for its card")
    permissions = profile.add_mutually_exclusive_group()
    permissions.add_argument(
        "--tools", type=_names, metavar="A,B", help="the tools it may use, in the order of its card"
    )
    permissions.add_argument("--default-tools", action="store_true", help="let it use the default tools")
    _add_official(profile)
    arguments.add_json(profile)
    profile.set_defaults(run=_profile)


def _add_official(profile: ArgumentParser) -> None:
    for field, what in LISTS.items():
        profile.add_argument(_option(field), type=_names, metavar="A,B", help=what)
    for field, what in SWITCHES.items():
        profile.add_argument(_option(field), type=arguments.switch(_option(field)), metavar="on|off", help=what)
    profile.add_argument(
        "--extensions",
        type=arguments.json_objects("--extensions", "extensions"),
        metavar="JSON",
        help='extensions of the protocol, such as [{"uri": "https://example.org/x", "required": true}]; [] for none',
    )


def _profile(options: Namespace) -> str:
    agent = arguments.agent(options.agent)
    changes = _changes(options)
    caller = Caller.command_line()
    profile = profiles.update_profile(caller, agent, changes) if changes else AgentProfile.of(agent)
    card = wire.agent(profile, with_remote_url=True)
    if options.json:
        return output.as_json(card)
    rows = [(name, _spelled(value)) for name, value in _shown_fields(card)]
    return output.lines(output.columns(rows), none="")


def _changes(options: Namespace) -> dict[str, Any]:
    values = vars(options)
    texts = (*TEXTS, "card_key")
    changes = {field: values[f"profile_{field}"] for field in texts if values[f"profile_{field}"] is not None}
    for field in ("skill_bundles", "extensions", *LISTS, *SWITCHES):
        if values[field] is not None:
            changes[field] = values[field]
    if options.default_tools or options.tools is not None:
        changes["tool_permissions"] = options.tools
    return changes


def _shown_fields(card: CorvidAgent) -> list[tuple[str, Any]]:
    """Return the fields that are not as in an empty profile, without the second form of the identity."""
    usually_on = {"streaming", "pushNotifications", "extendedCard", "cardFor03"}
    return [
        (name, value)
        for name, value in card.items()
        if name != "agentId" and (value not in (None, "", [], False)) != (name in usually_on)
    ]


def _spelled(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return ",".join(value)
    if isinstance(value, bool):
        return "on" if value else "off"
    return json_text.dumps(value) if isinstance(value, list) else str(value)


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"
