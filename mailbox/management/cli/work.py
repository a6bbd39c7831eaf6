"""``work``. Source: corvid-agent, sessions and process manager."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import ENVIRONMENT_VARIABLE, settings
from django.core.management.base import CommandError

from mailbox.management.cli import arguments
from mailbox.words import ed25519, redaction

KEY_VARIABLE = "A2A_API_KEY"
MOST_AT_ONCE, MOST_IN_A_BATCH = 256, 100
LONGEST_GRACE = 86_400
WRONG_USAGE = 2

DESCRIPTION = """
Leases the tasks of an agent over HTTP, with the agent's key, and runs CMD once per task. CMD reads the task's text on
stdin, then each later message of its sender. A2A_TASK holds the task as JSON. A2A_TASK_ID, A2A_LEASE_ID, A2A_ATTEMPT
and A2A_TURN hold its ids, attempt and turn. A2A_CONVERSATION is the path of a file with its messages as JSON lines.
Each line on stdout becomes a message. If CMD exits with 0, its last line is the result. Otherwise the result is an
error with the end of stderr. With --protocol lines CMD may write control lines, which ask the sender, send artifacts or
refuse the task. Each has the token in A2A_CONTROL, a space and JSON; docs/workers.md describes the JSON. CMD and all
processes it started are stopped by the task's work timeout, by the end of the lease and by Ctrl-C. The command needs no
database. It exits with 0 if it holds no lease any more.
"""


def add_commands(commands: arguments.Commands) -> None:
    work = commands.add_parser(
        "work", help="run a program once per task of an agent, over HTTP", description=DESCRIPTION
    )
    work.add_argument("name", metavar="NAME", help="the agent that owns the key")
    work.add_argument(
        "--url", type=_url, default=settings.PUBLIC_URL, metavar="URL", help="the hub (default: %(default)s)"
    )
    keys = work.add_mutually_exclusive_group()
    keys.add_argument(
        "--key-file", type=Path, metavar="FILE", help="the file of the agent's API key, read again when it changes"
    )
    keys.add_argument(
        "--sign", type=Path, metavar="FILE", help="sign requests with the private key in FILE, instead of an API key"
    )
    keys.add_argument(
        "--key",
        type=arguments.secret("--key"),
        metavar="-",
        help=f"read the agent's API key from stdin (default: from {KEY_VARIABLE})",
    )
    work.add_argument(
        "--concurrency",
        type=arguments.integer("--concurrency", least=1, most=MOST_AT_ONCE),
        metavar="N",
        help="run at most N programs at once (default: 1, with --batch the number of processors)",
    )
    work.add_argument(
        "--batch",
        type=arguments.integer("--batch", least=1, most=MOST_IN_A_BATCH),
        metavar="N",
        help="lease up to N tasks in one request, which also posts the results of the last tasks",
    )
    much = work.add_mutually_exclusive_group()
    much.add_argument(
        "--max-tasks", type=arguments.integer("--max-tasks", least=1), metavar="N", help="exit after N tasks"
    )
    much.add_argument("--once", action="store_const", const=1, dest="max_tasks", help="exit after one task")
    work.add_argument(
        "--grace",
        type=arguments.integer("--grace", most=LONGEST_GRACE),
        default=10,
        metavar="S",
        help="seconds to finish after Ctrl-C, and from SIGTERM to SIGKILL (default: %(default)s)",
    )
    work.add_argument(
        "--heartbeat",
        type=arguments.integer("--heartbeat", least=1, most=3600),
        default=10,
        metavar="S",
        help="seconds between heartbeats, which also notice a lost lease (default: %(default)s)",
    )
    work.add_argument(
        "--result",
        type=arguments.one_of("result", "last", "all"),
        default="last",
        metavar="last|all",
        help="post the last line of the output or all of it (default: %(default)s)",
    )
    work.add_argument(
        "--messages",
        type=arguments.one_of("messages", "all", "none"),
        default="all",
        metavar="all|none",
        help="none: post no line as a message, which saves a request per task (default: %(default)s)",
    )
    work.add_argument(
        "--protocol",
        type=arguments.one_of("protocol", "plain", "lines"),
        default="plain",
        metavar="plain|lines",
        help="lines: CMD may write control lines, to ask, send artifacts and refuse (default: %(default)s)",
    )
    work.add_argument(
        "--resume",
        type=arguments.one_of("resume", "all", "idempotent", "none"),
        default="all",
        metavar="all|idempotent|none",
        help="which leases of a crashed worker to take over, after 3 heartbeats of silence (default: %(default)s)",
    )
    work.add_argument("command", nargs="+", metavar="CMD", help="the program and its arguments, after --")
    # The checks open the database, which the machine of a worker need not have.
    work.set_defaults(run=_work, skip_checks=True)


def _work(options: Namespace) -> str:
    # Imported here, so that the other commands start without httpx.
    from a2a_hub_client import Hub
    from a2a_hub_client.worker.batches import BatchingClient
    from a2a_hub_client.worker.client import WorkerClient
    from a2a_hub_client.worker.programs import Programs, ProgramSettings
    from a2a_hub_client.worker.worker import Worker

    source = _key_source(options) if options.sign is None else private_key(options.sign, "--sign")
    if shutil.which(options.command[0]) is None:
        raise CommandError(f"there is no program {options.command[0]!r}", returncode=WRONG_USAGE)
    work = ProgramSettings(
        command=options.command,
        environment=environment_without(source() if callable(source) else ed25519.seed_of(source)),
        result=options.result,
        messages=options.messages,
        protocol=options.protocol,
        heartbeat=options.heartbeat,
        grace=options.grace,
    )
    hub = Hub(options.url, source) if callable(source) else Hub(options.url, signing_key=source)
    worker = Worker(
        (WorkerClient if options.batch is None else BatchingClient)(hub),
        options.name,
        Programs(work),
        concurrency=_concurrency(options),
        batch=options.batch,
        max_tasks=options.max_tasks,
        resume=options.resume,
        say=_say,
    )
    try:
        if failure := worker.run():
            raise CommandError(failure, returncode=WRONG_USAGE if worker.is_wrong_usage else 1)
    finally:
        hub.close()
    return ""


def _concurrency(options: Namespace) -> int:
    """Return how many programs run at once: never more than the tasks of a batch."""
    batch: int | None = options.batch
    wanted: int | None = options.concurrency
    if batch is None:
        return wanted or 1
    return min(batch, wanted or os.cpu_count() or 1)


def private_key(path: Path, option: str) -> Ed25519PrivateKey:
    """Return the private key in a file. Raise `CommandError` without a usable key."""
    try:
        return ed25519.private_key(path.read_text("ascii"))
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        problem = error.strerror if isinstance(error, OSError) else "it has no Ed25519 private key"
        raise CommandError(f"{option} {path}: {problem}", returncode=WRONG_USAGE) from error


def _key_source(options: Namespace) -> Callable[[], str]:
    """Return the function that returns the agent's API key. Raise `CommandError` if there is no key."""
    from a2a_hub_client.credentials import KeyFile, is_sendable

    if options.key_file is not None:
        try:
            return KeyFile(options.key_file)
        except (OSError, ValueError) as error:
            problem = error.strerror if isinstance(error, OSError) else "it has no key"
            raise CommandError(f"--key-file {options.key_file}: {problem}", returncode=WRONG_USAGE) from error
    key = options.key or os.environ.get(KEY_VARIABLE, "")
    if not is_sendable(key):
        raise CommandError(f"give the agent's API key in {KEY_VARIABLE} or by --key-file", returncode=WRONG_USAGE)
    return lambda: key


def environment_without(key: str) -> dict[str, str]:
    """Return the environment without each variable that contains the key.

    Variables with the values that Django and manage.py set are left out, too.
    """
    ours = {ENVIRONMENT_VARIABLE: settings.SETTINGS_MODULE, "TZ": settings.TIME_ZONE, "A2A_IS_COMMAND_LINE": "1"}
    kept = {name: value for name, value in os.environ.items() if ours.get(name) != value and key not in value}
    kept.pop(KEY_VARIABLE, None)
    return kept


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ArgumentTypeError("--url must be an http or https URL")
    if redaction.has_credentials(text):
        raise ArgumentTypeError(f"--url has credentials, which process lists show; give the key in {KEY_VARIABLE}")
    return text


def _say(line: str) -> None:
    sys.stderr.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")
    sys.stderr.flush()
