"""``a2a person``."""

from __future__ import annotations

from a2a_hub_client.cli import times
from a2a_hub_client.cli.command import command, noun
from a2a_hub_client.cli.options import USUAL_LIMIT, Limit
from a2a_hub_client.cli.session import Session
from a2a_hub_client.cli.tables import Column

app = noun("List the people.")
PEOPLE = (
    Column("PERSON", lambda row: row["name"]),
    Column("ROLE", lambda row: row["role"] or "none"),
    Column("STATE", lambda row: "active" if row["is_active"] else "disabled"),
    Column("SIGNED IN", lambda row: times.age(row["last_sign_in_at_ms"]) or "never", is_optional=True),
    Column("SECOND FACTOR", lambda row: "yes" if row["has_second_factor"] else "no", is_optional=True),
)


@command(app, "list")
def list_(session: Session, limit: Limit = USUAL_LIMIT) -> None:
    """List the people with their roles. It needs an admin's key."""
    session.printer.listed(session.listed("/a2a/people", "people", limit=limit), "people", PEOPLE, none="No people.")
