from argparse import Namespace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import InterfaceError, OperationalError, ProgrammingError, connection

from mailbox.management.cli import access, agents, ask, backups, journal, operating, output, remote, results, tasks
from mailbox.words import errors
from mailbox.words.errors import MailboxError

GROUPS = (agents, access, tasks, results, operating, journal, backups, ask, remote)
INTERRUPTED = 130  # what a shell reports for a program stopped by Ctrl-C


class Command(BaseCommand):
    """The mailbox on the command line.

    Each module of `GROUPS` adds its commands. A command returns its output as text, so a refused command prints
    nothing on stdout. A refusal exits with 1 and prints its message on stderr. Wrong usage exits with 2.
    """

    help = "Manage agents, keys and grants; send, receive and repair tasks."
    requires_system_checks = ("a2a",)
    suppressed_base_arguments = {
        "--version",
        "--verbosity",
        "--settings",
        "--pythonpath",
        "--traceback",
        "--no-color",
        "--force-color",
    }

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
        for group in GROUPS:
            group.add_commands(commands)

    def run_from_argv(self, argv: list[str]) -> None:
        output.print_anything()
        super().run_from_argv(argv)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Refuse a missing database before the checks open it: opening an SQLite file creates it."""
        file = Path(settings.DATABASES["default"]["NAME"])
        if connection.vendor == "sqlite" and not options["skip_checks"] and not file.exists():
            where = "A2A_VAR and DATABASE_URL say where it is; `make serve` or `manage.py migrate` makes it"
            raise CommandError(f"there is no hub: no database at {file}. {where}.")
        return super().execute(*args, **options)

    def handle(self, **options: Any) -> str:
        try:
            printed: str = options["run"](Namespace(**options))
        except MailboxError as refusal:
            raise CommandError(output.printable(errors.text_for_program(refusal))) from refusal
        except (InterfaceError, OperationalError, ProgrammingError) as error:
            lacks_a_table = isinstance(error, ProgrammingError) or str(error).startswith(
                "no such"
            )  # the latter: SQLite
            hint = " `manage.py migrate` prepares it." if lacks_a_table else ""
            raise CommandError(f"the database cannot be used: {' '.join(str(error).split())}.{hint}") from error
        except KeyboardInterrupt as interrupt:
            raise CommandError("interrupted", returncode=INTERRUPTED) from interrupt
        return printed
