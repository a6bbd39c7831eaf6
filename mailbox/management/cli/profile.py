"""``profile``."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from agentcards import profiles
from agentcards.models import AgentProfile
from mailbox.dialects.corvid import agent_wire
from mailbox.gate.callers import Caller
from mailbox.management.cli import arguments, output

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.corvid.agent_answers import CorvidAgent

TEXTS = {
    "name": "the name that people see",
    "description": "what the agent does, for its card",
    "persona_archetype": "the agent's persona, for its card",
    "default_project": "its project; such an agent receives tasks/send tasks that name no agent",
    "wallet_address": "the agent's Algorand address, for its card",
    "remote_url": "base URL of a remote agent; the hub delivers its tasks there; - reads stdin",
}


def add_commands(commands: arguments.Commands) -> None:
    profile = commands.add_parser("profile", help="show an agent's profile, or change it; '' empties a field")
    profile.add_argument("agent", metavar="NAME", help="the agent")
    for field, what in TEXTS.items():
        kind = arguments.url_without_credentials(_option(field)) if field == "remote_url" else str
        profile.add_argument(_option(field), dest=f"profile_{field}", type=kind, metavar="TEXT", help=what)
    profile.add_argument("--skill-bundles", type=_names, metavar="A,B", help="names of skill bundles, for its card")
    permissions = profile.add_mutually_exclusive_group()
    permissions.add_argument(
        "--tools", type=_names, metavar="A,B", help="the tools it may use, in the order of its card"
    )
    permissions.add_argument("--default-tools", action="store_true", help="let it use the default tools")
    arguments.add_json(profile)
    profile.set_defaults(run=_profile)


def _profile(options: Namespace) -> str:
    agent = arguments.agent(options.agent)
    changes = _changes(options)
    caller = Caller.command_line()
    profile = profiles.update_profile(caller, agent, changes) if changes else AgentProfile.of(agent)
    told = agent_wire.agent(profile, with_remote_url=True)
    if options.json:
        return output.as_json(told)
    rows = [(name, ",".join(value) if isinstance(value, list) else str(value)) for name, value in _said(told)]
    return output.lines(output.columns(rows), none="")


def _changes(options: Namespace) -> dict[str, Any]:
    given = vars(options)
    changes = {field: given[f"profile_{field}"] for field in TEXTS if given[f"profile_{field}"] is not None}
    if options.skill_bundles is not None:
        changes["skill_bundles"] = options.skill_bundles
    if options.default_tools or options.tools is not None:
        changes["tool_permissions"] = options.tools
    return changes


def _said(told: CorvidAgent) -> list[tuple[str, Any]]:
    """Return the fields that are set, without the second form of the identity."""
    return [(name, value) for name, value in told.items() if name != "agentId" and value not in (None, "", [], False)]


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"
