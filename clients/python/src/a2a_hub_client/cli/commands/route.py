"""``a2a route``."""

from __future__ import annotations

from typing import Annotated

import typer

from a2a_hub_client.cli import cells, times
from a2a_hub_client.cli.command import command, noun
from a2a_hub_client.cli.options import USUAL_LIMIT, AgentName, Limit
from a2a_hub_client.cli.session import Session
from a2a_hub_client.cli.tables import Column

app = noun("List, add and revoke public routes: secret URLs for clients that cannot send a key.")
ROUTES = (
    Column("ROUTE", lambda row: row["public_id"]),
    Column("AGENT", lambda row: cells.name(row["agent"])),
    Column("STATE", lambda row: "revoked" if row["revoked_at_ms"] else "live"),
    Column("A MINUTE", lambda row: str(row["rate_limit"]), is_optional=True),
    Column("USED", lambda row: times.age(row["last_used_at_ms"]) or "never", is_optional=True),
    Column("AGE", lambda row: times.age(row["created_at_ms"]), is_optional=True),
)


@command(app, "list")
def list_(session: Session, limit: Limit = USUAL_LIMIT) -> None:
    """List public routes without their URLs, the newest first."""
    answer = session.listed("/a2a/routes", "routes", limit=limit)
    session.printer.listed(answer, "routes", ROUTES, none="No public routes.")


@command(app)
def add(
    session: Session,
    agent: AgentName,
    rate_limit: Annotated[
        int | None, typer.Option("--rate-limit", min=1, metavar="N", help="At most N requests a minute.")
    ] = None,
) -> None:
    """Add a public route that acts as an agent, and show its URL. The hub shows it this once."""
    from a2a_hub_client._calls import access

    answer = session.ask(access.add_route(agent, rate_limit))
    session.printer.details(answer, lambda: [("route", answer["public_id"]), ("url", answer["url"])])


@command(app)
def revoke(
    session: Session,
    route: Annotated[str, typer.Argument(metavar="ROUTE", help="The id of a route, from `a2a route list`.")],
) -> None:
    """Revoke a public route at once."""
    from a2a_hub_client._calls import access

    answer = session.ask(access.revoke_route(route))
    session.printer.answer(answer, lambda: f"revoked route {answer['public_id']}")
