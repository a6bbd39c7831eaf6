"""Hubs on one PostgreSQL migrate one after the other."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace

import psycopg
import pytest
from django.db import connection

from a2aproject.management.commands import serve
from tests.support.databases import url_of_the_tests_database

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite serves one hub"),
    pytest.mark.both_databases,
    pytest.mark.django_db(transaction=True),
]


def test_a_hub_that_waits_for_its_turn_delays_no_index_of_the_hub_that_migrates(monkeypatch):
    has_locked, refused, is_free = serve._has_locked, Event(), Event()

    def locked(own):
        got = has_locked(own)
        if not got:
            refused.set()
        return got

    def wait_for_turn():
        try:
            with serve._setup_lock(print):
                pass
        finally:
            connection.close()

    monkeypatch.setattr(serve, "_has_locked", locked)
    monkeypatch.setattr(serve, "time", SimpleNamespace(sleep=lambda _: is_free.wait()))
    with ThreadPoolExecutor(1) as threads, psycopg.connect(url_of_the_tests_database(), autocommit=True) as first:
        first.execute("SELECT pg_advisory_lock(%s)", [serve.MIGRATION_LOCK])
        turn = threads.submit(wait_for_turn)
        refused.wait()
        try:
            first.execute("CREATE INDEX CONCURRENTLY of_a_migration ON mailbox_agent (local)")
            assert not turn.done()
        finally:
            first.execute("DROP INDEX IF EXISTS of_a_migration")
            first.execute("SELECT pg_advisory_unlock(%s)", [serve.MIGRATION_LOCK])
            is_free.set()
        turn.result()


def test_the_lock_ends_with_its_transaction_and_no_session_keeps_it():
    with serve._setup_lock(print), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [serve.MIGRATION_LOCK])
        assert cursor.fetchone() == (False,)
        cursor.execute(
            "SELECT xact_start IS NOT NULL FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE objid = %s",
            [serve.MIGRATION_LOCK],
        )
        assert cursor.fetchall() == [(True,)]

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s", [serve.MIGRATION_LOCK]
        )
        assert cursor.fetchone() == (0,)


def test_a_hub_that_waits_for_two_seconds_reports_it_once(monkeypatch):
    waited: list[int] = []
    printed: list[str] = []
    monkeypatch.setattr(serve, "_has_locked", lambda _: len(waited) == 9)
    monkeypatch.setattr(serve, "time", SimpleNamespace(sleep=lambda _: waited.append(len(printed))))

    with serve._setup_lock(printed.append):
        pass

    assert waited == [0] * 4 + [1] * 5
    assert "Another hub sets up the database" in printed[0]
