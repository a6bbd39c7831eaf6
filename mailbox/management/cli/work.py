"""``work``. Source: corvid-agent, sessions and process manager."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentTypeError, Namespace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from django.conf import ENVIRONMENT_VARIABLE, settings
from django.core.management.base import CommandError

from mailbox.management.cli import arguments

KEY_VARIABLE = "A2A_API_KEY"
MOST_AT_ONCE = 256
LONGEST_GRACE = 86_400
WRONG_USAGE = 2

DESCRIPTION = """
Leases the tasks of an agent over HTTP, with its key, and runs CMD once for each: the task's text on stdin, the task as
JSON in A2A_TASK, also A2A_TASK_ID, A2A_LEASE_ID and A2A_ATTEMPT. Lines on stdout become messages while it runs; exit 0
answers with the last of them, anything else is an error with the tail of stderr. The task's own time limit, Ctrl-C and
a lease ended by others stop CMD with all it started. Needs no database. Exit code 0 when no lease was left behind.
"""


def add_commands(commands: arguments.Commands) -> None:
    work = commands.add_parser("work", help="run a program for each task of an agent", description=DESCRIPTION)
    work.add_argument("name", metavar="NAME", help="the agent whose key it is")
    work.add_argument("--url", type=_url, default=settings.PUBLIC_URL, metavar="URL", help="the hub; %(default)s")
    work.add_argument("--key", metavar="KEY", help=f"better in {KEY_VARIABLE}, which a list of processes does not show")
    work.add_argument(
        "--concurrency",
        type=arguments.integer("--concurrency", least=1, most=MOST_AT_ONCE),
        default=1,
        metavar="N",
        help="how many programs may run at once; 1, without it",
    )
    much = work.add_mutually_exclusive_group()
    much.add_argument("--max-tasks", type=arguments.integer("--max-tasks", least=1), metavar="N", help="end after N")
    much.add_argument("--once", action="store_const", const=1, dest="max_tasks", help="end after one task")
    work.add_argument(
        "--grace",
        type=arguments.integer("--grace", most=LONGEST_GRACE),
        default=10,
        metavar="S",
        help="seconds to finish after Ctrl-C, and from SIGTERM to SIGKILL; 10, without it",
    )
    work.add_argument(
        "--heartbeat",
        type=arguments.integer("--heartbeat", least=1, most=3600),
        default=10,
        metavar="S",
        help="seconds between signs of life, by which a lost lease is noticed; 10, without it",
    )
    work.add_argument(
        "--result",
        type=arguments.one_of("result", "last", "all"),
        default="last",
        metavar="last|all",
        help="answer with the last line of the output, or with all of it; last, without it",
    )
    work.add_argument("command", nargs="+", metavar="CMD", help="the program and its arguments, after --")
    # The checks open the database, and the machine this runs on need not have one.
    work.set_defaults(run=_work, skip_checks=True)


def _work(options: Namespace) -> str:
    # Imported here: the other commands start without httpx.
    from mailbox.management.worker.attempt import Work
    from mailbox.management.worker.client import Hub
    from mailbox.management.worker.worker import Worker

    key = options.key or os.environ.get(KEY_VARIABLE, "")
    if not (key.isascii() and key.isprintable() and key.strip()):
        raise CommandError(f"give the agent's API key in {KEY_VARIABLE} or by --key", returncode=WRONG_USAGE)
    if shutil.which(options.command[0]) is None:
        raise CommandError(f"there is no program {options.command[0]!r}", returncode=WRONG_USAGE)
    work = Work(
        command=options.command,
        environment=environment_without(key),
        result=options.result,
        heartbeat=options.heartbeat,
        grace=options.grace,
    )
    hub = Hub(options.url, key)
    worker = Worker(hub, options.name, work, concurrency=options.concurrency, max_tasks=options.max_tasks, say=_say)
    try:
        if failure := worker.run():
            raise CommandError(failure)
    finally:
        hub.close()
    return ""


def environment_without(key: str) -> dict[str, str]:
    """Return this process's environment as its user gave it, without the key and what Django and manage.py put in."""
    ours = {ENVIRONMENT_VARIABLE: settings.SETTINGS_MODULE, "TZ": settings.TIME_ZONE, "A2A_IS_COMMAND_LINE": "1"}
    kept = {name: value for name, value in os.environ.items() if ours.get(name) != value and key not in value}
    kept.pop(KEY_VARIABLE, None)
    return kept


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ArgumentTypeError("--url must be an http or https URL")
    return text


def _say(line: str) -> None:
    sys.stderr.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")
    sys.stderr.flush()
