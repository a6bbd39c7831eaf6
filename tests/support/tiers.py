"""Chooses the tests of a run: the gate of each change (``--gate``), or all tests.

The gate leaves out tests of the markers `deep` and `processes`, except those of `smoke`. A function with more than ten
cases keeps five there, unless it is marked `every_case`. PostgreSQL runs the tests that have a database, and in the
gate only those of `both_databases` and of the folders in `WITH_SQL`.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Generator, Iterable
from functools import cache
from pathlib import Path, PurePosixPath
from zlib import crc32

import hypothesis
import pytest
from django.db import connection
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.support import record
from tests.support.record import ROOT

# The rooms whose code writes SQL of its own, takes locks or relies on constraints.
WITH_SQL = (
    "tests/mailbox/access/",
    "tests/mailbox/database/",
    "tests/mailbox/dialects/conformance/test_life.py",
    "tests/mailbox/in_process/",
    "tests/mailbox/inspection/",
    "tests/mailbox/life/",
    "tests/mailbox/models/",
    "tests/mailbox/repairs/",
    "tests/mailbox/test_locks.py",
    "tests/mailbox/test_newer_database.py",
    "tests/mailbox/test_query_counts.py",
    "tests/mailbox/test_query_plans.py",
    "tests/mailbox/upkeep/",
)
WITH_PROCESSES = {
    "browse",
    "chromium",
    "launched",
    "live_server",
    "migrated_database",
    "served_hub",
    "site",
}  # fixtures
WITH_A_DATABASE = {"db", "django_db_setup", "live_server", "migrated_database", "transactional_db"}  # fixtures
MADE_ONCE = re.compile(r'\(scope="(package|session)"\)')
MOST_CASES = 10
KEPT_CASES = 5
GATE_EXAMPLES, ALL_EXAMPLES = 8, 40

hypothesis.settings.register_profile(
    "gate", max_examples=GATE_EXAMPLES, stateful_step_count=30, deadline=None, derandomize=True
)
hypothesis.settings.register_profile("all", max_examples=ALL_EXAMPLES, stateful_step_count=20, deadline=None)
hypothesis.settings.register_profile("soak", max_examples=500, stateful_step_count=50, deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--gate", action="store_true", help="run the tests that each change must pass, see the page Tests")
    parser.addoption("--chosen", metavar="FILE", help="run only the modules and functions that the file lists")
    parser.addoption("--every-test", action="store_true", help="run on PostgreSQL the tests of `one_database` too")


def pytest_configure(config: pytest.Config) -> None:
    usual = "gate" if config.getoption("gate") else "all"
    hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or usual)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, None, None]:
    for item in items:
        _mark_by_fixtures(item)
    chosen = _listed(items, config.getoption("chosen"))
    if connection.vendor == "postgresql" and not config.getoption("every_test"):
        chosen = [item for item in chosen if _has_database(item) and not item.get_closest_marker("one_database")]
    of_gate = {*_of_gate(chosen)}
    if config.getoption("gate"):
        chosen = [item for item in chosen if item in of_gate]
    kept = {*chosen}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = chosen
    for item in items:
        item.user_properties.append((record.IN_GATE, _share_of(item) if item in of_gate else 0.0))
    yield
    costs = record.costs_of_scopes(connection.vendor, scope_of)
    items.sort(key=lambda item: (-costs.get(scope := scope_of(item.nodeid), 0.0), scope))


def _listed(items: list[pytest.Item], file: str | None) -> list[pytest.Item]:
    if file is None:
        return items
    names = {*Path(file).read_text().splitlines()}
    return [item for item in items if names & {record.file_of(item.nodeid), record.function_of(item.nodeid)}]


def _mark_by_fixtures(item: pytest.Item) -> None:
    fixtures = {*getattr(item, "fixturenames", ())}
    if fixtures & WITH_PROCESSES:
        item.add_marker(pytest.mark.processes)
    if "migrated_database" in fixtures:
        item.add_marker(pytest.mark.django_db)  # without the mark pytest-django sets up no database


def _has_database(item: pytest.Item) -> bool:
    fixtures = {*getattr(item, "fixturenames", ())}
    return bool(item.get_closest_marker("django_db") or fixtures & WITH_A_DATABASE)


def _of_gate(items: Iterable[pytest.Item]) -> Iterable[pytest.Item]:
    functions: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if _is_of_gate(item):
            functions[record.function_of(item.nodeid)].append(item)
    for cases in functions.values():
        if len(cases) > MOST_CASES and not cases[0].get_closest_marker("every_case"):
            yield from sorted(cases, key=lambda case: crc32(case.nodeid.encode()))[:KEPT_CASES]
        else:
            yield from cases


def _share_of(item: pytest.Item) -> float:
    """Return which part of a whole run of the test the gate makes: of a dear search some examples."""
    is_whole = item.config.getoption("gate") or not item.get_closest_marker("search")
    return 1.0 if is_whole else GATE_EXAMPLES / ALL_EXAMPLES


def _is_of_gate(item: pytest.Item) -> bool:
    if connection.vendor == "postgresql" and not (
        item.nodeid.startswith(WITH_SQL) or item.get_closest_marker("both_databases")
    ):
        return False
    if item.get_closest_marker("smoke"):
        return True
    return not (item.get_closest_marker("processes") or item.get_closest_marker("deep"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ScopeScheduling:
    return ScopeScheduling(config, log)


class ScopeScheduling(LoadScopeScheduling):  # type: ignore[misc]  # it has no types
    """Gives the tests of a scope to one process, because they share what is dear to make. Dear scopes come first."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


@cache
def _is_shared(folder: PurePosixPath) -> bool:
    """Whether the folder's conftest has fixtures that are made once. All processes have those of `tests`."""
    conftest = ROOT / folder / "conftest.py"
    return len(folder.parts) > 1 and conftest.is_file() and bool(MADE_ONCE.search(conftest.read_text()))


def scope_of(nodeid: str) -> str:
    """Return what shares a process: the test's module, or its folder with fixtures that are made once."""
    module = record.file_of(nodeid)
    return next((str(folder) for folder in PurePosixPath(module).parents if _is_shared(folder)), module)
