"""DATABASE_URL of PostgreSQL, through the settings and Django, to psycopg and its pool."""

import os
import re

import pytest
from django.db.utils import ConnectionHandler

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.database import database
from a2aproject.settings.environment import Environment
from tests.support import pages
from tests.support.databases import url_of_the_tests_database

GUARDS = {
    "connect_timeout": 3,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
IS_POSTGRESQL = os.environ.get("DATABASE_URL", "").startswith("postgres")


@pytest.fixture
def connected(monkeypatch, tmp_path):
    """Return a function that returns Django's connection for a DATABASE_URL."""

    def connected(url, **environment):
        for name, value in {"DATABASE_URL": url, **environment}.items():
            monkeypatch.setenv(name, value)
        return ConnectionHandler({"default": database(Environment(), tmp_path)})["default"]

    return connected


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("hosts", "host", "port"),
    [
        ("h1,h2:5433", "h1,h2", ",5433"),
        ("h1:5432,h2:5433", "h1,h2", "5432,5433"),
        ("h1,h2", "h1,h2", ","),
        ("h1:6000,[::1]", "h1,::1", "6000,"),
        ("h1:6000", "h1", 6000),
    ],
)
def test_several_hosts_reach_psycopg_each_with_its_port(connected, hosts, host, port):
    given = connected(f"postgresql://u:p%40@{hosts}/db?target_session_attrs=read-write").get_connection_params()

    assert (given["host"], given.get("port")) == (host, port)
    assert (given["user"], given["password"], given["dbname"]) == ("u", "p@", "db")
    assert given["target_session_attrs"] == "read-write"


@pytest.mark.one_database
@pytest.mark.parametrize("hosts", ["db1,db2", "10.77.0.11,10.77.0.12"])
def test_the_urls_of_the_page_about_standbys_reach_psycopg(connected, hosts):
    urls = re.findall(r"^DATABASE_URL=(.*)$", pages.page("docs/operate/postgresql.md"), re.MULTILINE)
    (url,) = [each for each in urls if f"@{hosts}/" in each]
    given = connected(url).get_connection_params()

    assert (given["host"], given["dbname"]) == (hosts, "hub")
    assert given["target_session_attrs"] == "read-write"
    assert {name: int(given[name]) for name in GUARDS} == GUARDS


@pytest.mark.one_database
def test_hosts_that_cannot_be_read_are_refused_without_the_password(connected):
    with pytest.raises(UnusableSettingError, match="DATABASE_URL must be") as refused:
        connected("postgresql://u:secret@[h1,h2/db")

    assert "secret" not in str(refused.value)


@pytest.mark.one_database
@pytest.mark.parametrize("hosts", ["h1", "h1,h2", "%2Frun%2Fpostgresql,h2", "[::1]:5432"])
def test_a_connection_to_another_machine_does_not_wait_for_ever(connected, hosts):
    given = connected(f"postgresql://u@{hosts}/db").get_connection_params()

    assert {name: given[name] for name in GUARDS} == GUARDS


@pytest.mark.one_database
def test_a_url_overrides_the_guards(connected):
    given = connected("postgresql://u@h1/db?connect_timeout=9&tcp_user_timeout=5").get_connection_params()

    assert (given["connect_timeout"], given["tcp_user_timeout"], given["keepalives_idle"]) == (9, 5, 10)


@pytest.mark.one_database
@pytest.mark.parametrize("url", ["postgresql:///db", "postgresql://u@%2Frun%2Fpostgresql/db"])
def test_a_socket_of_this_machine_needs_no_guards(connected, url):
    assert connected(url).get_connection_params().keys().isdisjoint(GUARDS)


@pytest.mark.one_database
def test_the_pool_tries_again_soon_after_a_long_outage(connected):
    pool = connected("postgresql://u@h1/db", A2A_IS_WEB_PROCESS="1").pool

    assert (pool.reconnect_timeout, pool.timeout) == (5, 3)


@pytest.mark.one_database
@pytest.mark.parametrize("process", [{}, {"A2A_IS_WEB_PROCESS": "1"}])
def test_behind_a_pooler_nothing_outlasts_a_transaction(connected, process):
    own = connected("postgresql://hub@h1/hub", DATABASE_POOLER="transaction", **process)
    given = own.get_connection_params()

    assert "options" not in given
    assert given["prepare_threshold"] is None
    assert own.settings_dict["DISABLE_SERVER_SIDE_CURSORS"]


@pytest.mark.one_database
def test_the_page_about_poolers_sets_for_the_role_what_the_hub_compares(connected):
    own = connected("postgresql://hub@h1/hub", DATABASE_POOLER="transaction")
    page = pages.page("docs/operate/pgbouncer.md")
    set_by_page = dict(re.findall(r'^ALTER ROLE hub IN DATABASE hub SET "?(\w+)"? = \'(.*)\';$', page, re.MULTILINE))

    assert set_by_page == own.settings_dict["SESSION"]


@pytest.mark.one_database
def test_settings_that_the_url_overrides_are_not_compared(connected):
    own = connected("postgresql://hub@h1/hub?options=-c%20lock_timeout%3D5s%20--jit%3Don")

    assert own.settings_dict["SESSION"].keys().isdisjoint({"lock_timeout", "jit"})
    assert own.settings_dict["SESSION"]["statement_timeout"] == "30000"


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("url", "environment", "message"),
    [
        ("sqlite:///hub.sqlite3", {"DATABASE_POOLER": "transaction"}, "DATABASE_URL names a SQLite file"),
        ("postgresql://hub@h1/hub", {"DATABASE_POOLER": "session"}, "must be one of NONE, TRANSACTION"),
        ("postgresql://h1/hub?options=-cjit%3Don", {"DATABASE_POOLER": "transaction"}, "set them for the role"),
        ("postgresql://hub@h1/hub", {"DATABASE_PREPARE": "false"}, "set DATABASE_POOLER=transaction instead"),
    ],
)
def test_what_a_pooler_cannot_carry_is_refused(connected, url, environment, message):
    with pytest.raises(UnusableSettingError, match=message):
        connected(url, **environment)


@pytest.mark.skipif(not IS_POSTGRESQL, reason="connects to PostgreSQL")
@pytest.mark.django_db
def test_a_server_is_reached_although_the_first_host_has_none(connected, tmp_path):
    url = url_of_the_tests_database()
    several = url.replace("@", "@%2Fnowhere,", 1)

    own = connected(f"{several}?target_session_attrs=read-write")
    with own.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        (answer,) = cursor.fetchone()
    own.close()

    assert answer == "off"
