import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import missing
from tests.support.hub import PATIENCE, ROOT
from tests.support.missing import Need

pytestmark = pytest.mark.one_database

PRINT = "tests/dashboard/browser/test_print.py"
LINE = "No kettle on this machine: 2 cups were skipped"


@pytest.fixture
def kettle(monkeypatch):
    """A need that this machine lacks."""
    monkeypatch.setattr(missing, "NEEDS", {"kettle": Need("No kettle on this machine", "cups", lambda: False)})


@pytest.fixture
def items(request, monkeypatch):
    """Return this test twice, and another that needs nothing."""
    monkeypatch.setattr(request.node, "own_markers", [])
    return [request.node, SimpleNamespace(fixturenames=("tea",)), request.node]


def test_tests_that_need_a_missing_program_are_skipped(kettle, items, monkeypatch):
    monkeypatch.delenv("CI", raising=False)

    missing.pytest_collection_modifyitems(items)

    assert [mark.args for mark in items[0].iter_markers("skip")] == [("No kettle on this machine",)] * 2
    assert len(items) == 3


def test_a_run_that_lacks_a_program_is_one_failed_test_under_ci(kettle, items, monkeypatch):
    monkeypatch.setenv("CI", "1")

    missing.pytest_collection_modifyitems(items)

    (only,) = items
    with pytest.raises(pytest.fail.Exception, match=LINE):
        missing.pytest_runtest_setup(only)


def test_an_optional_program_may_be_missing_under_ci(kettle, items, monkeypatch):
    monkeypatch.setenv("CI", "1")
    monkeypatch.setattr(
        missing, "NEEDS", {name: replace(need, is_optional=True) for name, need in missing.NEEDS.items()}
    )

    missing.pytest_collection_modifyitems(items)

    assert [mark.args for mark in items[0].iter_markers("skip")] == [("No kettle on this machine",)] * 2
    assert len(items) == 3


def test_a_test_that_lacks_an_optional_and_another_program_fails_under_ci(kettle, items, monkeypatch):
    monkeypatch.setenv("CI", "1")
    spoon = Need("No spoon on this machine", "cups", lambda: False, is_optional=True)
    monkeypatch.setattr(missing, "NEEDS", {"spoon": spoon, **missing.NEEDS})
    items[0].fixturenames.append("spoon")

    missing.pytest_collection_modifyitems(items)

    assert len(items) == 1


def test_a_parameter_has_needs_of_its_own(kettle, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    of_cups = SimpleNamespace(params={"cup": SimpleNamespace(needs=("kettle",)), "size": 3})
    cups: list[Any] = [SimpleNamespace(callspec=of_cups, add_marker=lambda mark: marks.append(mark.args))]
    marks: list[Any] = []

    missing.pytest_collection_modifyitems(cups)

    assert marks == [("No kettle on this machine",)]


def test_the_summary_counts_the_skipped_tests_in_one_line(kettle):
    lines: list[str] = []
    reports = [SimpleNamespace(longrepr=("file", 1, "Skipped: No kettle on this machine"))] * 2
    others = [
        SimpleNamespace(longrepr=("file", 1, "Skipped: SQLite locks no rows")),
        SimpleNamespace(longrepr="broken"),
    ]
    reporter: Any = SimpleNamespace(
        getreports=lambda _: reports + others, write_line=lambda line, **_: lines.append(line)
    )

    missing.pytest_terminal_summary(reporter)

    assert lines == [LINE]


@pytest.mark.processes
def test_browser_tests_are_skipped_on_a_machine_without_programs():
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST"))}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", PRINT, "-q", "-p", "no:randomly", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env=environment | {"PATH": "/nowhere"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert (run.returncode, run.stderr) == (0, "")
    assert "No Chromium on this machine: 2 browser tests were skipped\n2 skipped" in run.stdout
