"""Prepared statements give and take the values of psycopg, and survive what happens to their connection."""

import uuid
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from mailbox.database import prepared
from tests.support.databases import url_of_the_tests_database
from tests.support.pauses import until

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL prepares statements"),
    pytest.mark.django_db(transaction=True),
]
ALL = """SELECT %(text)s::text, %(null)s::text, %(small)s + 0, %(large)s + 0, %(moment)s, %(span)s, %(id)s, %(yes)s,
       '100%%', %(text)s::text, '{"a":1}'::jsonb"""
VALUES = {
    "text": "it's ü %s",
    "null": None,
    "small": 1,
    "large": 2**40,
    "moment": datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    "span": timedelta(days=1, microseconds=7),
    "id": uuid.UUID(int=7),
    "yes": True,
    "unused": "a statement may have fewer parameters than values",
}


@pytest.fixture
def is_direct(monkeypatch):
    """Note whether `DirectCursor` ran a statement."""
    from mailbox.database.prepared_cursor import DirectCursor

    ran, execute = [], DirectCursor.execute

    def note(self, sql, values):
        ran.append(sql)
        return execute(self, sql, values)

    monkeypatch.setattr(DirectCursor, "execute", note)
    return ran


def test_both_cursors_return_equal_values(is_direct):
    alone = prepared.row(ALL, VALUES) or ()
    assert is_direct
    with transaction.atomic():
        within = prepared.row(ALL, VALUES) or ()

    assert alone == within != ()
    assert list(map(type, alone)) == list(map(type, within))
    assert len(is_direct) == 1


def test_a_statement_is_prepared_once_for_each_combination_of_types(is_direct):
    for number in (1, 2, 2**20, 3, 2**50, 4):
        assert prepared.row("SELECT %(number)s + 0", {"number": number}) == (number,)

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1 + 0'")
        assert cursor.fetchone() == (3,)


def test_a_statement_within_a_transaction_is_undone_with_it(alice):
    with transaction.atomic():
        prepared.rows("UPDATE mailbox_agent SET local = 'other' RETURNING id", {})
        transaction.set_rollback(True)

    assert prepared.row("SELECT local FROM mailbox_agent", {}) == ("alice",)


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("INSERT INTO mailbox_agent (id) VALUES (1) RETURNING id", IntegrityError),
        ("SELECT 'x'::text::integer", DataError),
    ],
)
def test_an_error_is_djangos_and_the_next_statement_runs(sql, error):
    with pytest.raises(error):
        prepared.row(sql, {})

    assert prepared.row("SELECT 1", {}) == (1,)


def test_a_statement_that_the_server_has_forgotten_is_prepared_again():
    assert prepared.row("SELECT 1", {}) == (1,)
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    assert prepared.row("SELECT 1", {}) == (1,)


def test_a_statement_whose_result_has_other_columns_since_a_migration_is_prepared_again():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE changed AS SELECT 1 AS first")
        assert prepared.row("SELECT * FROM changed", {}) == (1,)
        cursor.execute("ALTER TABLE changed ADD COLUMN second integer")

    assert prepared.row("SELECT * FROM changed", {}) == (1, None)
    assert prepared.row("SELECT * FROM changed", {}) == (1, None)
    connection.close()


def test_a_connection_that_the_server_ended_is_an_operational_error_and_unusable():
    ((backend,),) = prepared.rows("SELECT pg_backend_pid()", {})
    with psycopg.connect(url_of_the_tests_database(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [backend])

        until(lambda: not other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [backend]).fetchone())

    with pytest.raises(OperationalError):
        prepared.row("SELECT 1", {})
    assert connection.connection.closed
    connection.close()
    assert prepared.row("SELECT 1", {}) == (1,)


def test_a_captured_statement_counts():
    with CaptureQueriesContext(connection) as captured:
        assert prepared.row("SELECT %(number)s + 0", {"number": 7}) == (7,)

    assert len(captured) == 1
