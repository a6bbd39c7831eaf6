"""``a2a login``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from a2a_hub_client.cli import contexts
from a2a_hub_client.cli.command import alone, reported
from a2a_hub_client.cli.commands.whoami import owner, owner_name
from a2a_hub_client.cli.contexts import Context
from a2a_hub_client.cli.output import Output
from a2a_hub_client.cli.session import Session
from a2a_hub_client.credentials import address, is_sendable

USUAL_URL = "http://127.0.0.1:3000"

app = alone()


@app.command()
def login(
    url: Annotated[str | None, typer.Argument(metavar="[URL]", help="The hub; without it the command asks.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The name of the context (default: HUB/OWNER).")
    ] = None,
    key_file: Annotated[
        str | None, typer.Option("--key-file", metavar="FILE", help="Store this path instead of a key; - reads stdin.")
    ] = None,
    signing_key_file: Annotated[
        str | None, typer.Option("--signing-key-file", metavar="FILE", help="Store the path of a private key.")
    ] = None,
) -> None:
    """Store the URL of a hub and a key as the current context, once the hub has accepted the key.

    The keys of several owners at one hub are contexts of their own, and `--context` of a command chooses one. A login
    replaces the context of its name. The key is not shown while it is typed. The file of the contexts can be read by
    its owner alone.
    """
    given = url or typer.prompt("URL of the hub", default=USUAL_URL)
    try:
        context = _context(address(given), key_file, signing_key_file)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    session = Session.of_context(context, Output.TABLE)
    with reported(session):
        stored = contexts.load()
        me = session.read("/a2a/me")
        chosen = name or f"{urlsplit(context.url).netloc}/{owner_name(me)}"
        contexts.store(stored.with_context(chosen, context))
    session.printer.text(f"Logged in to {context.url} as {owner(me)}. The context is {chosen}, in {contexts.path()}.")


def _context(url: str, key_file: str | None, signing_key_file: str | None) -> Context:
    if signing_key_file is not None:
        return Context(url=url, signing_key_file=str(Path(signing_key_file).absolute()))
    if key_file is not None and key_file != "-":
        return Context(url=url, key_file=str(Path(key_file).absolute()))
    key = sys.stdin.read() if key_file == "-" else typer.prompt("API key", hide_input=True)
    if not is_sendable(key.strip()):
        raise ValueError("the key is empty, or has a character that cannot be sent")
    return Context(url=url, key=key.strip())
