"""``a2a task`` and ``a2a lease``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from a2a_hub_client.cli import options, tables, watching
from a2a_hub_client.cli.command import Session, argument, command, noun, option
from a2a_hub_client.cli.commands import sending
from a2a_hub_client.cli.options import USUAL_LIMIT, LeaseId, Limit, Reason, TaskId, seconds, span
from a2a_hub_client.cli.tables import Column, Row

if TYPE_CHECKING:
    from a2a_hub_client import Hub

BRANCH = "· "  # for each level of a tree

task_app = noun("Send, watch and repair tasks.")
command(task_app, is_long=True)(sending.send)

Timeout = Annotated[str | None, option("--timeout", "SPAN", "Exit with 8 after that long.")]
MESSAGES = (
    Column("N", lambda row: str(row["seq"])),
    Column("TIME", lambda row: tables.local(row["said_at_ms"])),
    Column("BY", lambda row: "sender" if row["role"] == "user" else "agent"),
    Column("MESSAGE", watching.message_line, is_cut=True),
)


@command(task_app, is_long=True)
def watch(session: Session, task: TaskId, timeout: Timeout = None) -> None:
    """Show a task until it is resolved: its messages, its progress, its result.

    The exit code is 0 if the work was done. It is 3 if the task failed or expired, 4 if it was rejected, and 5 if it
    was cancelled. It is 6 for a question and 7 for a required authorization. It is 8 if --timeout has passed.
    """
    limit = seconds("--timeout", timeout)
    watching.follow(session, options.task_id_of(session, task), timeout=limit)


@command(task_app)
def messages(session: Session, task: TaskId) -> None:
    """Show the messages of the sender and the agent of a task."""
    task_id, after = options.task_id_of(session, task), 0
    answer: dict[str, Any] = session.read(f"/a2a/tasks/{task_id}/messages", after=after, limit=100)
    while answer["messages"] and answer["next_after"] is not None:
        page = session.read(f"/a2a/tasks/{task_id}/messages", after=answer["next_after"], limit=100)
        answer = {**page, "messages": answer["messages"] + page["messages"]}
        if not page["messages"]:
            break
    session.printer.listed(answer, "messages", MESSAGES, none="No messages.")


@command(task_app)
def say(
    session: Session,
    task: TaskId,
    text: Annotated[str, argument("TEXT", "The message; - reads stdin.")],
) -> None:
    """Send a further message to the agent of a task, also as the answer to its question."""
    words = typer.get_text_stream("stdin").read() if text == "-" else text
    answer = watching.say(session, options.task_id_of(session, task), words)
    session.printer.answer(answer, lambda: f"sent to the agent of task {answer['task_id']}")


@command(task_app)
def cancel(
    session: Session,
    task: TaskId,
    reason: Annotated[str, option("--reason", "TEXT", "Why, for the agent and the journal.")] = "",
) -> None:
    """Cancel a task, as its sender."""
    task_id = options.task_id_of(session, task)
    answer = session.ask(lambda hub: hub.task(task_id).cancel(reason))
    session.printer.answer(answer, lambda: f"cancelled task {task_id}")


# Why the work may be done twice.
Risk = Literal["idempotent", "operator_accepted"]


@command(task_app)
def requeue(
    session: Session,
    task: TaskId,
    reason: Reason,
    duplicate_risk: Annotated[
        Risk, typer.Option("--duplicate-risk", help="Why it is acceptable that the work is done twice.")
    ],
    lease_id: LeaseId = None,
) -> None:
    """Take a task from its holder and return it to the queue, as an operator.

    Its holder may still be at work, so the work may be done twice.
    """
    task_id = options.task_id_of(session, task)
    _repair(session, lambda hub: hub.task(task_id).requeue(reason, duplicate_risk=duplicate_risk, lease_id=lease_id))


@command(task_app)
def fail(
    session: Session,
    task: TaskId,
    message: Annotated[str, option("--message", "TEXT", "The error that the sender gets.")],
    reason: Reason,
    lease_id: LeaseId = None,
) -> None:
    """Resolve a leased task as an error, as an operator."""
    task_id = options.task_id_of(session, task)
    _repair(session, lambda hub: hub.task(task_id).fail(message, reason=reason, lease_id=lease_id))


@command(task_app)
def release(session: Session, task: TaskId, reason: Reason, lease_id: LeaseId = None) -> None:
    """Return a task to the queue, as its holder."""
    task_id = options.task_id_of(session, task)
    answer = session.ask(lambda hub: hub.task(task_id).release(reason, lease_id=lease_id))
    session.printer.answer(answer, lambda: f"released task {task_id}")


@command(task_app, "retry-stale")
def retry_stale(
    session: Session,
    is_applied: Annotated[
        bool, typer.Option("--apply", help="Requeue them (default: only say what that would do).")
    ] = False,
    min_lease_age: Annotated[
        str | None, option("--min-lease-age", "SPAN", "Only leases that are so old (default: 5m).")
    ] = None,
    max_requeues: Annotated[int | None, option("--max", "N", "At most N tasks.", min=1)] = None,
) -> None:
    """Requeue the stale leases of tasks that may be done twice, as an operator."""
    age = span("--min-lease-age", min_lease_age)
    limits: dict[str, Any] = {"min_lease_age": age, "max_requeues": max_requeues}
    answer = session.ask(lambda hub: hub.retry_stale(enabled=is_applied, **limits))
    session.printer.answer(answer, lambda: _retry_text(answer["report"], is_applied=is_applied))


def _retry_text(report: dict[str, Any], *, is_applied: bool) -> str:
    chosen = report["requeued"] if is_applied else report["would_requeue"]
    lines = [f"{'requeued' if is_applied else 'would requeue'} {one['task_id']}" for one in chosen]
    lines += [f"left {one['task_id']}: {one['reason']}" for one in report["skipped"]]
    if not is_applied:
        lines.append("Dry run: nothing was changed. --apply requeues.")
    return "\n".join(lines) or "No stale leases."


def _repair(session: Session, request: Callable[[Hub], object]) -> None:
    answer = session.ask(request)
    outcome = answer["outcome"]
    session.printer.answer(answer, lambda: f"task {outcome['task_id']} is {outcome['state'].replace('_', ' ')}")


TREE = (
    Column("TASK", lambda row: row["task"]["id"], is_id=True),
    Column("STATE", tables.state),
    Column("TO", lambda row: f"{BRANCH * row['depth']}{tables.name(row['task']['recipient'])}", is_cut=True),
    Column("ATTEMPT", lambda row: str(row["attempt"]), is_optional=True),
    Column("TEXT", lambda row: row["task"]["intent_text"], is_cut=True, is_optional=True),
)


@command(task_app, "list")
def list_(
    session: Session,
    state: Annotated[
        Literal["queued", "in_flight", "interrupted"] | None,
        typer.Option("--state", help="Only the unresolved tasks of this state."),
    ] = None,
    deadline_within: Annotated[
        str | None, option("--deadline-within", "SPAN", "Only tasks with a deadline so soon.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show the list anew until Ctrl-C.")] = False,
    limit: Limit = USUAL_LIMIT,
) -> None:
    """List tasks in any state, the newest first. An agent sees its own, a person all."""
    within = span("--deadline-within", deadline_within)
    query = {"state_filter": state, "deadline_within_ms": within and within // tables.MILLISECOND}
    route, key = ("/a2a/queue", "tasks") if any(query.values()) else ("/a2a/tasks", "entries")
    filters = {name: value for name, value in query.items() if value is not None}

    def show() -> None:
        session.show(route, key, tables.TASKS, none="No tasks.", limit=limit, **filters)

    watching.again_and_again(session, show) if watch else show()


@command(task_app)
def show(session: Session, task: TaskId) -> None:
    """Show one task: its state, its times, its lease and its result."""
    task_id = options.task_id_of(session, task)
    answer = session.ask(lambda hub: hub.task(task_id).entry())
    entry = answer["entry"]
    result = session.read(f"/a2a/tasks/{task_id}/result")["result"] if entry["state"] == "resolved" else None
    session.printer.details(answer, lambda: [*_pairs(entry), *result_pairs(result)])


def _pairs(entry: Row) -> list[tuple[str, str]]:
    task, lease = entry["task"], entry.get("lease_id")
    held = f"{lease} by {tables.name(entry.get('leased_to'))} for {tables.age(entry.get('leased_at_ms'))}"
    return [
        ("task", task["id"]),
        ("state", tables.state(entry)),
        ("from", tables.name(task["sender"])),
        ("to", tables.name(task["recipient"])),
        ("kind", task.get("task_kind") or ""),
        ("parent", task.get("parent") or ""),
        ("sent", _at(entry.get("sent_at_ms"))),
        ("deadline", tables.local(task.get("deadline_ms"))),
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
        ("result", tables.content(result["content"])),
        ("message", tables.content(result.get("message", []))),
        ("artifacts", named),
    ]


def _at(ms: int | None) -> str:
    return "" if ms is None else f"{tables.local(ms)} ({tables.age(ms)} ago)"


@command(task_app)
def tree(session: Session, task: TaskId) -> None:
    """Show a task and all tasks below it."""
    answer = session.read(f"/a2a/tasks/{options.task_id_of(session, task)}/tree")
    while cursor := answer.get("next_cursor"):
        page = session.read(f"/a2a/tasks/{answer['nodes'][0]['task']['id']}/tree", cursor=cursor)
        answer = {**page, "nodes": answer["nodes"] + page["nodes"]}
    session.printer.listed(answer, "nodes", TREE, none="No tasks.")


@command(task_app)
def timeline(session: Session, task: TaskId, limit: Limit = 1000) -> None:
    """Show the task's rows of the journal, the oldest first."""
    route = f"/a2a/tasks/{options.task_id_of(session, task)}/timeline"
    columns = [column for column in tables.EVENTS if column.title != "TASK"]
    session.show(route, "events", columns, none="No rows.", limit=limit)


lease_app = noun("List the live leases.")


@command(lease_app, "list")
def list_leases(
    session: Session,
    mine: Annotated[bool, typer.Option("--mine", help="Only those that the agent of the key holds.")] = False,
    min_age: Annotated[str | None, option("--min-age", "SPAN", "Only those that are so old.")] = None,
    limit: Limit = USUAL_LIMIT,
) -> None:
    """List the live leases: an agent sees those of its own tasks, a person all."""
    age = span("--min-age", min_age)
    if mine and age is not None:
        raise typer.BadParameter("give --mine or --min-age, not both")
    route, key, query = (
        ("/a2a/leases", "leases", {}) if mine else ("/a2a/queue", "tasks", {"state_filter": "in_flight"})
    )
    age_ms = None if age is None else age // tables.MILLISECOND
    session.show(route, key, tables.LEASES, none="No live leases.", limit=limit, min_lease_age_ms=age_ms, **query)
