"""Threads of a web process pass their SQLite connections on."""

import sqlite3
from contextlib import closing

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from a2aproject.settings.database import SQLITE_OPTIONS, database
from a2aproject.settings.environment import Environment

pytestmark = [
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has a pool"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def kept(monkeypatch):
    """Return the connections that are kept open, with their files."""
    from mailbox.database.sqlite3.base import DatabaseWrapper

    found = type(DatabaseWrapper._kept)()
    monkeypatch.setattr(DatabaseWrapper, "_kept", found)
    yield found
    for _, one in found:
        one.close()


@pytest.fixture
def opened(tmp_path, kept):
    """Return a function that opens a connection of Django to one file. Up to two are kept."""
    from mailbox.database.sqlite3.base import DatabaseWrapper

    def make(file="hub.sqlite3"):
        own = {"NAME": str(tmp_path / file), "OPTIONS": SQLITE_OPTIONS | {"kept": 2}}
        wrapper = DatabaseWrapper({**connection.settings_dict, **own}, "own")
        wrapper.ensure_connection()
        return wrapper

    return make


def test_the_next_thread_gets_the_connection_with_its_settings(opened, kept):
    first = opened()
    identity = id(first.connection)

    first.close()

    assert [id(one) for _, one in kept] == [identity]
    second = opened()
    assert id(second.connection) == identity
    assert not kept
    with second.cursor() as cursor:
        found = [cursor.execute(f"PRAGMA {name}").fetchone() for name in ("synchronous", "foreign_keys")]
    assert found == [(2,), (1,)]
    assert second.get_autocommit()
    second.close()


def test_two_threads_never_share_a_connection(opened):
    for wrapper in [opened() for _ in range(3)]:
        wrapper.close()

    wrappers = [opened() for _ in range(3)]

    assert len({id(wrapper.connection) for wrapper in wrappers}) == 3
    for wrapper in wrappers:
        wrapper.close()


def test_no_more_connections_stay_open_than_the_settings_say(opened, kept):
    wrappers = [opened() for _ in range(3)]
    identities = [id(wrapper.connection) for wrapper in wrappers]

    for wrapper in wrappers:
        wrapper.close()

    assert [id(one) for _, one in kept] == identities[:2]


def test_a_connection_within_a_transaction_is_closed(opened, kept):
    wrapper = opened()
    wrapper._start_transaction_under_autocommit()

    wrapper.close()

    assert not kept


def test_a_connection_after_an_error_is_closed(opened, kept):
    wrapper = opened()
    with pytest.raises(OperationalError), wrapper.cursor() as cursor:
        cursor.execute("SELECT * FROM absent")

    wrapper.close()

    assert not kept


def test_a_connection_to_another_file_is_not_taken(opened, kept):
    here = opened()
    here.close()

    there = opened("other.sqlite3")

    assert not kept
    assert there.cursor().execute("PRAGMA database_list").fetchone()[2].endswith("other.sqlite3")
    there.close()


def test_unread_rows_of_one_thread_hide_no_change_from_the_next(opened):
    first = opened()
    with first.cursor() as cursor:
        cursor.execute("CREATE TABLE seen (id integer)")
        cursor.execute("INSERT INTO seen VALUES (1), (2)")
    unread = first.cursor()
    assert unread.execute("SELECT id FROM seen").fetchone() == (1,)

    first.close()
    with closing(sqlite3.connect(first.settings_dict["NAME"])) as other, other:
        other.execute("DELETE FROM seen")
    second = opened()
    with second.cursor() as cursor:
        assert cursor.execute("SELECT count(*) FROM seen").fetchone() == (0,)
    second.close()


def test_only_web_processes_keep_connections(monkeypatch, tmp_path):
    assert "kept" not in settings.DATABASES["default"]["OPTIONS"]

    monkeypatch.setenv("A2A_IS_WEB_PROCESS", "1")

    assert database(Environment(), tmp_path)["OPTIONS"]["kept"] > 0
