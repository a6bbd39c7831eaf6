from __future__ import annotations

import pytest

from tests.support.record import Cost
from tools.suite import report
from tools.suite.runs import Run

pytestmark = pytest.mark.one_database

COST = {"setup": 1.0, "call": 2.0, "children": 4.0}


def outcome_of(outcome="passed", **more):  # of a test
    return {"outcome": outcome, "cost": COST, "in_gate": True, "marks": [], **more}


@pytest.fixture
def done():
    tests = {
        "tests/a/test_a.py::test_b[1]": outcome_of(ran=["mailbox/a.py"]),
        "tests/a/test_a.py::test_b[2]": outcome_of(in_gate=False),
        "tests/a/test_a.py::test_c": outcome_of("failed", marks=["processes"]),
        "tests/a/test_a.py::test_d": outcome_of("skipped"),
    }
    return Run("sqlite", 1, 90.0, 2.0, tests, {"tests/a/test_a.py::test_c": "passed"})


def test_costs_are_seconds_of_the_record_s_machine_and_count_what_ran(done):
    assert report.costs_of(done) == {
        "tests/a/test_a.py::test_b": Cost(2, 1, 1.0, 2.0, 4.0),
        "tests/a/test_a.py::test_c": Cost(1, 1, 0.5, 1.0, 2.0),
    }
    assert report.modules_of([done]) == {"tests/a/test_a.py": {"mailbox/a.py"}}


def test_the_report_names_each_second_try(done):
    page = report.page([done])

    assert "2 passed, 1 skipped, 1 failed, 1.5 minutes" in page
    assert "- `tests/a/test_a.py::test_c`: passed" in page
    assert "| a: processes | 1 | 7 |" in page


def test_a_run_is_good_if_each_failed_test_passed_alone(done):
    assert done.is_good

    done.again["tests/a/test_a.py::test_c"] = "failed"

    assert not done.is_good


def test_a_run_that_ended_without_a_failed_test_is_not_good(done):
    done.tests = {}

    assert not done.is_good
