"""``a2a grant``, ``key``, ``route`` and ``person``."""

from dataclasses import replace
from typing import Annotated

import typer

from a2a_hub_client.cli import contexts, options, tables
from a2a_hub_client.cli.command import CommandError, Session, argument, command, noun, option
from a2a_hub_client.cli.contexts import ConfigError, Context, Contexts
from a2a_hub_client.cli.options import USUAL_LIMIT, AgentName, Expiry, Limit, moment, span
from a2a_hub_client.cli.tables import Column, Row

SECRET = "Keep the key: the hub shows it this once."  # noqa: S105 (no secret)

grant_app = noun("List, give and revoke capabilities.")


def state(row: Row) -> str:
    """Return whether a grant or a key counts."""
    if row.get("revoked_at_ms"):
        return "revoked"
    if (ends := row.get("expires_at")) is not None and ends < tables.now_ms():
        return "expired"
    return "used up" if row.get("max_uses") is not None and row["uses"] >= row["max_uses"] else "live"


GRANTS = (
    Column("GRANT", lambda row: row["grant_id"], is_id=True),
    Column("AGENT", lambda row: tables.name(row["subject"])),
    Column("CAPABILITY", lambda row: row["action"]),
    Column("STATE", state),
    Column(
        "USES",
        lambda row: f"{row['uses']}/{row['max_uses']}" if row["max_uses"] else str(row["uses"]),
        is_optional=True,
    ),
    Column("AGE", lambda row: tables.age(row["created_at_ms"]), is_optional=True),
    Column("GIVEN BY", lambda row: row["granted_by"], is_cut=True, is_optional=True),
)


@command(grant_app, "list")
def list_grants(session: Session, limit: Limit = USUAL_LIMIT) -> None:
    """List grants, the newest first."""
    session.show("/capabilities/recent", "capabilities", GRANTS, none="No grants.", limit=limit)


@command(grant_app)
def give(
    session: Session,
    agent: AgentName,
    capability: Annotated[str, argument("CAPABILITY", "Such as a2a.send.bob or a2a.respond.*.")],
    expires: Expiry = None,
    max_uses: Annotated[int | None, option("--max-uses", "N", "It ends after N uses.", min=1)] = None,
) -> None:
    """Grant a capability to an agent."""
    ends = moment("--expires", expires)
    answer = session.ask(lambda hub: hub.grant(agent, capability, expires_at=ends, max_uses=max_uses))
    session.printer.answer(
        answer, lambda: f"granted {answer['action']} to {answer['subject_display']}: grant {answer['grant_id']}"
    )


@command(grant_app, "revoke")
def revoke_grant(
    session: Session,
    grant: Annotated[str, argument("GRANT", "The id of a grant, or its first characters.")],
) -> None:
    """Revoke a grant. The next request of its agent is refused."""
    grant_id = options.whole_id_of(
        session, grant, "/capabilities/recent", "capabilities", "grant", lambda row: row["grant_id"]
    )
    answer = session.ask(lambda hub: hub.revoke_grant(grant_id))
    session.printer.answer(answer, lambda: f"revoked grant {answer['grant_id']}")


key_app = noun("List, make, rotate and revoke API keys.")
KEYS = (
    Column("KEY", lambda row: row["public_id"]),
    Column("OWNER", lambda row: tables.name(row["agent"]) or f"{row['person']} (person)"),
    Column("STATE", state),
    Column("USED", lambda row: tables.age(row["last_used_at_ms"]) or "never"),
    Column("AGE", lambda row: tables.age(row["created_at_ms"]), is_optional=True),
    Column("EXPIRES", lambda row: tables.age(row["expires_at"]), is_optional=True),
    Column("MADE BY", lambda row: row["made_by"] or "", is_optional=True),
)


@command(key_app, "list")
def list_keys(session: Session, limit: Limit = USUAL_LIMIT) -> None:
    """List API keys without their secrets: an agent its own, an admin all."""
    session.show("/a2a/keys", "keys", KEYS, none="No keys.", limit=limit)


@command(key_app)
def make(
    session: Session,
    agent: Annotated[str | None, option("--agent", "AGENT", "For this agent.")] = None,
    person: Annotated[str | None, option("--person", "NAME", "For this person.")] = None,
    expires: Expiry = None,
) -> None:
    """Make an API key of an agent or of a person, else of the agent of this key, and show it."""
    if agent is not None and person is not None:
        raise typer.BadParameter("give --agent or --person, not both")
    ends = moment("--expires", expires)
    answer = session.ask(lambda hub: hub.add_key(agent=agent, person=person, expires_at=ends))
    if session.printer.is_for_people:
        session.printer.note(SECRET)
    session.printer.details(answer, lambda: [("key", answer["public_id"]), ("api key", answer["api_key"])])


@command(key_app)
def rotate(
    session: Session,
    overlap: Annotated[str, option("--overlap", "SPAN", "How long the old key stays valid.")] = "1h",
) -> None:
    """Replace the key of this command by a new one, and show it. A stored key is replaced in its context, too.

    No key is replaced if the file of the contexts cannot be written. If the hub has replaced the key and writing fails
    then, the command shows the new key and exits with 1.
    """
    both = span("--overlap", overlap)
    stored, old = contexts.load(), session.context
    names = [name for name, one in stored.by_name.items() if one == old and one.key]
    if names:
        contexts.store(stored)  # the file can be written, or the key stays
    answer = session.ask(lambda hub: hub.rotate_key(overlap=both or tables.span(overlap)))
    failure = _replace_stored(stored, names, replace(old, key=answer["api_key"]))
    if names and failure is None:
        session.printer.note(f"Stored the new key in the context {', '.join(names)}.")
    elif session.printer.is_for_people:
        session.printer.note(SECRET)
    until = f"{answer['replaces']}, valid until {tables.local(answer['overlap_ends_at'])}"
    shown = [("key", answer["public_id"]), ("api key", answer["api_key"]), ("replaces", until)]
    session.printer.details(answer, lambda: shown)
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


@command(key_app, "revoke")
def revoke_key(
    session: Session,
    key: Annotated[str, argument("KEY", "The public id of a key, from `a2a key list`.")],
    with_made: Annotated[bool, typer.Option("--with-made", help="Also the keys that were made with it.")] = False,
) -> None:
    """Revoke an API key at once."""
    answer = session.ask(lambda hub: hub.revoke_key(key, with_made=with_made))
    session.printer.answer(answer, lambda: f"revoked {', '.join([answer['public_id'], *answer['also']])}")


route_app = noun("List, add and revoke public routes: secret URLs for clients that cannot send a key.")
ROUTES = (
    Column("ROUTE", lambda row: row["public_id"]),
    Column("AGENT", lambda row: tables.name(row["agent"])),
    Column("STATE", lambda row: "revoked" if row["revoked_at_ms"] else "live"),
    Column("A MINUTE", lambda row: str(row["rate_limit"]), is_optional=True),
    Column("USED", lambda row: tables.age(row["last_used_at_ms"]) or "never", is_optional=True),
    Column("AGE", lambda row: tables.age(row["created_at_ms"]), is_optional=True),
)


@command(route_app, "list")
def list_routes(session: Session, limit: Limit = USUAL_LIMIT) -> None:
    """List public routes without their URLs, the newest first."""
    session.show("/a2a/routes", "routes", ROUTES, none="No public routes.", limit=limit)


@command(route_app)
def add(
    session: Session,
    agent: AgentName,
    rate_limit: Annotated[int | None, option("--rate-limit", "N", "At most N requests a minute.", min=1)] = None,
) -> None:
    """Add a public route that acts as an agent, and show its URL. The hub shows it this once."""
    answer = session.ask(lambda hub: hub.add_route(agent, rate_limit=rate_limit))
    session.printer.details(answer, lambda: [("route", answer["public_id"]), ("url", answer["url"])])


@command(route_app, "revoke")
def revoke_route(
    session: Session,
    route: Annotated[str, argument("ROUTE", "The id of a route, from `a2a route list`.")],
) -> None:
    """Revoke a public route at once."""
    answer = session.ask(lambda hub: hub.revoke_route(route))
    session.printer.answer(answer, lambda: f"revoked route {answer['public_id']}")


person_app = noun("List the people.")
PEOPLE = (
    Column("PERSON", lambda row: row["name"]),
    Column("ROLE", lambda row: row["role"] or "none"),
    Column("STATE", lambda row: "active" if row["is_active"] else "disabled"),
    Column("SIGNED IN", lambda row: tables.age(row["last_sign_in_at_ms"]) or "never", is_optional=True),
    Column("SECOND FACTOR", lambda row: "yes" if row["has_second_factor"] else "no", is_optional=True),
)


@command(person_app, "list")
def list_people(session: Session, limit: Limit = USUAL_LIMIT) -> None:
    """List the people with their roles. It needs an admin's key."""
    session.show("/a2a/people", "people", PEOPLE, none="No people.", limit=limit)
