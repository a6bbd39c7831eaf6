from __future__ import annotations

import ast
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.support.hub import PATIENCE, ROOT
from tools.proof.mutations import __main__ as runner
from tools.proof.mutations.bug import Bug, Change, StaleBugError
from tools.proof.mutations.bugs import BUGS

pytestmark = pytest.mark.one_database


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_bug_still_fits_the_product_and_names_a_test(bug: Bug) -> None:
    for path, text in bug.applied(ROOT).items():
        assert path.read_text() != text
        if path.suffix == ".py":
            ast.parse(text)

    module, _, name = bug.fails.partition("::")
    tests = {node.name for node in ast.parse((ROOT / module).read_text()).body if isinstance(node, ast.FunctionDef)}
    assert name in tests


def test_names_are_unique_and_the_bugs_are_many() -> None:
    assert [name for name, count in Counter(bug.name for bug in BUGS).items() if count > 1] == []
    assert len(BUGS) >= 12


@pytest.mark.parametrize("old", ["absent", "twice"])
def test_a_bug_whose_text_is_not_there_exactly_once_is_stale(old: str) -> None:
    with pytest.raises(StaleBugError, match=f"has {0 if old == 'absent' else 2} times, not once"):
        Change("module.py", old, "new").applied("twice, twice")


BUG = Bug(name="b", does="It fails.", changes=(Change("m.py", "1", "2"),), fails="t.py::test_a")


@pytest.mark.parametrize(
    ("code", "output", "is_caught"),
    [
        (1, "FAILED t.py::test_a[x] - AssertionError", True),
        (1, "FAILED t.py::test_ab - AssertionError", False),
        (0, "1 passed", False),
        (4, "ERROR: not found: t.py::test_a", False),
    ],
)
def test_a_bug_is_caught_only_if_its_own_test_fails(tmp_path, monkeypatch, code, output, is_caught):
    module = tmp_path / "m.py"
    module.write_text("x = 1\n")
    seen = []

    def run(tree: Path, database: str, *tests: str) -> tuple[int, str]:
        seen.append((module.read_text(), database, *tests))
        return code, output

    monkeypatch.setattr(runner, "run", run)

    assert (runner.tried(tmp_path, BUG) is None) == is_caught
    assert seen == [("x = 2\n", "sqlite", "--exitfirst", "t.py::test_a")]
    assert module.read_text() == "x = 1\n"


@pytest.mark.processes
def test_a_process_that_a_test_left_behind_is_ended(tmp_path):
    marked = {**os.environ, runner.MARK: str(tmp_path)}
    with subprocess.Popen(["sleep", "60"], env=marked) as left, subprocess.Popen(["sleep", "60"]) as other:  # noqa: S607
        runner.end_processes_of(tmp_path)

        assert left.wait(PATIENCE) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()


def test_tests_that_fail_without_a_bug_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "run", lambda *_: (1, "FAILED t.py::test_a - AssertionError"))

    assert [*runner.sound(tmp_path, [BUG])] == ["these tests fail on sqlite without any bug: ['t.py::test_a']"]
