"""``a2a context``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from a2a_hub_client.cli import contexts
from a2a_hub_client.cli.command import noun, reported
from a2a_hub_client.cli.contexts import ConfigError, Context
from a2a_hub_client.cli.output import Output, Printer
from a2a_hub_client.cli.tables import Column

PUBLIC = len("a2a_pQqzDzlB")  # characters of a key up to the end of its public id
Name = Annotated[str, typer.Argument(metavar="CONTEXT", help="The name of a context.")]
Form = Annotated[Output, typer.Option("--output", "-o", help="How to print it.")]

app = noun("List, choose and remove the stored hubs. `a2a login` adds one.")
CONTEXTS = (
    Column("CONTEXT", lambda row: row["name"]),
    Column("CURRENT", lambda row: "yes" if row["is_current"] else ""),
    Column("URL", lambda row: row["url"], is_cut=True),
    Column("KEY", lambda row: row["key"], is_optional=True),
)


@app.command("list")
def list_(output: Form = Output.TABLE) -> None:
    """List the stored hubs."""
    with reported():
        stored = contexts.load()
        rows = [_row(name, one, is_current=name == stored.current) for name, one in stored.by_name.items()]
        Printer(output).listed({"contexts": rows}, "contexts", CONTEXTS, none="No contexts. `a2a login` adds one.")


@app.command()
def show(name: Annotated[str | None, typer.Argument(metavar="[CONTEXT]")] = None, output: Form = Output.TABLE) -> None:
    """Show a stored hub, the current one without a name. The key itself is not shown."""
    with reported():
        stored = contexts.load()
        chosen = name or stored.current
        if chosen is None:
            raise ConfigError("there is no current context: `a2a login` makes one")
        row = _row(chosen, stored.named(chosen), is_current=chosen == stored.current)
        pairs = [("context", chosen), ("url", row["url"]), ("key", row["key"]), ("file", str(contexts.path()))]
        Printer(output).details(row, lambda: pairs)


@app.command()
def use(name: Name) -> None:
    """Let commands talk to this stored hub."""
    with reported():
        stored = contexts.load()
        contexts.store(stored.with_context(name, stored.named(name)))
    typer.echo(f"The current context is {name}.")


@app.command()
def remove(name: Name) -> None:
    """Remove a stored hub and its key. The key stays valid: `a2a key revoke` ends it."""
    with reported():
        contexts.store(contexts.load().without(name))
    typer.echo(f"Removed the context {name}. Its key is still valid.")


def _row(name: str, context: Context, *, is_current: bool) -> dict[str, Any]:
    """Return what may be shown of a context: the public id of its key, not the key."""
    kept = f"{context.key[:PUBLIC]}…" if context.key else context.key_file or context.signing_key_file or ""
    return {"name": name, "is_current": is_current, "url": context.url, "key": kept}
