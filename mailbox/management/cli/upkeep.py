"""``retry-stale``, ``compact``. Source: Covenant A2A, CLI; idempotency policy, "Explicit retry gate"."""

from argparse import Namespace
from collections.abc import Iterator
from datetime import timedelta

from mailbox.access.callers import Caller
from mailbox.dialects.covenant import repair_wire
from mailbox.management.cli import arguments, output
from mailbox.models import Lease
from mailbox.repairs import retry
from mailbox.repairs.retry import BOUNDS, RetryPolicy, RetryReport
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention


def add_commands(commands: arguments.Commands) -> None:
    gate = commands.add_parser(
        "retry-stale", help="requeue stale leases of idempotent tasks; a dry run unless --enable is given"
    )
    usual = RetryPolicy()
    gate.add_argument("--enable", action="store_true", help="requeue (default: dry run)")
    for name, default, what in (
        (
            "--min-lease-age-ms",
            usual.min_lease_age // timedelta(milliseconds=1),
            "skip leases younger than N milliseconds",
        ),
        ("--max-attempts", usual.max_attempts, "skip tasks with N leases, without those that ended with a question"),
        ("--max-requeues", usual.max_requeues, "requeue at most N tasks"),
        ("--scan-limit", usual.scan_limit, "examine at most N leases, retryable leases first"),
    ):
        least, most = BOUNDS[name.removeprefix("--").replace("-", "_")]
        kind = arguments.integer(name, least=least, most=most)
        gate.add_argument(name, type=kind, default=default, metavar="N", help=f"{what} (default: %(default)s)")
    arguments.add_json(gate)
    gate.set_defaults(run=_retry_stale)

    compact = commands.add_parser("compact", help="delete finished tasks older than the retention period")
    arguments.add_json(compact)
    compact.set_defaults(run=_compact)


def _retry_stale(options: Namespace) -> str:
    policy = RetryPolicy(
        enabled=options.enable,
        min_lease_age=timedelta(milliseconds=options.min_lease_age_ms),
        max_attempts=options.max_attempts,
        max_requeues=options.max_requeues,
        scan_limit=options.scan_limit,
    )
    report = retry.retry_stale(Caller.command_line(), policy)
    if options.json:
        return output.as_json({"kind": "a2a_auto_retry", "report": repair_wire.retry_report(report)})
    return "\n".join(_report_lines(report))


def _report_lines(report: RetryReport) -> Iterator[str]:
    yield (f"considered {report.considered} task(s), requeued {len(report.requeued)}, skipped {len(report.skipped)}")
    yield from (f"requeued {_named(lease)}" for lease in report.requeued)
    yield from (f"would requeue {_named(lease)}" for lease in report.would_requeue)
    yield from (f"skipped {_named(skip.lease)}: {skip.reason}" for skip in report.skipped)
    if not report.policy.enabled:
        yield "automatic retry disabled; pass --enable to mutate"


def _named(lease: Lease) -> str:
    return f"{lease.task.uuid} (lease {lease.lease_id}, attempt {lease.attempt})"


def _compact(options: Namespace) -> str:
    dropped = compaction.compact(Caller.command_line(), Retention.from_settings())
    if options.json:
        return output.as_json({"kind": "a2a_compacted", "dropped": dropped})
    return f"dropped {dropped} finished task(s)"
