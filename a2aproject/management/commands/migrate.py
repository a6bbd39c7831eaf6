"""Django's `migrate` for the hub: without the time limit of its statements, with progress, for no database too old."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.checks import Tags
from django.core.management import CommandError
from django.core.management.base import CommandParser, OutputWrapper
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.models.signals import pre_migrate

from mailbox.checks import SERVING
from mailbox.database import migration_history
from mailbox.management.cli.progress import ERASE_LINE

TOO_OLD = (
    f"The database is of a version before {migration_history.OLDEST}. Migrate it by version {migration_history.OLDEST}"
    " first, then by this version."
)


class Command(migrate.Command):
    requires_system_checks = ("a2a", SERVING, Tags.database)  # the checks of code would load every page
    _line: ProgressLine | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--progress", action="store_true", help="tell how far it is, also with --verbosity 0")

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        loader = MigrationLoader(connection)
        if migration_history.precedes_oldest(loader, loader.applied_migrations):
            raise CommandError(TOO_OLD)
        with self._telling(options), _without_time_limit(connection):
            super().handle(*args, **options)

    def migration_progress_callback(self, action: str, migration: Any = None, fake: bool = False) -> None:
        if self._line is None:
            super().migration_progress_callback(action, migration, fake)
        elif action in ("apply_start", "unapply_start"):
            self._line.step(str(migration))

    @contextmanager
    def _telling(self, options: dict[str, Any]) -> Iterator[None]:
        """Show the progress of the block, unless Django reports each migration with its seconds, or nothing at all."""
        if options["verbosity"] != 1 and not options["progress"]:
            yield
            return
        self._line = ProgressLine(self.stdout)
        pre_migrate.connect(self._line.begin)
        try:
            yield
        finally:
            pre_migrate.disconnect(self._line.begin)
            self._line.end()


class ProgressLine:
    """Tells which migration is applied and how many are left: in one line of a terminal, or in a line for each."""

    def __init__(self, out: OutputWrapper) -> None:
        self._out, self._total, self._begun = out, 0, 0

    def begin(self, *, plan: Sequence[object], **_: Any) -> None:
        self._total = len(plan)

    def step(self, name: str) -> None:
        self._begun += 1
        text = f"migrating {self._begun} of {self._total}: {name}"
        if not self._out.isatty():
            self._out.write(text)
        else:
            self._out.write(f"{ERASE_LINE}{text[: shutil.get_terminal_size().columns - 1]}", ending="")
        self._out.flush()

    def end(self) -> None:
        if self._begun and self._out.isatty():
            self._out.write("")


@contextmanager
def _without_time_limit(connection: Any) -> Iterator[None]:
    """Let the statements of the block, and their locks, take as long as an index on a large table does.

    Behind a pooler the limits of the role hold.
    """
    if connection.vendor != "postgresql" or settings.DATABASE_POOLED:  # a pooler's session would keep the setting
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET lock_timeout = 0")
    yield
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout TO DEFAULT; SET lock_timeout TO DEFAULT")
