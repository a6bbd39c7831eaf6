"""``a2a audit`` and ``a2a delivery``: what operators look at."""

import time
from typing import Annotated, Any

import typer

from a2a_hub_client.cli import options, tables
from a2a_hub_client.cli.command import Session, alone, argument, command, noun, option
from a2a_hub_client.cli.options import USUAL_LIMIT, Limit, Reason, span
from a2a_hub_client.cli.tables import Column

EVERY = 2.0  # seconds between two looks at the journal
MOST = 10_000  # rows of one look
OVERLAP_MS = 10_000  # rows of a long transaction appear late, with the time of their change

audit_app = alone()


@command(audit_app)
def tail(
    session: Session,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Show new rows as they come, until Ctrl-C.")] = False,
    since: Annotated[str | None, option("--since", "SPAN", "Only the rows of the last 2h.")] = None,
    limit: Limit = USUAL_LIMIT,
) -> None:
    """Show the newest rows of the journal, the newest last. JSON is the hub's answer, the newest first.

    An agent sees the rows of its own tasks.
    """
    back = span("--since", since)
    query = {} if back is None else {"since_ms": tables.now_ms() - back // tables.MILLISECOND}
    began = tables.now_ms()
    answer = session.listed("/audit/recent", "events", limit=limit, **query)
    newest_last = answer["events"][::-1]
    if session.printer.output == "json":
        session.printer.document(answer)
    else:
        session.printer.listed({"events": newest_last}, "events", tables.EVENTS, none="No rows.")
    if follow:
        _follow(session, newest_last, began)


def _follow(session: Session, shown: list[dict[str, Any]], since_ms: int) -> None:
    seen = {_identity(event) for event in shown}
    oldest = shown[0]["at_ms"] if shown else 0
    while True:
        time.sleep(EVERY)
        looked = tables.now_ms()
        answer = session.listed("/audit/recent", "events", limit=MOST, since_ms=since_ms - OVERLAP_MS)
        for event in reversed(answer["events"]):
            if _identity(event) not in seen and event["at_ms"] >= oldest:
                _print(session, event)
        seen = {_identity(event) for event in answer["events"]}
        since_ms = looked


def _print(session: Session, event: dict[str, Any]) -> None:
    if not session.printer.is_for_people:
        session.printer.document(event)
        return
    session.printer.text(tables.single_line("  ".join(column.cell(event) for column in tables.EVENTS)))


def _identity(event: dict[str, Any]) -> str:
    return repr(sorted(event.items()))


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
