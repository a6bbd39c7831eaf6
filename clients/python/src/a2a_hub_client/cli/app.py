"""The root of the command line."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

import a2a_hub_client
from a2a_hub_client.cli.lazy import LazyGroup

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
