import contextlib
import json
from pathlib import Path

import pytest

from tests.support import postgres, record
from tools.suite import __main__ as suite
from tools.suite import runs, touched
from tools.suite.runs import Run

pytestmark = pytest.mark.one_database

OWN = "tests/tools/suite/test_runs.py"
NO_TESTS = pytest.ExitCode.NO_TESTS_COLLECTED
FAILED, PASSED = {"outcome": "failed"}, {"outcome": "passed"}


@pytest.fixture
def pytest_that(monkeypatch, tmp_path):
    """Return a function that replaces pytest: a run writes these outcomes, and these tests fail again when alone."""
    calls = []

    def replace(outcomes, *, again=()):
        def run(arguments, environment):
            calls.append(arguments[-1])
            if "--costs" not in arguments:
                return int(arguments[-1] in again)
            file = Path(arguments[arguments.index("--costs") + 1])
            file.write_text(json.dumps({"slowness": 2.0, "tests": outcomes}))
            return int(any(test["outcome"] == "failed" for test in outcomes.values())) if outcomes else NO_TESTS

        monkeypatch.setattr(runs, "_pytest", run)
        monkeypatch.setattr(runs, "environment_of", lambda *_: contextlib.nullcontext({}))
        return calls

    return replace


def test_a_test_that_failed_is_tried_once_more_alone(pytest_that, tmp_path):
    calls = pytest_that({"a": FAILED, "b": PASSED, "c": FAILED}, again=["c"])

    done = runs.run("sqlite", [], [OWN], tmp_path, tries=2)

    assert calls == [OWN, "a", "c"]
    assert done.again == {"a": "passed", "c": "failed"}
    assert (done.slowness, done.is_good) == (2.0, False)


def test_the_gate_tries_no_test_again(pytest_that, tmp_path):
    calls = pytest_that({"a": FAILED})

    assert not runs.run("sqlite", [], [], tmp_path).is_good
    assert len(calls) == 1


def test_no_second_try_repairs_a_run_that_broke_off():
    failed = {"a": FAILED}

    assert Run("sqlite", pytest.ExitCode.TESTS_FAILED, 1.0, tests=failed, again={"a": "passed"}).is_good
    assert not Run("sqlite", pytest.ExitCode.INTERNAL_ERROR, 1.0, tests=failed, again={"a": "passed"}).is_good
    assert not Run("sqlite", pytest.ExitCode.TESTS_FAILED, 1.0).is_good


def test_a_run_of_all_tests_that_finds_none_is_not_good(pytest_that, tmp_path):
    pytest_that({})

    assert not runs.run("sqlite", [], [], tmp_path).is_good
    assert runs.run("postgresql", [], [OWN], tmp_path).is_good  # no chosen test has a database


def test_only_the_chosen_tests_of_modules_that_exist_run(pytest_that, tmp_path):
    calls = pytest_that({"a": PASSED})

    runs.run("sqlite", [], [f"{OWN}::test_a", "tests/test_gone.py::test_b"], tmp_path)

    assert calls == [OWN]
    assert (tmp_path / "chosen").read_text() == f"{OWN}::test_a\ntests/test_gone.py::test_b"


def test_broken_code_gets_no_second_tries(pytest_that, tmp_path):
    calls = pytest_that({str(number): FAILED for number in range(runs.MOST_TRIES + 1)})

    assert not runs.run("sqlite", [], [], tmp_path, tries=2).is_good
    assert len(calls) == 1


def test_the_gate_runs_on_both_databases_and_ends_at_the_first_that_fails(monkeypatch):
    codes = {"sqlite": 0, "postgresql": 1}
    ran = []

    def run(database, *_):
        ran.append(database)
        return Run(database, codes[database], 1.0)

    monkeypatch.setattr(suite, "run", run)

    assert suite.gate() == 1
    assert ran == ["sqlite", "postgresql"]
    assert suite.gate("sqlite") == 0
    assert suite.main(["gate", "postgresql"]) == 1
    assert suite.main(["unknown"]) == 2


def test_without_postgresql_its_half_is_left_out_but_not_in_ci(monkeypatch, capsys):
    monkeypatch.setattr(postgres, "is_available", lambda: False)
    monkeypatch.delenv("CI", raising=False)

    assert runs.databases() == ("sqlite",)
    assert "PostgreSQL is missing" in capsys.readouterr().out

    monkeypatch.setenv("CI", "true")

    assert runs.databases() == runs.DATABASES


def test_the_record_is_renewed_only_by_good_runs_on_both_databases(monkeypatch, tmp_path):
    written = []
    monkeypatch.setattr(record, "write", lambda *given: written.append(given))
    monkeypatch.setattr(touched, "head", lambda: "abc")
    monkeypatch.setattr(suite, "OF_ALL", tmp_path)
    monkeypatch.setattr(suite, "run", lambda database, *_, **__: Run(database, 0, 1.0))

    assert suite.everything("sqlite") == 0
    assert written == []
    assert suite.everything() == 0
    assert [commit for *_, commit in written] == ["abc"]
    assert (tmp_path / "report.md").read_text().startswith("# make test-all")


def test_a_check_without_a_touched_test_runs_nothing(monkeypatch):
    monkeypatch.setattr(touched, "changed_since", lambda _: {"LICENSE"})
    monkeypatch.setattr(suite, "run", lambda *_, **__: pytest.fail("it ran"))

    assert suite.check("main") == 0
