"""The root of the command line, which imports the module of a command when it is used."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import a2a_hub_client

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

# The module of each command, which has its `<command>_app`, and the line that the help of the root shows.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "task": ("task", "send, watch and repair tasks"),
    "ask": ("sending", "send an agent a task, show what it says, and answer its questions"),
    "work": ("work", "run a program once per task of an agent"),
    "mcp": ("mcp", "connect a program that starts MCP servers"),
    "result": ("result", "read and receive results"),
    "lease": ("task", "list the live leases"),
    "agent": ("agent", "list, add and pause agents, and set their quotas"),
    "grant": ("access", "list, give and revoke capabilities"),
    "key": ("access", "list, make, rotate and revoke API keys"),
    "person": ("access", "list the people"),
    "route": ("access", "list, add and revoke public routes"),
    "delivery": ("operating", "list callbacks, and send one again"),
    "audit": ("operating", "read the journal"),
    "login": ("login", "store the URL of a hub and a key"),
    "logout": ("login", "forget a stored key"),
    "whoami": ("login", "show the owner of the key"),
    "context": ("login", "list, choose and remove the stored hubs"),
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
        command = typer.main.get_command(getattr(module, f"{cmd_name}_app"))
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the commands of the root."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


app = typer.Typer(
    cls=LazyGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"a2a {a2a_hub_client.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Use a hub from a terminal: send tasks, watch them, and look after their agents.

    `a2a login` stores the URL of a hub and a key. A2A_URL and A2A_API_KEY, or the options of each command, go before.
    A command exits with 1 when it fails, and with 2 when it is used wrongly.
    """


def run() -> None:
    """Run the command line. A character that the terminal's encoding lacks is printed as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="a2a")
