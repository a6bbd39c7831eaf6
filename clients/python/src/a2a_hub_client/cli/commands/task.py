"""``a2a task``."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from a2a_hub_client.cli import cells, ids, times, watching
from a2a_hub_client.cli.command import command, noun
from a2a_hub_client.cli.commands import repairs, sending, talking
from a2a_hub_client.cli.ids import TaskId
from a2a_hub_client.cli.options import USUAL_LIMIT, Limit, span
from a2a_hub_client.cli.session import Session
from a2a_hub_client.cli.tables import Column, Row

app = noun("Send, watch and repair tasks.")
sending.add_to(app)
talking.add_to(app)
repairs.add_to(app)

BRANCH = "· "  # for each level of a tree
TREE = (
    Column("TASK", lambda row: row["task"]["id"], is_id=True),
    Column("STATE", cells.state),
    Column("TO", lambda row: f"{BRANCH * row['depth']}{cells.name(row['task']['recipient'])}", is_cut=True),
    Column("ATTEMPT", lambda row: str(row["attempt"]), is_optional=True),
    Column("TEXT", lambda row: row["task"]["intent_text"], is_cut=True, is_optional=True),
)


class OpenState(str, enum.Enum):
    """A state of a task that is not resolved."""

    QUEUED = "queued"
    IN_FLIGHT = "in_flight"
    INTERRUPTED = "interrupted"


@command(app, "list")
def list_(
    session: Session,
    state: Annotated[OpenState | None, typer.Option("--state", help="Only the unresolved tasks of this state.")] = None,
    deadline_within: Annotated[
        str | None, typer.Option("--deadline-within", metavar="SPAN", help="Only tasks with a deadline so soon.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show the list anew until Ctrl-C.")] = False,
    limit: Limit = USUAL_LIMIT,
) -> None:
    """List tasks in any state, the newest first. An agent sees its own, a person all."""
    within = span("--deadline-within", deadline_within)
    query = {"state_filter": state and state.value, "deadline_within_ms": within and within // times.MILLISECOND}
    route, key = ("/a2a/queue", "tasks") if any(query.values()) else ("/a2a/tasks", "entries")
    given = {name: value for name, value in query.items() if value is not None}

    def show() -> None:
        answer = session.listed(route, key, limit=limit, **given)
        session.printer.listed(answer, key, cells.TASKS, none="No tasks.")

    watching.again_and_again(session, show) if watch else show()


@command(app)
def show(session: Session, task: TaskId) -> None:
    """Show one task: its state, its times, its lease and its result."""
    from a2a_hub_client._calls import tasks

    task_id = ids.task(session, task)
    answer = session.ask(tasks.entry(task_id))
    entry = answer["entry"]
    result = session.ask(tasks.result(task_id))["result"] if entry["state"] == "resolved" else None
    session.printer.details(answer, lambda: [*_pairs(entry), *result_pairs(result)])


def _pairs(entry: Row) -> list[tuple[str, str]]:
    task, lease = entry["task"], entry.get("lease_id")
    held = f"{lease} by {cells.name(entry.get('leased_to'))} for {times.age(entry.get('leased_at_ms'))}"
    return [
        ("task", task["id"]),
        ("state", cells.state(entry)),
        ("from", cells.name(task["sender"])),
        ("to", cells.name(task["recipient"])),
        ("kind", task.get("task_kind") or ""),
        ("parent", task.get("parent") or ""),
        ("sent", _at(entry.get("sent_at_ms"))),
        ("deadline", times.local(task.get("deadline_ms"))),
        ("resolved", _at(entry.get("resolved_at_ms"))),
        ("attempts", str(entry["attempt"])),
        ("lease", held if lease else ""),
        ("key", (task.get("idempotency") or {}).get("key", "")),
        ("text", task["intent_text"]),
    ]


def result_pairs(result: Row | None) -> list[tuple[str, str]]:
    """Return the names and values of a result, none for None."""
    if result is None:
        return []
    named = ", ".join(one.get("name") or one["artifact_id"] for one in result.get("artifacts", []))
    return [
        ("status", result["status"]),
        ("error", result.get("error_message") or ""),
        ("result", cells.content(result["content"])),
        ("message", cells.content(result.get("message", []))),
        ("artifacts", named),
    ]


def _at(ms: int | None) -> str:
    return "" if ms is None else f"{times.local(ms)} ({times.age(ms)} ago)"


@command(app)
def tree(session: Session, task: TaskId) -> None:
    """Show a task and all tasks below it."""
    answer = session.read(f"/a2a/tasks/{ids.task(session, task)}/tree")
    while cursor := answer.get("next_cursor"):
        page = session.read(f"/a2a/tasks/{answer['nodes'][0]['task']['id']}/tree", cursor=cursor)
        answer = {**page, "nodes": answer["nodes"] + page["nodes"]}
    session.printer.listed(answer, "nodes", TREE, none="No tasks.")


@command(app)
def timeline(session: Session, task: TaskId, limit: Limit = 1000) -> None:
    """Show the task's rows of the journal, the oldest first."""
    route = f"/a2a/tasks/{ids.task(session, task)}/timeline"
    columns = [column for column in cells.EVENTS if column.title != "TASK"]
    session.printer.listed(session.listed(route, "events", limit=limit), "events", columns, none="No rows.")
