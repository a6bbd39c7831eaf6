from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import InterfaceError, OperationalError, ProgrammingError, connection

from mailbox.management.cli import (
    agents,
    grants,
    keys,
    output,
    profile,
    remote,
    repair,
    results,
    routes,
    status,
    tasks,
    tools,
    upkeep,
    work,
)
from mailbox.words import advice
from mailbox.words.errors import MailboxError

GROUPS = (agents, profile, tools, keys, grants, routes, tasks, results, status, repair, upkeep, work, remote)
INTERRUPTED = 130  # what a shell reports for a program stopped by Ctrl-C


class Command(BaseCommand):
    """The mailbox on the command line.

    Each module of `GROUPS` adds its commands; a command returns what to print, so that a refused one prints
    nothing on stdout. A refusal is exit code 1 with the message on stderr, wrong usage is 2.
    """

    help = "Work with the mailbox: agents, keys, capabilities, tasks, results, repair, programs as agents."
    requires_system_checks = ("a2a",)

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
        for group in GROUPS:
            group.add_commands(commands)

    def run_from_argv(self, argv: list[str]) -> None:
        output.print_anything()
        super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Refuse a database that is not there before the checks open it, which would make it."""
        file = Path(settings.DATABASES["default"]["NAME"])
        if connection.vendor == "sqlite" and not options["skip_checks"] and not file.exists():
            where = "A2A_VAR and DATABASE_URL say where it is; `make serve` or `manage.py migrate` makes it"
            raise CommandError(f"there is no hub: no database at {file}. {where}.")
        return super().execute(*args, **options)

    def handle(self, **options: Any) -> str:
        try:
            printed: str = options["run"](Namespace(**options))
        except MailboxError as refusal:
            raise CommandError(output.printable(advice.to_program(refusal))) from refusal
        except (InterfaceError, OperationalError, ProgrammingError) as error:
            raise CommandError(f"the database cannot be used: {error}. `manage.py migrate` prepares it.") from error
        except KeyboardInterrupt as interrupt:
            raise CommandError("interrupted", returncode=INTERRUPTED) from interrupt
        return printed
