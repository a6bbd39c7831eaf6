"""``a2a lease``."""

from __future__ import annotations

from typing import Annotated

import typer

from a2a_hub_client.cli import cells, times
from a2a_hub_client.cli.command import command, noun
from a2a_hub_client.cli.options import USUAL_LIMIT, Limit, span
from a2a_hub_client.cli.session import Session

app = noun("List the live leases.")


@command(app, "list")
def list_(
    session: Session,
    mine: Annotated[bool, typer.Option("--mine", help="Only those that the agent of the key holds.")] = False,
    min_age: Annotated[
        str | None, typer.Option("--min-age", metavar="SPAN", help="Only those that are so old.")
    ] = None,
    limit: Limit = USUAL_LIMIT,
) -> None:
    """List the live leases: an agent sees those of its own tasks, a person all."""
    age = span("--min-age", min_age)
    if mine and age is not None:
        raise typer.BadParameter("give --mine or --min-age, not both")
    if mine:
        answer, key = session.listed("/a2a/leases", "leases", limit=limit), "leases"
    else:
        query = {} if age is None else {"min_lease_age_ms": age // times.MILLISECOND}
        answer, key = session.listed("/a2a/queue", "tasks", limit=limit, state_filter="in_flight", **query), "tasks"
    session.printer.listed(answer, key, cells.LEASES, none="No live leases.")
