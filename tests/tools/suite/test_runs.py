from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from tests.support import record
from tools.suite import __main__ as suite
from tools.suite import runs, touched
from tools.suite.runs import Run

pytestmark = pytest.mark.one_database

FAILED, PASSED = {"outcome": "failed"}, {"outcome": "passed"}


@pytest.fixture
def pytest_that(monkeypatch, tmp_path):
    """Return a function that replaces pytest: a run writes these outcomes, and these tests fail again when alone."""
    calls = []

    def replace(outcomes, *, again=()):
        def run(options, tests, environment):
            calls.append([*tests])
            if "--costs" not in options:
                return int(tests[0] in again)
            Path(options[options.index("--costs") + 1]).write_text(json.dumps({"slowness": 2.0, "tests": outcomes}))
            return int(any(test["outcome"] == "failed" for test in outcomes.values()))

        monkeypatch.setattr(runs, "_pytest", run)
        monkeypatch.setattr(runs, "environment_of", lambda *_: contextlib.nullcontext({}))
        return calls

    return replace


def test_a_test_that_failed_is_tried_once_more_alone(pytest_that, tmp_path):
    calls = pytest_that({"a": FAILED, "b": PASSED, "c": FAILED}, again=["c"])

    done = runs.run("sqlite", [], ["tests"], tmp_path, tries=2)

    assert calls == [["tests"], ["a"], ["c"]]
    assert done.again == {"a": "passed", "c": "failed"}
    assert (done.slowness, done.is_good) == (2.0, False)


def test_the_gate_tries_no_test_again(pytest_that, tmp_path):
    calls = pytest_that({"a": FAILED})

    assert not runs.run("sqlite", [], [], tmp_path).is_good
    assert calls == [[]]


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


def test_the_record_is_renewed_only_by_good_runs_on_both_databases(monkeypatch, tmp_path):
    written = []
    monkeypatch.setattr(record, "write", lambda *given: written.append(given))
    monkeypatch.setattr(suite, "OF_ALL", tmp_path)
    monkeypatch.setattr(suite, "run", lambda database, *_, **__: Run(database, 0, 1.0))

    assert suite.everything("sqlite") == 0
    assert written == []
    assert suite.everything() == 0
    assert len(written) == 1
    assert (tmp_path / "report.md").read_text().startswith("# make test-all")


def test_a_check_without_a_touched_test_runs_nothing(monkeypatch):
    monkeypatch.setattr(touched, "changed_since", lambda _: {"LICENSE"})
    monkeypatch.setattr(suite, "run", lambda *_, **__: pytest.fail("it ran"))

    assert suite.check("main") == 0
