"""``a2a task send``."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID, uuid4

import typer

from a2a_hub_client.cli import completing, many, watching
from a2a_hub_client.cli.command import command
from a2a_hub_client.cli.options import moment, reader, seconds, span, whole_id
from a2a_hub_client.cli.session import Session

To = Annotated[
    str | None,
    typer.Argument(
        metavar="[AGENT]", help="The name of the agent that does the work.", autocompletion=completing.agents
    ),
]
Text = Annotated[str | None, typer.Argument(metavar="[TEXT]", help="The work; - reads stdin.")]


def add_to(app: typer.Typer) -> None:
    """Add the command to the noun."""
    command(app, is_long=True)(send)


def send(
    session: Session,
    to: To = None,
    text: Text = None,
    file: Annotated[
        str | None,
        typer.Option("--file", "-f", metavar="FILE", help="Send a task for each line of JSON; - reads stdin."),
    ] = None,
    run: Annotated[str, typer.Option("--run", metavar="NAME", help="With --file: another name sends it again.")] = "",
    task_id: Annotated[
        UUID | None, typer.Option("--id", parser=reader(whole_id), metavar="UUID", help="The id of the task.")
    ] = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help="The kind of the task.")] = None,
    parent: Annotated[
        UUID | None, typer.Option("--parent", parser=reader(whole_id), metavar="UUID", help="The task it is a part of.")
    ] = None,
    deadline: Annotated[
        str | None, typer.Option("--deadline", metavar="TIME", help="When a queued task expires: ISO 8601, or 2h.")
    ] = None,
    work_timeout: Annotated[
        str | None, typer.Option("--work-timeout", metavar="SPAN", help="How long one agent may work on it.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="The work may be done twice; the key is its name.")
    ] = None,
    callback_url: Annotated[
        str | None, typer.Option("--callback-url", metavar="URL", help="Where the hub posts the end of the task.")
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait", help="Show the task until it is done, like `a2a task watch`.")
    ] = False,
    timeout: Annotated[str | None, typer.Option("--timeout", metavar="SPAN", help="With --wait: how long.")] = None,
) -> None:
    """Send a task to an agent, as the agent of the key.

    With --file the lines are bodies of `POST /a2a/tasks`, and AGENT is the recipient of lines without one. The same
    file can be sent again: no task is sent twice. A bad line keeps no other line from being sent, nor does a line
    that is larger than the hub accepts. The command then names it and exits with 1.
    """
    if file is not None:
        if text is not None:
            raise typer.BadParameter("give a TEXT or a --file, not both")
        many.send(session, many.lines_of(file), to=to, run=run)
        return
    if to is None or text is None:
        raise typer.BadParameter("give an AGENT and a TEXT, or a --file")
    from a2a_hub_client import NewTask
    from a2a_hub_client._calls import tasks

    words = typer.get_text_stream("stdin").read() if text == "-" else text
    new = NewTask(
        to=to,
        text=words,
        id=task_id or uuid4(),
        kind=kind,
        parent=parent,
        deadline=moment("--deadline", deadline),
        work_timeout=span("--work-timeout", work_timeout),
        idempotency_key=key,
        callback_url=callback_url,
    )
    limit = seconds("--timeout", timeout)
    answer = session.ask(tasks.send(new.body()))
    if not wait:
        session.printer.answer(answer, lambda: str(answer["task_id"]))
        return
    session.printer.note(f"task {answer['task_id']}")
    watching.follow(session, answer["task_id"], after=watching.TEXT, timeout=limit, answers=True)
