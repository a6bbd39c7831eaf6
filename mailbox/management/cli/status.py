"""``status``. Source: Covenant A2A, "CLI and HTTP inspection"."""

from __future__ import annotations

from argparse import Namespace

from mailbox.dialects.covenant import wire
from mailbox.gate.callers import Caller
from mailbox.inspection import lists
from mailbox.inspection.lists import QueueFilter
from mailbox.management.cli import arguments, output
from mailbox.models import Task
from mailbox.words import times


def add_commands(commands: arguments.Commands) -> None:
    status = commands.add_parser("status", help="list queued tasks, live leases and pending results")
    arguments.add_limit(status)
    status.add_argument(
        "--min-lease-age-ms",
        type=arguments.integer("--min-lease-age-ms", most=times.MOST_MS),
        metavar="N",
        help="leave out leases younger than N milliseconds",
    )
    status.add_argument(
        "--deadline-within-ms",
        type=arguments.integer("--deadline-within-ms", most=times.MOST_MS),
        metavar="N",
        help="only tasks whose deadline is within N milliseconds, or has passed",
    )
    status.add_argument(
        "--state",
        type=arguments.one_of("a2a state", "queued", "in_flight"),
        metavar="queued|in_flight",
        help="only tasks in this state",
    )
    arguments.add_json(status)
    status.set_defaults(run=_status)


def _status(options: Namespace) -> str:
    wanted = QueueFilter(
        state=Task.State(options.state) if options.state else None,
        min_lease_age=times.from_ms(options.min_lease_age_ms),
        deadline_within=times.from_ms(options.deadline_within_ms),
    )
    caller = Caller.command_line()
    entries = lists.queue(caller, wanted, limit=options.limit).items
    pending = lists.recent_results(caller, limit=options.limit).items
    if options.json:
        return output.as_json(
            wire.status(
                entries,
                pending,
                limit=options.limit,
                state_filter=options.state,
                min_lease_age_ms=options.min_lease_age_ms,
                deadline_within_ms=options.deadline_within_ms,
            )
        )
    found = [{"type": "task", "entry": wire.queue_entry(entry)} for entry in entries]
    found += [{"type": "result", "result": wire.result(result)} for result in pending]
    return output.lines(map(output.as_json, found), none="(a2a queue empty)")
