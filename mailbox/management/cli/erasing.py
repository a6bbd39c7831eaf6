"""``erase``."""

from __future__ import annotations

from argparse import Namespace

from django.core.management import CommandError

from agentcards import secrets
from mailbox.access.callers import Caller
from mailbox.database import old_bytes
from mailbox.management.cli import arguments, output
from mailbox.upkeep import erasure

HELD = "A long read keeps the old bytes in SQLite's write-ahead log. Run the command again when it has ended."


def add_commands(commands: arguments.Commands) -> None:
    erase = commands.add_parser(
        "erase",
        help="blank the payload of a finished task, or of all tasks of an agent; only hashes stay",
        description="Names stay, and so do backups. A task that has not finished is refused.",
    )
    subject = erase.add_mutually_exclusive_group(required=True)
    subject.add_argument("--task", type=arguments.uuid("--task"), metavar="ID", help="the task")
    subject.add_argument("--agent", metavar="NAME", help="the agent that sent or received the tasks")
    erase.add_argument("--reason", required=True, metavar="TEXT", help="why; the journal records it")
    arguments.add_json(erase)
    erase.set_defaults(run=_erase)


def _erase(options: Namespace) -> str:
    caller = Caller.command_line()
    if options.task is not None:
        erased = dict(erasure.erase_task(caller, options.task, reason=options.reason))
    else:
        agent = arguments.agent(options.agent)
        erased = dict(erasure.erase_agent(caller, agent, reason=options.reason))
        erased |= secrets.erase_cards(caller, agent, reason=options.reason)
    if not old_bytes.forget():
        raise CommandError(f"The payload is blank. {HELD}")
    if options.json:
        return output.as_json({"kind": "a2a_erasure", "erased": erased})
    counts = [f"{count} {name}" for name, count in erased.items() if count]
    return f"erased {', '.join(counts)}" if counts else "nothing was left to erase"
