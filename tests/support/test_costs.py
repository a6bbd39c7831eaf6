from dataclasses import dataclass, field
from types import SimpleNamespace
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
    session = Session()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "calibrate", lambda: slowness)
        ledger: Any = Ledger(cast("pytest.Config", Options()))
        for report in reports:
            ledger.pytest_runtest_logreport(report)
        ledger.pytest_sessionfinish(session)
    return ledger.too_dear(), session.exitstatus


def test_the_gate_fails_for_an_unmarked_test_beyond_the_margin_of_a_cpu_second():
    assert judged(1.0, Report("cheap", 0.9), Report("dear", 2.6)) == (["dear"], pytest.ExitCode.TESTS_FAILED)


def test_a_module_that_cannot_be_collected_counts_as_failed():
    ledger: Any = Ledger(cast("pytest.Config", Options()))

    ledger.pytest_collectreport(SimpleNamespace(nodeid="tests/test_a.py", failed=True, longrepr="SyntaxError"))
    ledger.pytest_collectreport(SimpleNamespace(nodeid="tests/test_b.py", failed=False))

    assert {name: test["outcome"] for name, test in ledger.tests.items()} == {"tests/test_a.py": "failed"}


def test_a_marked_test_may_need_more():
    assert judged(1.0, Report("dear", 9.0, ["deep"])) == ([], pytest.ExitCode.OK)


def test_a_slow_machine_makes_no_test_dear():
    assert judged(3.0, Report("as dear as it was", 7.0)) == ([], pytest.ExitCode.OK)


@pytest.mark.parametrize(("times_slower", "slowness"), [(3.0, 3.0), (1.0, 1.0), (0.5, 1.0)])
def test_a_machine_counts_as_its_best_loop_and_as_no_faster_than_that_of_the_record(
    monkeypatch, times_slower, slowness
):
    loops = [3 * times_slower, 2 * times_slower, times_slower, 2 * times_slower, 3 * times_slower]
    readings = [reading for spent in loops for reading in (10.0, 10.0 + spent * record.REFERENCE)]
    monkeypatch.setattr(record, "ROUNDS", 0)
    monkeypatch.setattr(record, "time", SimpleNamespace(process_time=iter(readings).__next__))

    assert record.calibrate() == pytest.approx(slowness)
