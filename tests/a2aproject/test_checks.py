from contextlib import contextmanager

import pytest
from django.core.checks.registry import registry

from a2aproject import checks
from a2aproject.settings.database import SQLITE_OPTIONS


def sqlite(**changes):
    return {"ENGINE": "django.db.backends.sqlite3", "ATOMIC_REQUESTS": False, "OPTIONS": SQLITE_OPTIONS | changes}


def ids(errors):
    return [error.id for error in errors]


def test_the_hub_s_own_settings_pass_the_checks():
    assert [*checks.check_databases(), *checks.check_cluster(), *checks.check_body_limit()] == []


@pytest.mark.parametrize(
    "changes",
    [
        {"transaction_mode": None},
        {"transaction_mode": "DEFERRED"},
        {"init_command": ""},
        {"init_command": SQLITE_OPTIONS["init_command"].replace("WAL", "DELETE")},
        {"init_command": SQLITE_OPTIONS["init_command"].replace("FULL", "NORMAL")},
        {"init_command": SQLITE_OPTIONS["init_command"].replace("recursive_triggers=ON", "recursive_triggers=OFF")},
        {"init_command": f"{SQLITE_OPTIONS['init_command']} PRAGMA synchronous=OFF"},
    ],
)
def test_sqlite_options_that_could_lose_or_reorder_writes_are_reported(changes):
    (error,) = checks.database_errors("default", sqlite(**changes))

    assert error.id == "a2a.E001"
    assert "synchronous=FULL" in str(error.hint)


def test_other_spellings_of_the_pragmas_pass():
    init = "pragma journal_mode('wal'); PRAGMA synchronous = 2; PRAGMA recursive_triggers(1)"

    assert ids(checks.database_errors("default", sqlite(init_command=init))) == []


def test_a_short_timeout_of_sqlite_is_reported():
    assert ids(checks.database_errors("default", sqlite(timeout=5))) == ["a2a.E002"]


def test_other_databases_are_reported():
    assert ids(checks.database_errors("default", sqlite() | {"ENGINE": "django.db.backends.mysql"})) == ["a2a.E004"]


def test_atomic_requests_are_reported():
    assert ids(checks.database_errors("default", sqlite() | {"ATOMIC_REQUESTS": True})) == ["a2a.E005"]


@pytest.mark.parametrize("timeout", [None, 360, 400])
def test_a_cluster_timeout_that_is_not_below_retry_is_reported(settings, timeout):
    settings.Q_CLUSTER = settings.Q_CLUSTER | {"timeout": timeout, "retry": 360}

    assert ids(checks.check_cluster()) == ["a2a.E006"]


@pytest.mark.parametrize("limit", [0, -1, 8 * 1024 * 1024 + 1])
def test_a_body_limit_out_of_bounds_is_reported(settings, limit):
    settings.A2A_MAX_BODY_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE = limit

    assert ids(checks.check_body_limit()) == ["a2a.E007"]


def test_a_body_limit_that_differs_from_django_s_is_reported(settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000

    assert ids(checks.check_body_limit()) == ["a2a.E007"]


@pytest.fixture
def server(monkeypatch):
    """Return the settings of a PostgreSQL server, all on. The test may change them."""
    given = {
        "fsync": "on",
        "full_page_writes": "on",
        "synchronous_commit": "on",
        "lock_timeout": "10000",
        "jit": "off",
        "max_connections": "100",
        "superuser_reserved_connections": "3",
    }

    class Server:
        vendor = "postgresql"
        settings_dict = {"SESSION": {"synchronous_commit": "on", "lock_timeout": "10000", "jit": "off"}}

        @contextmanager
        def cursor(self):
            yield self

        def execute(self, sql, parameters=None):
            names = parameters[0] if parameters else ()
            self.found = [(name, given[name]) for name in sorted(names)] or [('"the hub"', "hub")]

        def fetchall(self):
            return self.found

        def fetchone(self):
            return self.found[0]

    monkeypatch.setattr(checks, "connections", {"default": Server()})
    return given


@pytest.mark.parametrize(("name", "identity"), [("fsync", "a2a.E008"), ("full_page_writes", "a2a.E009")])
def test_a_server_that_could_lose_writes_in_a_crash_is_reported(server, name, identity):
    assert checks.check_servers(databases=["default"]) == []
    server[name] = "off"

    (error,) = checks.check_servers(databases=["default"])

    assert (error.id, f"{name} off" in error.msg, f"Set {name} to on" in str(error.hint)) == (identity, True, True)
    assert checks.check_servers(databases=None) == []


@pytest.mark.parametrize(("value", "reported"), [("off", True), ("local", True), ("remote_apply", False)])
def test_sessions_that_could_lose_a_commit_are_reported_whatever_the_options_say(server, value, reported):
    server["synchronous_commit"] = value

    assert ids(checks.check_servers(databases=["default"])) == ["a2a.E003"] * reported


def test_a_pooler_that_drops_the_settings_is_reported(server):
    server |= {"lock_timeout": "0", "jit": "on"}

    (error,) = checks.check_servers(databases=["default"])

    assert error.id == "a2a.E010"
    assert "have lock_timeout=0, jit=on, unlike" in error.msg
    assert "DATABASE_POOLER=transaction" in str(error.hint)


def test_behind_a_pooler_the_statements_for_the_role_are_named(server, settings):
    settings.DATABASE_POOLED = True
    server |= {"synchronous_commit": "off", "jit": "on"}

    (error,) = checks.check_servers(databases=["default"])

    assert error.id == "a2a.E003"
    assert str(error.hint).splitlines()[1:] == [
        "ALTER ROLE \"the hub\" IN DATABASE hub SET synchronous_commit = 'on';",
        "ALTER ROLE \"the hub\" IN DATABASE hub SET jit = 'off';",
    ]


@pytest.mark.parametrize(("workers", "pool", "most"), [(9, 7, 100), (16, 2, 100), (32, 2, 147), (1, 79, 100)])
def test_a_server_with_connections_for_all_web_processes_passes(server, settings, workers, pool, most):
    settings.WEB_WORKERS, settings.DATABASE_POOL_SIZE = workers, pool
    server["max_connections"] = str(most)

    assert checks.check_servers(databases=["default"]) == []


@pytest.mark.parametrize(("workers", "pool", "most"), [(40, 2, 100), (2, 50, 100), (32, 2, 146), (1, 2, 10)])
def test_a_server_with_too_few_connections_is_a_warning_with_both_numbers(server, settings, workers, pool, most):
    settings.WEB_WORKERS, settings.DATABASE_POOL_SIZE = workers, pool
    server["max_connections"] = str(most)

    (warning,) = checks.check_servers(databases=["default"])

    assert (warning.id, warning.is_serious()) == ("a2a.W001", False)
    assert f"may open {workers * (pool + 2)} connections" in warning.msg
    assert f"has {max(0, most - 19)} for them, as its max_connections is {most}" in warning.msg
    assert "WEB_WORKERS or DATABASE_POOL_SIZE" in str(warning.hint)


def test_the_connections_behind_a_pooler_are_not_judged(server, settings):
    settings.WEB_WORKERS, settings.DATABASE_POOLED = 1000, True

    assert checks.check_servers(databases=["default"]) == []


@pytest.mark.django_db
def test_the_tests_own_database_passes_the_check_of_servers():
    assert checks.check_servers(databases=["default"]) == []


def test_the_checks_are_registered():
    own = {checks.check_databases, checks.check_cluster, checks.check_body_limit, checks.check_servers}

    assert own <= registry.registered_checks
