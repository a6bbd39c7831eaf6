"""The pool gives out live connections, and asks the server only where it must."""

import select
from contextlib import nullcontext
from typing import Any

import psycopg
import pytest
from django.db import InternalError, OperationalError, connection
from psycopg_pool import ConnectionPool

from tests.support.databases import url_of_the_tests_database
from tests.support.pauses import until

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has a pool"),
    pytest.mark.django_db,
]


@pytest.fixture
def pool():
    from mailbox.database.postgresql.base import Pool

    with Pool(conninfo=url_of_the_tests_database(), kwargs={"autocommit": True}, min_size=1, max_size=1) as made:
        yield made


@pytest.fixture
def checked(monkeypatch):
    """Return a list of the connections that the pool checked."""
    asked, ask = [], ConnectionPool.check_connection

    def note(one):
        asked.append(one)
        ask(one)

    monkeypatch.setattr(ConnectionPool, "check_connection", staticmethod(note))
    return asked


def backend(pool):
    with pool.connection() as one:
        return one.execute("SELECT pg_backend_pid()").fetchone()[0]


def test_a_connection_that_was_just_used_is_given_out_unasked(pool, checked):
    first = backend(pool)
    del checked[:]

    assert backend(pool) == first
    assert checked == []


def test_a_new_connection_and_an_idle_one_are_asked(pool, checked, monkeypatch):
    backend(pool)
    assert len(checked) == 1

    monkeypatch.setattr("mailbox.database.postgresql.base.TRUSTED_FOR", 0.0)
    backend(pool)
    assert len(checked) == 2


def test_a_connection_that_the_server_ended_is_replaced_before_anyone_uses_it(pool):
    first = backend(pool)
    with psycopg.connect(url_of_the_tests_database(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [first])
        until(lambda: not other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", [first]).fetchone())

    assert backend(pool) != first


def test_a_late_notice_of_the_server_costs_one_question_and_no_connection(pool, checked):
    with pool.connection() as one:
        one.execute("LISTEN something")
        first = one.execute("SELECT pg_backend_pid()").fetchone()[0]
    del checked[:]
    with psycopg.connect(url_of_the_tests_database(), autocommit=True) as other:
        other.execute("NOTIFY something")

    until(lambda: select.select([one.fileno()], [], [], 0)[0])
    assert backend(pool) == first
    assert len(checked) == 1


@pytest.mark.parametrize(("value", "refused"), [("off", True), ("remote_apply", False)])
def test_no_connection_of_the_pool_could_lose_a_commit(value, refused):
    own: Any = connection.copy()
    with psycopg.connect(url_of_the_tests_database(), autocommit=True) as session:
        session.execute(f"SET synchronous_commit = {value}")
        with pytest.raises(OperationalError, match="is off in a session") if refused else nullcontext():
            own._configure(session)


@pytest.mark.parametrize(("ends", "raised"), [(True, OperationalError), (False, InternalError)])
def test_an_error_of_psycopg_itself_is_an_outage_if_the_connection_has_ended(ends, raised):
    """PgBouncer passes on the server's last words and adds its own: two results of one command."""
    own = connection.copy()
    own.connect()
    try:
        if ends:
            own.connection.close()
        with pytest.raises(raised, match="received 2 results"), own.wrap_database_errors:
            raise psycopg.InternalError("received 2 results from command 'BEGIN'")
    finally:
        own.close()
