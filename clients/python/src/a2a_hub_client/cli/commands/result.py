"""``a2a result``."""

from typing import Annotated, NoReturn
from uuid import UUID, uuid4

import typer

from a2a_hub_client.cli import options, tables
from a2a_hub_client.cli.command import CommandError, Session, command, noun, option
from a2a_hub_client.cli.commands.task import result_pairs
from a2a_hub_client.cli.options import USUAL_LIMIT, Limit, TaskId, reader, span, whole_id
from a2a_hub_client.cli.tables import Row

LONGEST_WAIT = 50.0  # seconds of one request
Wait = Annotated[str | None, option("--wait", "SPAN", "Wait so long for it, at most 50s.")]

result_app = noun("Read and receive results.")


def _seconds(wait: str | None) -> float:
    duration = span("--wait", wait)
    if duration is not None and duration.total_seconds() > LONGEST_WAIT:
        raise typer.BadParameter("a request waits for at most 50s", param_hint="--wait")
    return 0.0 if duration is None else duration.total_seconds()


@command(result_app, "list")
def list_(
    session: Session,
    delivered: Annotated[
        bool, typer.Option("--delivered", help="Those that were received and not acknowledged.")
    ] = False,
    limit: Limit = USUAL_LIMIT,
) -> None:
    """List the results that no one received yet, without receiving them."""
    route = "/a2a/results/delivered" if delivered else "/a2a/results/recent"
    session.show(route, "results", tables.RESULTS, none="No results.", limit=limit)


@command(result_app)
def show(session: Session, task: TaskId, wait: Wait = None) -> None:
    """Show the result of a task without receiving it. Exits with 1 if there is none."""
    from a2a_hub_client import _calls

    task_id = options.task_id_of(session, task)
    answer = session.perform(_calls.result(task_id, wait=_seconds(wait)))
    if answer["result"] is None:
        _end_without_result(session, answer, f"task {task_id} has no result yet")
    session.printer.details(answer, lambda: [("task", task_id), *result_pairs(answer["result"])])


@command(result_app, "next")
def next_(
    session: Session,
    wait: Wait = None,
    ack: Annotated[
        UUID | None,
        option("--ack", "TASK_ID", "First acknowledge this task's result.", parser=reader(whole_id)),
    ] = None,
) -> None:
    """Receive the oldest result of the tasks that the agent of the key sent. Exits with 1 if there is none.

    A result that is never acknowledged is listed by `a2a result list --delivered`.
    """
    from a2a_hub_client import _calls

    answer = session.perform(_calls.drain(uuid4(), wait=_seconds(wait), ack=[] if ack is None else [ack]))
    results = answer["results"]
    if not results:
        _end_without_result(session, answer, "no result waits")
    session.printer.details(answer, lambda: [("task", results[0]["task_id"]), *result_pairs(results[0])])


def _end_without_result(session: Session, answer: Row, why: str) -> NoReturn:
    if not session.printer.is_for_people:
        session.printer.document(answer)
    raise CommandError(why)
