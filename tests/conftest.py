from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.contrib.auth import hashers
from django.db import OperationalError, connection
from xdist.remote import Producer

from mailbox.verbs.hot import plain
from tests.support.hub import Hub, served, url_of_the_tests_database
from tests.support.scheduling import SharedHubScheduling

JOURNAL = "mailbox_auditevent"
SEEDED_BY_MIGRATIONS = {"auth_group"}

# What starts hubs, processes or a browser: `make check` leaves it to `make test`.
SLOW = (
    "tests/a2aproject/serving/",
    "tests/dashboard/browser/",
    "tests/load/",
    "tests/mailbox/background/test_remote_sender_process.py",
    "tests/mailbox/dialects/corvid/test_conversation.py",
    "tests/mailbox/dialects/yeoman/test_served.py",
    "tests/mailbox/management/worker/",
    "tests/test_demo.py",
    "tests/test_readme.py::test_the_tour",
    "tests/test_restarts.py",
)

hypothesis.settings.register_profile("usual", max_examples=25, stateful_step_count=20, deadline=None)
hypothesis.settings.register_profile("soak", max_examples=500, stateful_step_count=50, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "usual")


def pytest_addoption(parser: pytest.Parser) -> None:
    help_text = "also run on PostgreSQL what proves the same on either database"
    parser.addoption("--every-test", action="store_true", help=help_text)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, None, None]:
    """Leave out on PostgreSQL the tests of ``one_database``. Mark slow tests and begin with them."""
    if connection.vendor == "postgresql" and not config.getoption("every_test"):
        left_out = [item for item in items if item.get_closest_marker("one_database")]
        items[:] = [item for item in items if not item.get_closest_marker("one_database")]
        config.hook.pytest_deselected(items=left_out)
    for item in items:
        if "browse" in getattr(item, "fixturenames", ()) or item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    yield
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)  # so that no process ends long after another


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SharedHubScheduling:
    """Keep tests that share a served hub in one process."""
    return SharedHubScheduling(config, log)


@pytest.fixture(scope="session")
def served_hub(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> Iterator[Hub]:
    """Serve the tests' database to all tests that leave the hub whole. They commit, so that the hub sees their rows."""
    var = tmp_path_factory.mktemp("served")
    with served(var, "--only", "web", "--no-migrate", database_url=url_of_the_tests_database()) as hub:
        yield hub


@pytest.fixture(scope="session", autouse=True)
def _flush_empties_the_journal() -> Iterator[None]:
    """Let tests that commit empty the tables after them, the append-only journal too, and keep the roles."""
    operations = type(connection.ops)
    sql_flush = operations.sql_flush

    def sql_flush_with_journal(self: Any, style: Any, tables: list[str], **options: Any) -> list[str]:
        emptied = [table for table in tables if table not in SEEDED_BY_MIGRATIONS]
        unprotect, protect = _journal_protection() if JOURNAL in emptied else ([], [])
        return [*unprotect, *sql_flush(self, style, emptied, **options), *protect]

    execute_sql_flush = operations.execute_sql_flush

    def execute_beside_others(self: Any, sql_list: list[str]) -> None:
        """A hub that is served may still read for a request whose client is gone; then one of the two is told to retry."""
        for _ in range(4):
            with suppress(OperationalError):
                return execute_sql_flush(self, sql_list)
        return execute_sql_flush(self, sql_list)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "sql_flush", sql_flush_with_journal)
        patch.setattr(operations, "execute_sql_flush", execute_beside_others)
        yield


@pytest.fixture(scope="session", autouse=True)
def _the_tests_database_is_dropped_at_once() -> Iterator[None]:
    """Drop it although a backend of PostgreSQL still ends: it does a moment after its client closed the connection."""

    def drop(self: Any, test_database_name: str, verbosity: int) -> None:
        with self._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE {connection.ops.quote_name(test_database_name)} WITH (FORCE)")

    with pytest.MonkeyPatch.context() as patch:
        if connection.vendor == "postgresql":
            patch.setattr(type(connection.creation), "_destroy_test_db", drop)
        yield


@pytest.fixture(scope="session", autouse=True)
def _the_test_s_own_transaction_does_not_count() -> Iterator[None]:
    """Let the hot verbs take their fast form in a test that is rolled back, as they do where no transaction is open.

    A constraint that stops a statement on PostgreSQL spoils the test's transaction: such a test needs
    `django_db(transaction=True)`.
    """

    answer = plain.is_outermost

    def is_outermost() -> bool:
        of_the_test = [getattr(block, "_from_testcase", False) for block in connection.atomic_blocks]
        return all(of_the_test) if any(of_the_test) else answer()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "is_outermost", is_outermost)
        yield


@pytest.fixture(scope="session", autouse=True)
def _passwords_are_hashed_in_a_moment() -> Iterator[None]:
    """Hash new passwords with MD5, which is quick; hashes that a served hub stored can still be checked."""
    quick = "django.contrib.auth.hashers.MD5PasswordHasher"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "PASSWORD_HASHERS", [quick, *settings.PASSWORD_HASHERS])
        hashers.reset_hashers(setting="PASSWORD_HASHERS")
        yield


def _journal_protection() -> tuple[list[str], list[str]]:
    """Return the statements that lift the journal's triggers, and those that put them back."""
    if connection.vendor == "postgresql":
        return [f"ALTER TABLE {JOURNAL} DISABLE TRIGGER USER"], [f"ALTER TABLE {JOURNAL} ENABLE TRIGGER USER"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [JOURNAL])
        triggers = cursor.fetchall()
    return [f"DROP TRIGGER {name}" for name, _ in triggers], [sql for _, sql in triggers]
