"""``a2a ask``."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

import typer

from a2a_hub_client.cli import watching
from a2a_hub_client.cli.command import alone, command
from a2a_hub_client.cli.options import AgentName, seconds
from a2a_hub_client.cli.session import Session

app = alone()


@command(app, is_long=True)
def ask(
    session: Session,
    agent: AgentName,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The work; - reads stdin.")],
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="SPAN", help="Exit with 8 after that long.")
    ] = None,
) -> None:
    """Send an agent a task, and show what it says until the task is done.

    At a terminal the command asks for the answer to a question of the agent. The result is acknowledged, so
    `a2a result next` does not show it again. The exit codes are those of `a2a task watch`.
    """
    from a2a_hub_client._calls import tasks
    from a2a_hub_client.models.sent import NewTask

    limit = seconds("--timeout", timeout)
    words = typer.get_text_stream("stdin").read() if text == "-" else text
    task_id = session.ask(tasks.send(NewTask(to=agent, text=words, id=uuid4()).body()))["task_id"]
    watching.follow(session, task_id, after=watching.TEXT, timeout=limit, answers=True, is_acked=True)
