"""``requeue``, ``force-error``. Source: Covenant A2A, "Lease repair"."""

from argparse import ArgumentParser, Namespace

from mailbox.access.callers import Caller
from mailbox.dialects.covenant import repair_wire
from mailbox.management.cli import arguments, output
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk


def add_commands(commands: arguments.Commands) -> None:
    requeue = commands.add_parser("requeue", help="return a leased task to the back of the queue")
    _add_repair(requeue)
    requeue.add_argument(
        "--duplicate-risk",
        required=True,
        type=arguments.one_of("duplicate risk", "idempotent", "operator-accepted"),
        metavar="idempotent|operator-accepted",
        help="why doing the work twice is acceptable: the task is idempotent, or you accept the risk",
    )
    requeue.set_defaults(run=_requeue)

    force_error = commands.add_parser("force-error", help="end the lease of a task and resolve the task as an error")
    _add_repair(force_error)
    force_error.add_argument(
        "--message", required=True, metavar="TEXT", help="the error message of the result, for the sender"
    )
    force_error.set_defaults(run=_force_error)


def _add_repair(parser: ArgumentParser) -> None:
    parser.add_argument("task_id", type=arguments.uuid("task-id"), metavar="TASK_ID", help="the task")
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why; the journal keeps it")
    parser.add_argument(
        "--lease-id", type=arguments.uuid("--lease-id"), metavar="UUID", help="refuse unless this lease is live"
    )


def _requeue(options: Namespace) -> str:
    task = repair.requeue(
        Caller.command_line(),
        options.task_id,
        reason=options.reason,
        duplicate_risk=DuplicateRisk(options.duplicate_risk.replace("-", "_")),
        lease_id=options.lease_id,
    )
    return output.as_json(repair_wire.requeued(task))


def _force_error(options: Namespace) -> str:
    result = repair.force_error(
        Caller.command_line(),
        options.task_id,
        reason=options.reason,
        message=options.message,
        lease_id=options.lease_id,
    )
    return output.as_json(repair_wire.forced_error(result))
