"""The short form of the proof: no acknowledged task or result is lost, delivered twice or to another sender."""

import pytest
from django.db import connection

from tools.proof import forms
from tools.proof.scenarios.behind_pgbouncer import BEHIND_PGBOUNCER
from tools.proof.short import short

pytestmark = pytest.mark.processes

SEED = 20261


@pytest.mark.django_db
def test_a_hub_under_faults_keeps_every_promise(tmp_path):
    parts = short(connection.vendor, tmp_path, SEED)

    assert [str(violation) for part in parts for violation in part.violations] == []
    assert sum(part.cuts for part in parts) > 50
    assert len(parts[-1].strikes) == len(forms.faults_for(connection.vendor, short=True))


@pytest.mark.one_database
def test_a_hub_behind_pgbouncer_keeps_every_promise(pgbouncer, tmp_path):
    parts = BEHIND_PGBOUNCER.run("postgresql", tmp_path / "hub", SEED)

    assert [str(violation) for part in parts for violation in part.violations] == []
    assert sum(part.cuts for part in parts) > 50
    assert {strike.name for strike in parts[-1].strikes} >= {"PgBouncer: killed", "PostgreSQL: all sessions terminated"}
