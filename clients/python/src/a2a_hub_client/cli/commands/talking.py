"""``a2a task watch``, ``messages``, ``say`` and ``cancel``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from a2a_hub_client.cli import ids, times, watching
from a2a_hub_client.cli.command import command
from a2a_hub_client.cli.ids import TaskId
from a2a_hub_client.cli.options import seconds
from a2a_hub_client.cli.session import Session
from a2a_hub_client.cli.tables import Column

Timeout = Annotated[str | None, typer.Option("--timeout", metavar="SPAN", help="Exit with 8 after that long.")]
MESSAGES = (
    Column("N", lambda row: str(row["seq"])),
    Column("TIME", lambda row: times.local(row["said_at_ms"])),
    Column("BY", lambda row: "sender" if row["role"] == "user" else "agent"),
    Column("MESSAGE", watching.said, is_cut=True),
)


def add_to(app: typer.Typer) -> None:
    """Add the commands to the noun."""
    command(app, is_long=True)(watch)
    command(app)(messages)
    command(app)(say)
    command(app)(cancel)


def watch(session: Session, task: TaskId, timeout: Timeout = None) -> None:
    """Show a task until it is resolved: its messages, its progress, its result.

    The exit code is 0 if the work was done. It is 3 if the task failed or expired, 4 if it was rejected, and 5 if it
    was cancelled. It is 6 for a question and 7 for a required authorization. It is 8 if --timeout has passed.
    """
    limit = seconds("--timeout", timeout)
    watching.follow(session, ids.task(session, task), timeout=limit)


def messages(session: Session, task: TaskId) -> None:
    """Show the messages of the sender and the agent of a task."""
    task_id, after = ids.task(session, task), 0
    answer: dict[str, Any] = session.read(f"/a2a/tasks/{task_id}/messages", after=after, limit=100)
    while answer["messages"] and answer["next_after"] is not None:
        page = session.read(f"/a2a/tasks/{task_id}/messages", after=answer["next_after"], limit=100)
        answer = {**page, "messages": answer["messages"] + page["messages"]}
        if not page["messages"]:
            break
    session.printer.listed(answer, "messages", MESSAGES, none="No messages.")


def say(
    session: Session,
    task: TaskId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The message; - reads stdin.")],
) -> None:
    """Send a further message to the agent of a task, also as the answer to its question."""
    words = typer.get_text_stream("stdin").read() if text == "-" else text
    answer = watching.say(session, ids.task(session, task), words)
    session.printer.answer(answer, lambda: f"sent to the agent of task {answer['task_id']}")


def cancel(
    session: Session,
    task: TaskId,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the agent and the journal.")] = "",
) -> None:
    """Cancel a task, as its sender."""
    from a2a_hub_client._calls import tasks

    task_id = ids.task(session, task)
    answer = session.ask(tasks.cancel(task_id, reason))
    session.printer.answer(answer, lambda: f"cancelled task {task_id}")
