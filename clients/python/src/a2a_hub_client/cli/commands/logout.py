"""``a2a logout``."""

from __future__ import annotations

from typing import Annotated

import typer

from a2a_hub_client.cli import contexts
from a2a_hub_client.cli.command import alone, reported
from a2a_hub_client.cli.contexts import ConfigError

app = alone()


@app.command()
def logout(
    name: Annotated[str | None, typer.Argument(metavar="[CONTEXT]", help="The context (default: the current).")] = None,
) -> None:
    """Forget a stored hub and its key. The key stays valid: `a2a key revoke` ends it."""
    with reported():
        stored = contexts.load()
        chosen = name or stored.current
        if chosen is None:
            raise ConfigError("there is no current context: name one of `a2a context list`")
        contexts.store(stored.without(chosen))
    typer.echo(f"Forgot the context {chosen}. Its key is still valid.")
