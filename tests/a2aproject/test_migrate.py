"""`manage.py migrate` has no time limit on PostgreSQL, where the hub's other statements have one."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.signals import pre_migrate


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no time limit of statements")
@pytest.mark.both_databases
@pytest.mark.django_db
def test_migrations_have_no_time_limit():
    before, during = limit(), []

    def note(**_: Any) -> None:
        during.append(limit())

    pre_migrate.connect(note, weak=False)
    try:
        call_command("migrate", verbosity=0)
    finally:
        pre_migrate.disconnect(note)

    assert before == "30s"
    assert set(during) == {"0"}
    assert limit() == before


def limit() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        return str(cursor.fetchone()[0])
