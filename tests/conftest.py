import gc
import math
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import hashers
from django.db import connection

from a2aproject.settings.edge import static_files
from agentcards import official_agents
from mailbox.access import audit
from mailbox.access.limits import own_limits
from mailbox.access.people import passwords, sign_ins
from mailbox.database import outages
from mailbox.database.bell import ringing
from mailbox.journal import seals
from mailbox.life.fast_path import plain
from tests.support.databases import (
    Databases,
    as_the_tests_database,
    migrated_databases,
    url_of_the_tests_database,
)
from tests.support.flush import quick_flush
from tests.support.hub import NO_RATES, Hub, served

pytest_plugins = (
    "tests.support.chance",
    "tests.support.sockets",
    "tests.support.tiers",
    "tests.support.costs",
    "tests.support.missing",
)


def pytest_collection_finish() -> None:
    """Exclude shared objects from garbage collection, and collect rarely. This saves a tenth of the suite's time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None) -> Iterator[Databases]:
    """Give this process a migrated database of its own; return the maker of further copies."""
    with migrated_databases() as copies, copies() as url, as_the_tests_database(url):
        yield copies


@pytest.fixture(scope="session")
def migrated_database(django_db_setup: Databases) -> Databases:
    """Return a maker of migrated databases, for tests that start hubs and processes of their own."""
    return django_db_setup


@pytest.fixture(scope="session")
def served_hub(tmp_path_factory: pytest.TempPathFactory, django_db_setup: Databases) -> Iterator[Hub]:
    """Serve the tests' database to all tests that do not stop the hub. They commit, so the hub sees their rows."""
    var = tmp_path_factory.mktemp("served")
    with served(var, database_url=url_of_the_tests_database()) as hub:
        yield hub


@pytest.fixture(scope="session", autouse=True)
def _tests_that_commit_leave_empty_tables() -> Iterator[None]:
    with quick_flush():
        yield


@pytest.fixture(autouse=True)
def _each_test_records_heads_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A test's journal ends with the test, but a record of its newest block would stay."""
    file = tmp_path_factory.getbasetemp() / f"seal_head-{uuid.uuid4()}"
    monkeypatch.setattr(seals, "head_file", lambda: file)


@pytest.fixture(autouse=True)
def _no_agent_is_known_from_another_test() -> None:
    official_agents.forget()


@pytest.fixture(autouse=True)
def _no_clock_reads_the_limits_of_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no request of a test take one query more because a few seconds have passed.

    No agent has a limit of its own. A test that sets one calls `own_limits.forget`, and the next request reads it.
    """
    monkeypatch.setattr(own_limits, "READ_EVERY", math.inf)
    monkeypatch.setattr(own_limits._own, "_by_agent", {})
    monkeypatch.setattr(own_limits._own, "_read_at", 0.0)


@pytest.fixture(scope="session", autouse=True)
def _the_test_s_own_transaction_does_not_count() -> Iterator[None]:
    """Let the hot verbs take their fast form although the test itself has opened a transaction.

    On PostgreSQL a violated constraint aborts the test's transaction. Such tests need `django_db(transaction=True)`.
    """

    answer = plain.is_outermost

    def is_outermost() -> bool:
        of_the_test = [getattr(block, "_from_testcase", False) for block in connection.atomic_blocks]
        return all(of_the_test) if any(of_the_test) else answer()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "is_outermost", is_outermost)
        yield


@pytest.fixture(scope="session", autouse=True)
def _rates_limit_no_test() -> Iterator[None]:
    """Set no rate of requests: all tests share one process, one address and the agents' row numbers."""
    with pytest.MonkeyPatch.context() as patch:
        for name in NO_RATES:
            patch.setattr(settings, name, 0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _the_bell_rings_within_the_process() -> Iterator[None]:
    """Start no thread that keeps a connection to the tests' database. Tests of such threads start them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ringing, "listeners", list)
        patch.setattr(ringing, "_notifies", lambda: False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _every_refusal_has_its_row() -> Iterator[None]:
    """Let each refusal have a row of its own: the runs of one test share a process and the names of agents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit, "MOST_ROWS", 1_000_000)
        yield


@pytest.fixture(scope="session", autouse=True)
def _passwords_are_hashed_in_a_moment() -> Iterator[None]:
    """Hash new passwords with MD5, which is fast. Hashes that a served hub stored can still be checked."""
    quick = "django.contrib.auth.hashers.MD5PasswordHasher"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "PASSWORD_HASHERS", [quick, *settings.PASSWORD_HASHERS])
        hashers.reset_hashers(setting="PASSWORD_HASHERS")
        yield


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_looked_for_when_they_are_requested() -> Iterator[None]:
    """Look static files up on request. The list of all files, which a web server makes at its start, is slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "WHITENOISE_AUTOREFRESH", True)
        for name, value in static_files(Path(), Path("nowhere")).items():
            patch.setattr(settings, name, value)
        yield


@pytest.fixture(scope="session", autouse=True)
def _the_site_of_the_documentation_is_not_built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let no answer depend on whether the site was built here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "A2A_SITE", tmp_path_factory.mktemp("site") / "html")
        yield


@pytest.fixture(autouse=True)
def _no_failed_sign_in_is_remembered() -> None:
    """Forget what earlier tests let this process count."""
    sign_ins.forget()
    passwords.forget()


@pytest.fixture(autouse=True)
def _no_outage_is_remembered() -> Iterator[None]:
    """Forget the outages of earlier tests. The write lock that a test's own transaction holds is no outage."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outages, "_memory", outages._Memory())
        patch.setattr(outages, "LOCKED_AFTER", math.inf)
        patch.setattr(outages, "LOCK_WAIT", 0.0)
        yield
