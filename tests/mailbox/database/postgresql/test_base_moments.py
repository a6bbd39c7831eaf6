"""Moments that PostgreSQL writes are read as Django reads them, only sooner."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.db import DataError, connection

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="the loader is PostgreSQL's"),
    pytest.mark.django_db,
]

MOMENTS = [
    datetime(2026, 11, 26, 14, 44, 46, 869274, tzinfo=UTC),
    datetime(2026, 11, 26, 14, 44, 46, 500000, tzinfo=UTC),
    datetime(2026, 11, 26, 14, 44, 46, 60, tzinfo=UTC),
    datetime(2026, 11, 26, tzinfo=UTC),
    datetime(1, 1, 2, tzinfo=UTC),
    datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2026, 7, 1, 2, tzinfo=timezone(timedelta(hours=2))),
]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kolkata"])
@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_a_moment_is_read_in_utc_in_every_zone_of_the_session(moment, zone):
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('TimeZone', %s, true)", [zone])
        cursor.execute("SELECT %s::timestamptz", [moment])
        ((found,),) = cursor.fetchall()

    assert (found, found.tzinfo) == (moment, UTC)


def test_no_moment_is_null():
    with connection.cursor() as cursor:
        cursor.execute("SELECT NULL::timestamptz")
        assert cursor.fetchall() == [(None,)]


@pytest.mark.parametrize("text", ["infinity", "10000-01-01 00:00+00", "0044-03-15 00:00+00 BC"])
def test_a_moment_that_python_does_not_know_is_an_error(text):
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::timestamptz", [text])
        with pytest.raises(DataError):
            cursor.fetchall()
