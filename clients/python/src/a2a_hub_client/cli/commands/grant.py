"""``a2a grant``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from a2a_hub_client.cli import cells, ids, times
from a2a_hub_client.cli.command import command, noun
from a2a_hub_client.cli.options import USUAL_LIMIT, AgentName, Expiry, Limit, moment
from a2a_hub_client.cli.session import Session
from a2a_hub_client.cli.tables import Column, Row

app = noun("List, give and revoke capabilities.")


def state(row: Row) -> str:
    """Return whether a grant or a key counts."""
    if row.get("revoked_at_ms"):
        return "revoked"
    if (ends := row.get("expires_at")) is not None and times.is_past(ends):
        return "expired"
    return "used up" if row.get("max_uses") is not None and row["uses"] >= row["max_uses"] else "live"


GRANTS = (
    Column("GRANT", lambda row: row["grant_id"], is_id=True),
    Column("AGENT", lambda row: cells.name(row["subject"])),
    Column("CAPABILITY", lambda row: row["action"]),
    Column("STATE", state),
    Column(
        "USES",
        lambda row: f"{row['uses']}/{row['max_uses']}" if row["max_uses"] else str(row["uses"]),
        is_optional=True,
    ),
    Column("AGE", lambda row: times.age(row["created_at_ms"]), is_optional=True),
    Column("GIVEN BY", lambda row: row["granted_by"], is_cut=True, is_optional=True),
)


@command(app, "list")
def list_(session: Session, limit: Limit = USUAL_LIMIT) -> None:
    """List grants, the newest first."""
    answer = session.listed("/capabilities/recent", "capabilities", limit=limit)
    session.printer.listed(answer, "capabilities", GRANTS, none="No grants.")


@command(app)
def give(
    session: Session,
    agent: AgentName,
    capability: Annotated[str, typer.Argument(metavar="CAPABILITY", help="Such as a2a.send.bob or a2a.respond.*.")],
    expires: Expiry = None,
    max_uses: Annotated[
        int | None, typer.Option("--max-uses", min=1, metavar="N", help="It ends after N uses.")
    ] = None,
) -> None:
    """Grant a capability to an agent."""
    from a2a_hub_client._calls import access

    call = access.grant(agent, capability, expires_at=moment("--expires", expires), max_uses=max_uses)
    answer = session.ask(call)
    session.printer.answer(
        answer, lambda: f"granted {answer['action']} to {answer['subject_display']}: grant {answer['grant_id']}"
    )


@command(app)
def revoke(
    session: Session,
    grant: Annotated[str, typer.Argument(metavar="GRANT", help="The id of a grant, or its first characters.")],
) -> None:
    """Revoke a grant. The next request of its agent is refused."""
    from a2a_hub_client._calls import access

    answer: Any = session.ask(access.revoke_grant(_whole(session, grant)))
    session.printer.answer(answer, lambda: f"revoked grant {answer['grant_id']}")


def _whole(session: Session, text: str) -> str:
    return ids.whole(session, text, "/capabilities/recent", "capabilities", "grant", lambda row: row["grant_id"])
