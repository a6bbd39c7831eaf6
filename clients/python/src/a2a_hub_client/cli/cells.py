"""The words of rows of the hub's JSON in tables."""

from __future__ import annotations

from typing import Any

import msgspec

from a2a_hub_client.cli import times
from a2a_hub_client.cli.tables import Column, Row, on_one_line

Blocks = list[dict[str, Any]]


def name(agent: Row | None) -> str:
    """Return the name of an agent, "" for None."""
    return "" if agent is None else str(agent["display"])


def state(row: Row) -> str:
    """Return the state of a task in a word, its outcome once it is resolved."""
    if row.get("outcome"):
        return str(row["outcome"])
    if row["state"] == "interrupted":
        return f"asks ({row['awaits']})" if row.get("awaits") else "asks"
    return str(row["state"]).replace("_", " ")


def content(blocks: Blocks) -> str:
    """Return the texts of content blocks, and other blocks as JSON, each on lines of its own."""
    texts = (
        block["text"] if block.get("type") == "text" else msgspec.json.encode(block).decode() for block in blocks or []
    )
    return "\n".join(texts)


def progress(report: Row) -> str:
    """Return a report of progress, such as 40 % reading."""
    return f"{report['fraction']:.0%} {report.get('note', '')}".rstrip()


def data(row: Row) -> str:
    """Return the data of a journal row, as ``name=value``."""
    return " ".join(f"{key}={_plain(value)}" for key, value in row["data"].items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


TASKS = (
    Column("TASK", lambda row: row["task"]["id"], is_id=True),
    Column("STATE", state),
    Column("AGE", lambda row: times.age(row.get("sent_at_ms") or row.get("leased_at_ms"))),
    Column("FROM", lambda row: name(row["task"]["sender"]), is_cut=True, is_optional=True),
    Column("TO", lambda row: name(row["task"]["recipient"]), is_cut=True),
    Column("ATTEMPT", lambda row: str(row["attempt"]), is_optional=True),
    Column("TEXT", lambda row: row["task"]["intent_text"], is_cut=True, is_optional=True),
)
LEASES = (
    Column("TASK", lambda row: row["task"]["id"], is_id=True),
    Column("LEASE", lambda row: row["lease_id"], is_id=True),
    Column("AGE", lambda row: times.age(row["leased_at_ms"])),
    Column("HOLDER", lambda row: name(row.get("leased_to")), is_cut=True),
    Column("ATTEMPT", lambda row: str(row["attempt"]), is_optional=True),
    Column("SEEN", lambda row: times.age(row.get("last_seen_at_ms")), is_optional=True),
    Column("TEXT", lambda row: row["task"]["intent_text"], is_cut=True, is_optional=True),
)
RESULTS = (
    Column("TASK", lambda row: row["task_id"], is_id=True),
    Column("STATUS", lambda row: row["status"]),
    Column("ERROR", lambda row: row.get("error_message") or "", is_cut=True, is_optional=True),
    Column("CONTENT", lambda row: on_one_line(content(row["content"])), is_cut=True, is_optional=True),
)
EVENTS = (
    Column("TIME", lambda row: times.local(row["at_ms"])),
    Column("KIND", lambda row: row["kind"]),
    Column("ACTOR", lambda row: row["actor"], is_cut=True),
    Column("TASK", lambda row: row.get("task_id") or "", is_id=True, is_optional=True),
    Column("SOURCE", lambda row: row["source"], is_optional=True),
    Column("DATA", data, is_cut=True, is_optional=True),
)
