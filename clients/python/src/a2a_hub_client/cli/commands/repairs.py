"""``a2a task requeue``, ``fail``, ``release`` and ``retry-stale``."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from a2a_hub_client.cli import ids
from a2a_hub_client.cli.command import command
from a2a_hub_client.cli.ids import TaskId
from a2a_hub_client.cli.options import LeaseId, Reason, span
from a2a_hub_client.cli.session import Session

if TYPE_CHECKING:
    from a2a_hub_client._calls.call import Call


class Risk(str, enum.Enum):
    """Why the work may be done twice."""

    IDEMPOTENT = "idempotent"
    ACCEPTED = "operator_accepted"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the noun."""
    command(app)(requeue)
    command(app)(fail)
    command(app)(release)
    command(app, "retry-stale")(retry_stale)


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
    from a2a_hub_client._calls import upkeep

    risk: Any = duplicate_risk.value
    task_id = ids.task(session, task)
    _repair(session, upkeep.requeue(task_id, reason, duplicate_risk=risk, lease_id=lease_id))


def fail(
    session: Session,
    task: TaskId,
    message: Annotated[str, typer.Option("--message", metavar="TEXT", help="The error that the sender gets.")],
    reason: Reason,
    lease_id: LeaseId = None,
) -> None:
    """Resolve a leased task as an error, as an operator."""
    from a2a_hub_client._calls import upkeep

    _repair(session, upkeep.force_error(ids.task(session, task), message, reason, lease_id))


def release(session: Session, task: TaskId, reason: Reason, lease_id: LeaseId = None) -> None:
    """Return a task to the queue, as its holder."""
    from a2a_hub_client._calls import work

    task_id = ids.task(session, task)
    answer = session.ask(work.release(task_id, reason, lease_id))
    session.printer.answer(answer, lambda: f"released task {task_id}")


def retry_stale(
    session: Session,
    is_applied: Annotated[
        bool, typer.Option("--apply", help="Requeue them (default: only say what that would do).")
    ] = False,
    min_lease_age: Annotated[
        str | None, typer.Option("--min-lease-age", metavar="SPAN", help="Only leases that are so old (default: 5m).")
    ] = None,
    max_requeues: Annotated[int | None, typer.Option("--max", min=1, metavar="N", help="At most N tasks.")] = None,
) -> None:
    """Requeue the stale leases of tasks that may be done twice, as an operator."""
    from a2a_hub_client._calls import upkeep

    age = span("--min-lease-age", min_lease_age)
    answer = session.ask(upkeep.retry_stale(enabled=is_applied, min_lease_age=age, max_requeues=max_requeues))
    session.printer.answer(answer, lambda: _told(answer["report"], is_applied=is_applied))


def _told(report: dict[str, Any], *, is_applied: bool) -> str:
    chosen = report["requeued"] if is_applied else report["would_requeue"]
    lines = [f"{'requeued' if is_applied else 'would requeue'} {one['task_id']}" for one in chosen]
    lines += [f"left {one['task_id']}: {one['reason']}" for one in report["skipped"]]
    if not is_applied:
        lines.append("Dry run: nothing was changed. --apply requeues.")
    return "\n".join(lines) or "No stale leases."


def _repair(session: Session, call: Call[Any]) -> None:
    answer = session.ask(call)
    outcome = answer["outcome"]
    session.printer.answer(answer, lambda: f"task {outcome['task_id']} is {outcome['state'].replace('_', ' ')}")
