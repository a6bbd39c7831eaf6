"""``a2a delivery``."""

from typing import Annotated

from a2a_hub_client.cli import options, tables
from a2a_hub_client.cli.command import Session, argument, command, noun
from a2a_hub_client.cli.options import USUAL_LIMIT, Limit, Reason
from a2a_hub_client.cli.tables import Column

delivery_app = noun("List callbacks, and send one again.")


DELIVERIES = (
    Column("DELIVERY", lambda row: row["delivery_id"], is_id=True),
    Column("TASK", lambda row: row["task_id"], is_id=True),
    Column("STATE", lambda row: row["state"]),
    Column("TRIES", lambda row: str(row["attempts"])),
    Column("AGE", lambda row: tables.age(row["created_at_ms"])),
    Column("SENDER", lambda row: tables.name(row["sender"]), is_cut=True, is_optional=True),
    Column("URL", lambda row: row["url"], is_cut=True, is_optional=True),
    Column("LAST PROBLEM", lambda row: row["log"][-1]["problem"] if row["log"] else "", is_cut=True, is_optional=True),
)


@command(delivery_app, "list")
def list_(session: Session, limit: Limit = USUAL_LIMIT) -> None:
    """List callbacks with their attempts, the newest first."""
    session.show("/a2a/deliveries", "deliveries", DELIVERIES, none="No callbacks.", limit=limit)


@command(delivery_app)
def resend(
    session: Session,
    delivery: Annotated[str, argument("DELIVERY", "The id of a delivery, or its first characters.")],
    reason: Reason,
) -> None:
    """Send a callback again."""
    whole = options.whole_id_of(
        session, delivery, "/a2a/deliveries", "deliveries", "delivery", lambda row: row["delivery_id"]
    )
    answer = session.ask(lambda hub: hub.resend_delivery(whole, reason=reason))
    session.printer.answer(answer, lambda: f"the hub sends delivery {whole} again")
