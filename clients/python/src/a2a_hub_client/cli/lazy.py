"""The root of the command line, which imports the module of a command when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

# Each module of `commands` by the name of its command, with the line that the help of the root shows.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "task": ("task", "send, watch and repair tasks"),
    "ask": ("ask", "send an agent a task, show what it says, and answer its questions"),
    "work": ("work", "run a program once per task of an agent"),
    "mcp": ("mcp", "connect a program that starts MCP servers"),
    "result": ("result", "read and receive results"),
    "lease": ("lease", "list the live leases"),
    "agent": ("agent", "list, add and pause agents, and set their quotas"),
    "grant": ("grant", "list, give and revoke capabilities"),
    "key": ("key", "list, make, rotate and revoke API keys"),
    "person": ("person", "list the people"),
    "route": ("route", "list, add and revoke public routes"),
    "delivery": ("delivery", "list callbacks, and send one again"),
    "audit": ("audit", "read the journal"),
    "login": ("login", "store the URL of a hub and a key"),
    "logout": ("logout", "forget a stored key"),
    "whoami": ("whoami", "show the owner of the key"),
    "context": ("context", "list, choose and remove the stored hubs"),
    "doctor": ("doctor", "check the way to the hub, the clock and the key"),
}


class LazyGroup(TyperGroup):
    """A group whose help reads `COMMANDS` alone. It imports no command for it."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return the command, from its module."""
        if cmd_name not in COMMANDS:
            return None
        module: Any = importlib.import_module(f"a2a_hub_client.cli.commands.{COMMANDS[cmd_name][0]}")
        found = typer.main.get_command(module.app)
        found.name = cmd_name
        return found

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands of the root."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
