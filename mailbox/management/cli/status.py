"""``status``. Source: Covenant A2A, "CLI and HTTP inspection"."""

import sys
from argparse import Namespace
from typing import Any

from mailbox.access.callers import Caller
from mailbox.database import paging
from mailbox.database.paging import Page
from mailbox.dialects.covenant import wire
from mailbox.inspection import answers, lists
from mailbox.inspection.lists import QueueFilter
from mailbox.management.cli import arguments, output
from mailbox.models import Task
from mailbox.words import times


def add_commands(commands: arguments.Commands) -> None:
    status = commands.add_parser("status", help="list queued, leased and interrupted tasks, and pending results")
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
        type=arguments.one_of("a2a state", "queued", "in_flight", "interrupted"),
        metavar="queued|in_flight|interrupted",
        help="only tasks in this state",
    )
    arguments.add_json(status)
    status.set_defaults(run=_status)


def _is_cut(page: Page[Any], limit: int) -> bool:
    """Whether a page ended before its limit, because of its size."""
    return page.next_cursor is not None and len(page.items) < limit


def _status(options: Namespace) -> str:
    wanted = QueueFilter(
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
        return output.as_json(
            wire.status(
                entries,
                pending,
                beside,
                limit=options.limit,
                state_filter=options.state,
                min_lease_age_ms=options.min_lease_age_ms,
                deadline_within_ms=options.deadline_within_ms,
            )
        )
    rows = [{"type": "task", "entry": wire.queue_entry(entry)} for entry in entries]
    rows += [{"type": "result", "result": wire.result(result, beside)} for result in pending]
    return output.lines(map(output.as_json, rows), none="(a2a queue empty)")
