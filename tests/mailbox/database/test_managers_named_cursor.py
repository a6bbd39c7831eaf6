"""The cursor for frequent statements on SQLite reads and writes as Django's own."""

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from mailbox.database import managers

pytestmark = [
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has prepared statements instead"),
    pytest.mark.django_db,
]
SQL = "SELECT %(text)s, %(number)s + 0, %(none)s, '100%%', %(text)s || '%%(text)s'"
VALUES: dict[str, str | int | None] = {"text": "it's %s", "number": 7, "none": None, "unused": 1}


def test_both_cursors_return_equal_values():
    with connection.cursor() as usual:
        wanted = usual.execute(SQL, VALUES).fetchall()

    with managers.open_named() as cursor:
        assert cursor.execute(SQL, VALUES).fetchall() == wanted == [("it's %s", 7, None, "100%", "it's %s%(text)s")]


def test_an_error_is_djangos():
    with managers.open_named() as cursor, pytest.raises(IntegrityError):
        cursor.execute("INSERT INTO mailbox_agent (id) VALUES (%(id)s)", {"id": 1})


def test_a_captured_statement_is_logged():
    with CaptureQueriesContext(connection) as captured, managers.open_named() as cursor:
        cursor.execute("SELECT %(number)s", {"number": 7})

    assert len(captured) == 1
