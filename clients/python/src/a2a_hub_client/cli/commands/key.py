"""``a2a key``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from a2a_hub_client.cli import cells, contexts, times
from a2a_hub_client.cli.command import command, noun
from a2a_hub_client.cli.commands.grant import state
from a2a_hub_client.cli.contexts import ConfigError, Context, Contexts
from a2a_hub_client.cli.failures import CommandError
from a2a_hub_client.cli.options import USUAL_LIMIT, Expiry, Limit, moment, span
from a2a_hub_client.cli.session import Session
from a2a_hub_client.cli.tables import Column, Row

app = noun("List, make, rotate and revoke API keys.")
KEYS = (
    Column("KEY", lambda row: row["public_id"]),
    Column("OWNER", lambda row: cells.name(row["agent"]) or f"{row['person']} (person)"),
    Column("STATE", state),
    Column("USED", lambda row: times.age(row["last_used_at_ms"]) or "never"),
    Column("AGE", lambda row: times.age(row["created_at_ms"]), is_optional=True),
    Column("EXPIRES", lambda row: times.age(row["expires_at"]), is_optional=True),
    Column("MADE BY", lambda row: row["made_by"] or "", is_optional=True),
)
SECRET = "Keep the key: the hub shows it this once."  # noqa: S105 (no secret)


@command(app, "list")
def list_(session: Session, limit: Limit = USUAL_LIMIT) -> None:
    """List API keys without their secrets: an agent its own, an admin all."""
    session.printer.listed(session.listed("/a2a/keys", "keys", limit=limit), "keys", KEYS, none="No keys.")


@command(app)
def make(
    session: Session,
    agent: Annotated[str | None, typer.Option("--agent", metavar="AGENT", help="For this agent.")] = None,
    person: Annotated[str | None, typer.Option("--person", metavar="NAME", help="For this person.")] = None,
    expires: Expiry = None,
) -> None:
    """Make an API key of an agent or of a person, else of the agent of this key, and show it."""
    from a2a_hub_client._calls import access

    if agent is not None and person is not None:
        raise typer.BadParameter("give --agent or --person, not both")
    answer = session.ask(access.add_key(agent=agent, person=person, expires_at=moment("--expires", expires)))
    if session.printer.is_for_people:
        session.printer.note(SECRET)
    session.printer.details(answer, lambda: [("key", answer["public_id"]), ("api key", answer["api_key"])])


@command(app)
def rotate(
    session: Session,
    overlap: Annotated[str, typer.Option("--overlap", metavar="SPAN", help="How long the old key stays valid.")] = "1h",
) -> None:
    """Replace the key of this command by a new one, and show it. A stored key is replaced in its context, too.

    No key is replaced if the file of the contexts cannot be written. If the hub has replaced the key and writing fails
    then, the command shows the new key and exits with 1.
    """
    from a2a_hub_client._calls import access

    both = span("--overlap", overlap)
    stored, old = contexts.load(), session.context
    names = [name for name, one in stored.by_name.items() if one == old and one.key]
    if names:
        contexts.store(stored)  # the file can be written, or the key stays
    answer = session.ask(access.rotate_key(both or times.span(overlap)))
    failure = _replace_stored(stored, names, replace(old, key=answer["api_key"]))
    if names and failure is None:
        session.printer.note(f"Stored the new key in the context {', '.join(names)}.")
    elif session.printer.is_for_people:
        session.printer.note(SECRET)
    _show_rotated(session, answer)
    if failure is not None:
        raise CommandError(
            f"the hub has replaced the key, and the new key above is not stored: {failure}. `a2a login` stores it."
        )


def _replace_stored(stored: Contexts, names: list[str], new: Context) -> ConfigError | None:
    """Store the context under these names. Return why that failed, None if it did not."""
    try:
        if names:
            contexts.store(replace(stored, by_name={**stored.by_name, **dict.fromkeys(names, new)}))
    except ConfigError as error:
        return error
    return None


def _show_rotated(session: Session, answer: Row) -> None:
    until = times.local(answer["overlap_ends_at"])
    session.printer.details(
        answer,
        lambda: [
            ("key", answer["public_id"]),
            ("api key", answer["api_key"]),
            ("replaces", f"{answer['replaces']}, valid until {until}"),
        ],
    )


@command(app)
def revoke(
    session: Session,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The public id of a key, from `a2a key list`.")],
    with_made: Annotated[bool, typer.Option("--with-made", help="Also the keys that were made with it.")] = False,
) -> None:
    """Revoke an API key at once."""
    from a2a_hub_client._calls import access

    answer = session.ask(access.revoke_key(key, with_made=with_made))
    session.printer.answer(answer, lambda: f"revoked {', '.join([answer['public_id'], *answer['also']])}")
