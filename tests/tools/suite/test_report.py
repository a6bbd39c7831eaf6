import pytest

from tests.support import record
from tests.support.record import Cost
from tools.suite import report
from tools.suite.runs import Run

pytestmark = pytest.mark.one_database

COST = {"setup": 1.0, "call": 2.0, "children": 4.0}


def outcome_of(outcome="passed", **more):  # of a test
    return {"outcome": outcome, "cost": COST, "fixtures": {}, "in_gate": 1.0, "marks": [], **more}


@pytest.fixture
def done():
    tests = {
        "tests/a/test_a.py::test_b[1]": outcome_of(ran=["mailbox/a.py"], in_gate=0.5),
        "tests/a/test_a.py::test_b[2]": outcome_of(in_gate=0.0, fixtures={"crowd": 3.0}),
        "tests/a/test_a.py::test_c": outcome_of("failed", marks=["processes"]),
        "tests/a/test_a.py::test_d": outcome_of("skipped"),
    }
    return Run("sqlite", 1, 90.0, 2.0, tests, {"tests/a/test_a.py::test_c": "passed"})


def test_costs_are_seconds_of_the_record_s_machine_and_count_what_ran(done):
    assert report.costs_of(done) == {
        "tests/a/test_a.py::test_b": Cost(2, 2.5, 2.0, 4.0, in_gate=1, of_gate=1.75),
        "tests/a/test_a.py::test_c": Cost(1, 0.5, 1.0, 2.0, in_gate=1, of_gate=3.5, deep=1, of_deep=3.5),
    }
    assert report.modules_of([done]) == {"tests/a/test_a.py::test_b": {"mailbox/a.py"}}


def test_a_skipped_function_keeps_the_cost_of_the_last_record(done, monkeypatch):
    name, former = "tests/a/test_a.py::test_d", Cost(1, 0.5, 1.0, 2.0, deep=1, of_deep=3.5)
    monkeypatch.setattr(record, "costs", lambda _: {name: former, "tests/a/test_a.py::test_gone": former})
    monkeypatch.setattr(record, "ran", lambda: {name: {"mailbox/d.py"}})

    assert report.costs_of(done)[name] is former
    assert report.modules_of([done])[name] == {"mailbox/d.py"}
    assert "tests/a/test_a.py::test_gone" not in report.costs_of(done)


def test_a_run_that_broke_off_is_not_reported_as_clean(done):
    done.tests, done.exit_code = {}, 3

    assert "This run is not good. pytest ended with 3." in report.page([done])
    assert "No test failed." not in report.page([done])


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
