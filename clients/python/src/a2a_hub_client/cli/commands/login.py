"""``a2a login``, ``logout``, ``whoami`` and ``context``."""

import sys
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from a2a_hub_client.cli import contexts
from a2a_hub_client.cli.command import Output, Printer, Session, alone, argument, command, noun, option, reported
from a2a_hub_client.cli.contexts import ConfigError, Context
from a2a_hub_client.cli.tables import Column
from a2a_hub_client.credentials import address, is_sendable

USUAL_URL = "http://127.0.0.1:3000"

whoami_app = alone()


@command(whoami_app)
def whoami(session: Session) -> None:
    """Show the owner of the key, and the hub."""
    answer = session.read("/a2a/me")
    session.printer.details(answer, lambda: [("hub", session.hub.url), *owner_pairs(answer)])


def owner_pairs(me: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the names and values of the owner of a key."""
    agent = me["agent"]
    return [
        ("agent", agent["display"] if agent else ""),
        ("public key", agent["pubkey"] if agent else ""),
        ("person", me["person"] or ""),
        ("role", me["role"] or ""),
    ]


def owner(me: dict[str, Any]) -> str:
    """Return the owner of a key in a few words."""
    return f"agent {me['agent']['display']}" if me["agent"] else f"{me['person']}, {me['role'] or 'no role'}"


login_app = alone()


@login_app.command()
def login(
    url: Annotated[str | None, argument("[URL]", "The hub; without it the command asks.")] = None,
    name: Annotated[str | None, option("--name", "NAME", "The name of the context (default: HUB/OWNER).")] = None,
    key_file: Annotated[
        str | None, option("--key-file", "FILE", "Store this path instead of a key; - reads stdin.")
    ] = None,
    signing_key_file: Annotated[
        str | None, option("--signing-key-file", "FILE", "Store the path of a private key.")
    ] = None,
) -> None:
    """Store the URL of a hub and a key as the current context, once the hub has accepted the key.

    The keys of several owners at one hub are contexts of their own, and `--context` of a command chooses one. A login
    replaces the context of its name. The key is not shown while it is typed. The file of the contexts can be read by
    its owner alone.
    """
    hub_url = url or typer.prompt("URL of the hub", default=USUAL_URL)
    try:
        context = _context(address(hub_url), key_file, signing_key_file)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    session = Session.of_context(context, "table")
    with reported(session):
        stored = contexts.load()
        me = session.read("/a2a/me")
        owner_name = me["agent"]["display"] if me["agent"] else me["person"]
        chosen = name or f"{urlsplit(context.url).netloc}/{owner_name}"
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


PUBLIC = len("a2a_pQqzDzlB")  # characters of a key up to the end of its public id
Name = Annotated[str, argument("CONTEXT", "The name of a context.")]
Form = Annotated[Output, typer.Option("--output", "-o", help="How to print it.")]

context_app = noun("List, choose and remove the stored hubs. `a2a login` adds one.")
CONTEXTS = (
    Column("CONTEXT", lambda row: row["name"]),
    Column("CURRENT", lambda row: "yes" if row["is_current"] else ""),
    Column("URL", lambda row: row["url"], is_cut=True),
    Column("KEY", lambda row: row["key"], is_optional=True),
)


@context_app.command("list")
def list_(output: Form = "table") -> None:
    """List the stored hubs."""
    with reported():
        stored = contexts.load()
        rows = [_row(name, one, is_current=name == stored.current) for name, one in stored.by_name.items()]
        Printer(output).listed({"contexts": rows}, "contexts", CONTEXTS, none="No contexts. `a2a login` adds one.")


@context_app.command()
def show(name: Annotated[str | None, typer.Argument(metavar="[CONTEXT]")] = None, output: Form = "table") -> None:
    """Show a stored hub, the current one without a name. The key itself is not shown."""
    with reported():
        stored = contexts.load()
        chosen = name or stored.current
        if chosen is None:
            raise ConfigError("there is no current context: `a2a login` makes one")
        row = _row(chosen, stored.named(chosen), is_current=chosen == stored.current)
        pairs = [("context", chosen), ("url", row["url"]), ("key", row["key"]), ("file", str(contexts.path()))]
        Printer(output).details(row, lambda: pairs)


@context_app.command()
def use(name: Name) -> None:
    """Let commands talk to this stored hub."""
    with reported():
        stored = contexts.load()
        contexts.store(stored.with_context(name, stored.named(name)))
    typer.echo(f"The current context is {name}.")


@context_app.command()
def remove(name: Name) -> None:
    """Remove a stored hub and its key. The key stays valid: `a2a key revoke` ends it."""
    with reported():
        contexts.store(contexts.load().without(name))
    typer.echo(f"Removed the context {name}. Its key is still valid.")


def _row(name: str, context: Context, *, is_current: bool) -> dict[str, Any]:
    """Return what may be shown of a context: the public id of its key, not the key."""
    kept = f"{context.key[:PUBLIC]}…" if context.key else context.key_file or context.signing_key_file or ""
    return {"name": name, "is_current": is_current, "url": context.url, "key": kept}


logout_app = alone()


@logout_app.command()
def logout(
    name: Annotated[str | None, argument("[CONTEXT]", "The context (default: the current).")] = None,
) -> None:
    """Forget a stored hub and its key. The key stays valid: `a2a key revoke` ends it."""
    with reported():
        stored = contexts.load()
        chosen = name or stored.current
        if chosen is None:
            raise ConfigError("there is no current context: name one of `a2a context list`")
        contexts.store(stored.without(chosen))
    typer.echo(f"Forgot the context {chosen}. Its key is still valid.")
