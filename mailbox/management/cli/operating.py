"""The commands of operators: ``status``, ``requeue``, ``force-error``, ``retry-stale`` and ``compact``.

Source: Covenant A2A, "CLI and HTTP inspection", "Lease repair"; idempotency policy, "Explicit retry gate".
"""

import sys
from argparse import Namespace
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from mailbox.access.callers import Caller
from mailbox.database import paging
from mailbox.dialects.covenant import repair_wire, wire
from mailbox.inspection import answers, lists
from mailbox.management.cli import arguments, output
from mailbox.management.cli.arguments import LEASE, LIMIT, REASON, TASK, argument, command, number
from mailbox.models import Lease, Task
from mailbox.repairs import repair, retry
from mailbox.upkeep import compaction
from mailbox.words import times


def add_commands(commands: arguments.Commands) -> None:
    command(
        commands,
        "status",
        _status,
        LIMIT,
        number("--min-lease-age-ms", most=times.MOST_MS, help="leave out leases younger than N milliseconds"),
        number(
            "--deadline-within-ms",
            most=times.MOST_MS,
            help="only tasks whose deadline is within N milliseconds, or has passed",
        ),
        arguments.word("--state", "a2a state", "queued", "in_flight", "interrupted", help="only tasks in this state"),
        help="list queued, leased and interrupted tasks, and pending results",
    )
    risk = arguments.word(
        "--duplicate-risk",
        "duplicate risk",
        "idempotent",
        "operator-accepted",
        required=True,
        help="why doing the work twice is acceptable: the task is idempotent, or you accept the risk",
    )
    what = "return a leased task to the back of the queue"
    command(commands, "requeue", _requeue, TASK, REASON, LEASE, risk, has_json=False, help=what)
    message = argument(
        "--message", required=True, metavar="TEXT", help="the error message of the result, for the sender"
    )
    what = "end the lease of a task and resolve the task as an error"
    command(commands, "force-error", _force_error, TASK, REASON, LEASE, message, has_json=False, help=what)
    enable = argument("--enable", action="store_true", help="requeue (default: dry run)")
    what = "requeue stale leases of idempotent tasks; a dry run unless --enable is given"
    command(commands, "retry-stale", _retry_stale, enable, *_limits(), help=what)
    command(commands, "compact", _compact, help="delete finished tasks older than the retention period")


def _limits() -> Iterator[arguments.Argument]:
    """Yield the options of the limits of the retry gate."""
    usual = retry.RetryPolicy()
    for name, default, what in (
        ("min_lease_age_ms", times.to_ms(usual.min_lease_age), "skip leases younger than N milliseconds"),
        ("max_attempts", usual.max_attempts, "skip tasks with N leases, without those that ended with a question"),
        ("max_requeues", usual.max_requeues, "requeue at most N tasks"),
        ("scan_limit", usual.scan_limit, "examine at most N leases, retryable leases first"),
    ):
        least, most = retry.BOUNDS[name]
        option = f"--{name.replace('_', '-')}"
        yield number(option, least=least, most=most, default=default, help=f"{what} (default: %(default)s)")


def _status(options: Namespace) -> str:
    ages = {"min_lease_age_ms": options.min_lease_age_ms, "deadline_within_ms": options.deadline_within_ms}
    wanted = lists.QueueFilter(
        state=Task.State(options.state) if options.state else None,
        min_lease_age=times.from_ms(options.min_lease_age_ms),
        deadline_within=times.from_ms(options.deadline_within_ms),
    )
    caller = Caller.command_line()
    queue = lists.queue(caller, wanted, limit=options.limit)
    results = lists.recent_results(caller, limit=options.limit)
    entries, pending = queue.items, results.items
    if _is_cut(queue, options.limit) or _is_cut(results, options.limit):
        print(f"status: left out what is beyond {paging.BUDGET:,} bytes", file=sys.stderr)  # noqa: T201
    beside = answers.beside(pending)
    if options.json:
        shown = wire.status(entries, pending, beside, limit=options.limit, state_filter=options.state, **ages)
        return output.as_json(shown)
    rows = [{"type": "task", "entry": wire.queue_entry(entry)} for entry in entries]
    rows += [{"type": "result", "result": wire.result(result, beside)} for result in pending]
    return output.lines(map(output.as_json, rows), none="(a2a queue empty)")


def _is_cut(page: paging.Page[Any], limit: int) -> bool:
    """Whether a page ended before its limit, because of its size."""
    return page.next_cursor is not None and len(page.items) < limit


def _requeue(options: Namespace) -> str:
    risk = repair.DuplicateRisk(options.duplicate_risk.replace("-", "_"))
    how = {"reason": options.reason, "lease_id": options.lease_id}
    task = repair.requeue(Caller.command_line(), options.task_id, duplicate_risk=risk, **how)
    return output.as_json(repair_wire.requeued(task))


def _force_error(options: Namespace) -> str:
    how = {"reason": options.reason, "lease_id": options.lease_id}
    result = repair.force_error(Caller.command_line(), options.task_id, message=options.message, **how)
    return output.as_json(repair_wire.forced_error(result))


def _retry_stale(options: Namespace) -> str:
    policy = retry.RetryPolicy(
        enabled=options.enable,
        min_lease_age=timedelta(milliseconds=options.min_lease_age_ms),
        max_attempts=options.max_attempts,
        max_requeues=options.max_requeues,
        scan_limit=options.scan_limit,
    )
    report = retry.retry_stale(Caller.command_line(), policy)
    shown = {"kind": "a2a_auto_retry", "report": repair_wire.retry_report(report)}
    return output.answer(options, shown, "\n".join(_report_lines(report)))


def _report_lines(report: retry.RetryReport) -> Iterator[str]:
    yield f"considered {report.considered} task(s), requeued {len(report.requeued)}, skipped {len(report.skipped)}"
    yield from (f"requeued {_named(lease)}" for lease in report.requeued)
    yield from (f"would requeue {_named(lease)}" for lease in report.would_requeue)
    yield from (f"skipped {_named(skip.lease)}: {skip.reason}" for skip in report.skipped)
    if not report.policy.enabled:
        yield "automatic retry disabled; pass --enable to mutate"


def _named(lease: Lease) -> str:
    return f"{lease.task.uuid} (lease {lease.lease_id}, attempt {lease.attempt})"


def _compact(options: Namespace) -> str:
    dropped = compaction.compact(Caller.command_line(), compaction.Retention.from_settings())
    shown = {"kind": "a2a_compacted", "dropped": dropped}
    return output.answer(options, shown, f"dropped {dropped} finished task(s)")
