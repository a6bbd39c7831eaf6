from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from tests.support import record
from tests.support.costs import Ledger

pytestmark = pytest.mark.one_database


@dataclass
class Report:
    """The report of a test's teardown, as far as the ledger reads it."""

    nodeid: str
    seconds: float
    keywords: list[str] = field(default_factory=list)
    when: str = "teardown"
    outcome: str = "passed"

    @property
    def user_properties(self):
        return [("cost", {"setup": 0.1, "call": self.seconds - 0.1, "children": 0.0})]


@dataclass
class Options:
    gate: bool = True
    costs: str | None = None

    def getoption(self, name):
        return getattr(self, name)


@dataclass
class Session:
    exitstatus: int = pytest.ExitCode.OK


def judged(slowness, *reports):
    """Return the dear tests, and the exit code of a gate with these tests on a machine of that speed."""
    ledger: Any = Ledger(cast("pytest.Config", Options()))
    session = Session()
    ledger.slowness = slowness
    for report in reports:
        ledger.pytest_runtest_logreport(report)
    ledger.pytest_sessionfinish(session)
    return ledger.too_dear(), session.exitstatus


def test_the_gate_fails_for_an_unmarked_test_beyond_the_margin_of_a_cpu_second():
    assert judged(1.0, Report("cheap", 0.9), Report("dear", 2.6)) == (["dear"], pytest.ExitCode.TESTS_FAILED)


def test_a_marked_test_may_need_more():
    assert judged(1.0, Report("dear", 9.0, ["deep"])) == ([], pytest.ExitCode.OK)


def test_a_slow_machine_makes_no_test_dear():
    assert judged(3.0, Report("as dear as it was", 7.0)) == ([], pytest.ExitCode.OK)


def test_the_machine_of_the_record_is_the_fastest():
    assert record.calibrate() >= 1.0
