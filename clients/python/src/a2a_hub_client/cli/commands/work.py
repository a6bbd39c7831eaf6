"""``a2a work``. Source: corvid-agent, sessions and process manager."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from a2a_hub_client.cli.command import FAILED, WRONG_USAGE, CommandError, Session, alone, argument, command, option
from a2a_hub_client.cli.contexts import Context
from a2a_hub_client.cli.tables import single_line
from a2a_hub_client.credentials import KEY, KeyFile

if TYPE_CHECKING:
    from a2a_hub_client.worker.orphans import Resume, Resuming

work_app = alone()


Concurrency = Annotated[
    int | None,
    option(
        "--concurrency",
        "N",
        "Run at most N programs at once (default: 1, with --batch the number of processors).",
        min=1,
        max=256,
    ),
]
Batch = Annotated[
    int | None,
    option(
        "--batch",
        "N",
        "Lease up to N tasks in one request, which also posts the results of the last tasks.",
        min=1,
        max=100,
    ),
]
Grace = Annotated[
    int, option("--grace", "S", "Seconds to finish after Ctrl-C, and from SIGTERM to SIGKILL.", min=0, max=86_400)
]
Heartbeat = Annotated[
    int, option("--heartbeat", "S", "Seconds between heartbeats, which also notice a lost lease.", min=1, max=3600)
]
Posted = Annotated[
    Literal["all", "none"],
    typer.Option("--messages", help="none: post no line as a message, which saves a request per task."),
]
Control = Annotated[
    Literal["plain", "lines"],
    typer.Option("--protocol", help="lines: CMD may write control lines, to ask, send artifacts and refuse."),
]
TakenOver = Annotated[
    Literal["all", "idempotent", "none"],
    typer.Option(
        "--resume",
        help="The leases of crashed workers to take over; idempotent: of tasks whose sender lets them be done twice.",
    ),
]
ResumeAfter = Annotated[
    int | None,
    option(
        "--resume-after",
        "S",
        "Seconds without a heartbeat after which a worker is crashed (default: 3 heartbeats + 15, at least 30).",
        min=1,
        max=86_400,
    ),
]


@command(work_app)
def work(
    session: Session,
    name: Annotated[str, argument("AGENT", "The agent that owns the key.")],
    program: Annotated[list[str], argument("CMD...", "The program and its arguments, after --.")],
    concurrency: Concurrency = None,
    batch: Batch = None,
    max_tasks: Annotated[int | None, option("--max-tasks", "N", "Exit after N tasks.", min=1)] = None,
    once: Annotated[bool, typer.Option("--once", help="Exit after one task.")] = False,
    grace: Grace = 10,
    heartbeat: Heartbeat = 10,
    result: Annotated[
        Literal["last", "all"], typer.Option("--result", help="Post the last line of the output or all.")
    ] = "last",
    messages: Posted = "all",
    protocol: Control = "plain",
    resume: TakenOver = "idempotent",
    resume_after: ResumeAfter = None,
    resume_attempts: Annotated[
        int, option("--resume-attempts", "N", "Take over no task that was leased N times.", min=1)
    ] = 5,
) -> None:
    """Lease the tasks of an agent, and run CMD once per task.

    CMD reads the task's text on stdin, then each later message of its sender. A2A_TASK holds the task as JSON.
    A2A_TASK_ID, A2A_LEASE_ID, A2A_ATTEMPT and A2A_TURN hold its ids, attempt and turn. A2A_CONVERSATION is the path of
    a file with its messages as JSON lines.

    Each line on stdout becomes a message. If CMD exits with 0, its last line is the result. Otherwise the result is an
    error with the end of stderr. With --protocol lines CMD may write control lines, which ask the sender, send
    artifacts or refuse the task. Each has the token in A2A_CONTROL, a space and JSON. The hub's page about workers
    describes them.

    The work timeout of the task, the end of the lease and Ctrl-C stop CMD and all processes that it started. The
    command exits with 0 if it holds no lease any more.
    """
    from a2a_hub_client.worker.programs import ProgramSettings

    if once and max_tasks is not None:
        raise typer.BadParameter("give --once or --max-tasks, not both")
    if shutil.which(program[0]) is None:
        raise typer.BadParameter(f"there is no program {program[0]!r}", param_hint="CMD")
    settings = ProgramSettings(
        command=program,
        environment=environment_without(_secret(session.context)),
        result=result,
        messages=messages,
        protocol=protocol,
        heartbeat=heartbeat,
        grace=grace,
    )
    _run(
        session,
        name,
        settings,
        concurrency=_concurrency(concurrency, batch),
        batch=batch,
        max_tasks=1 if once else max_tasks,
        resuming=_resuming(resume, resume_after, resume_attempts, heartbeat=heartbeat),
    )


def _resuming(which: Resume, after: int | None, attempts: int, *, heartbeat: int) -> Resuming:
    """Return which leases the worker takes over. Raises `BadParameter` for a silence that live workers have, too."""
    from a2a_hub_client.worker.orphans import Resuming

    resuming = Resuming(which=which, after=after, attempts=attempts)
    try:
        resuming.silence(heartbeat)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--resume-after") from error
    return resuming


def _run(session: Session, name: str, settings: Any, *, batch: int | None, **how: Any) -> None:
    """Work until the end. Raises `CommandError` for a failure."""
    from a2a_hub_client.worker.client import BatchingClient, WorkerClient
    from a2a_hub_client.worker.programs import Programs
    from a2a_hub_client.worker.worker import Worker

    client = (WorkerClient if batch is None else BatchingClient)(session.hub)
    worker = Worker(client, name, Programs(settings), batch=batch, say=_say, **how)
    if failure := worker.run():
        raise CommandError(failure, code=WRONG_USAGE if worker.is_wrong_usage else FAILED)


def environment_without(secret: str) -> Mapping[str, str]:
    """Return the environment without the API key, and without each variable that contains ``secret``."""
    return {name: value for name, value in os.environ.items() if name != KEY and secret not in value}


def _secret(context: Context) -> str:
    """Return the key, or the text of the private key, that programs must not see. Raises `CommandError`."""
    try:
        if context.signing_key_file is not None:
            return Path(context.signing_key_file).read_text("utf-8").strip()
        return KeyFile(context.key_file)() if context.key_file is not None else context.key or ""
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise CommandError(str(error)) from error


def _concurrency(wanted: int | None, batch: int | None) -> int:
    """Return how many programs run at once: never more than the tasks of a batch."""
    if batch is None:
        return wanted or 1
    return min(batch, wanted or os.cpu_count() or 1)


def _say(line: str) -> None:
    sys.stderr.write(f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ} {single_line(line)}\n")
    sys.stderr.flush()
