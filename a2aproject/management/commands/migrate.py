"""Django's `migrate`, without the time limit of the hub's statements."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import connections


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        if connection.vendor != "postgresql":
            super().handle(*args, **options)
            return
        with connection.cursor() as cursor:  # an index on a large table takes longer than a statement of the hub may
            cursor.execute("SET statement_timeout = 0")
        super().handle(*args, **options)
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout TO DEFAULT")
