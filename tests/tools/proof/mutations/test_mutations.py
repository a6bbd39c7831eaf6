import ast
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.hub import PATIENCE, ROOT
from tools.proof.mutations import __main__ as runner
from tools.proof.mutations import tiers, trying
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
    assert len(BUGS) >= 60


def test_nine_of_ten_bugs_are_caught_by_make_test() -> None:
    assert tiers.share(BUGS) >= tiers.LEAST_IN_GATE


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

    def run(tree: Path, database: str, *tests: str, migrates: bool = False) -> tuple[int, str]:
        seen.append((module.read_text(), database, *tests))
        return code, output

    monkeypatch.setattr(trying, "run", run)

    assert (trying.tried(tmp_path, BUG) is None) == is_caught
    assert (trying.tried(tmp_path, replace(BUG, in_gate=False)) is None) == is_caught
    assert seen == [
        ("x = 2\n", "sqlite", "--exitfirst", "--gate", "t.py::test_a"),
        ("x = 2\n", "sqlite", "--exitfirst", "t.py::test_a"),
    ]
    assert module.read_text() == "x = 1\n"


def test_a_bug_of_a_migration_is_tried_on_a_database_of_its_own(tmp_path, monkeypatch):
    module = tmp_path / "mailbox/migrations/m.py"
    module.parent.mkdir(parents=True)
    module.write_text("x = 1\n")
    bug = replace(BUG, changes=(Change("mailbox/migrations/m.py", "1", "2"),))
    seen = []

    def run(tree: Path, database: str, *arguments: str, migrates: bool = False) -> tuple[int, str]:
        seen.append((database, *arguments, migrates))
        return 0, ""

    monkeypatch.setattr(trying, "run", run)
    trying.tried(tmp_path, bug)

    assert seen == [("sqlite", "--exitfirst", "--gate", "t.py::test_a", True)]


@pytest.mark.processes
def test_a_tree_has_its_own_client(tmp_path):
    module = tmp_path / "clients/python/src/a2a_hub_client.py"
    module.parent.mkdir(parents=True)
    module.write_text("print('of the tree')")

    program = [sys.executable, "-c", "import a2a_hub_client"]
    done = subprocess.run(program, env=trying.environment_of(tmp_path), capture_output=True, text=True, check=True)

    assert done.stdout == "of the tree\n"


@pytest.mark.processes
def test_a_process_that_a_test_left_behind_is_ended(tmp_path):
    marked = {**os.environ, trying.MARK: str(tmp_path)}
    with subprocess.Popen(["sleep", "60"], env=marked) as left, subprocess.Popen(["sleep", "60"]) as other:  # noqa: S607
        trying.end_processes_of(tmp_path)

        assert left.wait(PATIENCE) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()


def test_tests_that_fail_without_a_bug_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(trying, "run", lambda *_: (1, "FAILED t.py::test_a - AssertionError"))

    problem = trying.sound(tmp_path, ("sqlite", ["t.py::test_a"]))

    assert problem == "these tests fail on sqlite without any bug: ['t.py::test_a']"


def test_the_tests_of_a_module_are_in_one_part_of_their_database():
    tests = ("a.py::test_a", "b.py::test_a", "c.py::test_a", "a.py::test_b", "a.py::test_a")
    bugs = [replace(BUG, fails=test) for test in tests]

    parts = [*trying.parts([*bugs, replace(BUG, fails="d.py::test_a", database="postgresql")], 2)]

    assert parts == [
        ("postgresql", ["d.py::test_a"]),
        ("sqlite", ["a.py::test_a", "a.py::test_b", "c.py::test_a"]),
        ("sqlite", ["b.py::test_a"]),
    ]


def test_no_two_bugs_are_in_one_tree_at_once(tmp_path):
    trees, busy = [tmp_path / "one", tmp_path / "two"], set()

    def act(tree, number):
        assert tree not in busy
        busy.add(tree)
        busy.remove(tree)
        return f"problem {number}" if number % 2 else None

    assert trying.side_by_side(trees, act, range(20)) == [f"problem {number}" for number in range(1, 20, 2)]


LISTING = """\
t.py::test_a[1]
t.py::test_a[x::y z]
t.py::test_b

3/4 tests collected (1 deselected) in 0.1s
ERROR t.py::test_c - broken
"""


def test_a_listing_holds_each_test_once_without_its_cases():
    assert tiers.listed(LISTING) == {"t.py::test_a", "t.py::test_b"}


@pytest.mark.parametrize(
    ("fails", "in_gate", "problems"),
    [
        ("t.py::test_a", True, []),
        ("t.py::test_d", False, []),
        ("t.py::test_d", True, ["b is said to be caught by make test, and is not: t.py::test_d"]),
        (
            "t.py::test_a",
            False,
            ["b is said to be caught by make test-all alone, and make test catches it: t.py::test_a"],
        ),
    ],
)
def test_a_bug_says_which_run_catches_it(tmp_path, monkeypatch, fails, in_gate, problems):
    seen = []

    def run(tree: Path, database: str, *arguments: str, migrates: bool = False) -> tuple[int, str]:
        seen.append((database, *arguments))
        return 0, LISTING

    monkeypatch.setattr(trying, "run", run)

    assert [*trying.misplaced(tmp_path, [replace(BUG, fails=fails, in_gate=in_gate)])] == problems
    assert seen == [("sqlite", "--collect-only", "--gate", fails)]


def test_a_listing_that_fails_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(trying, "run", lambda *_: (4, "unrecognized arguments"))

    assert [*trying.misplaced(tmp_path, [BUG])] == [
        "the tests of make test cannot be listed on sqlite:\nunrecognized arguments"
    ]


def test_a_run_counts_the_bugs_of_both_runs():
    bugs = [BUG, BUG, BUG, replace(BUG, in_gate=False)]

    assert tiers.summary(bugs) == "4 bugs: 3 caught by make test (75%), 1 by make test-all alone"


@pytest.mark.parametrize(("names", "code"), [([], 1), (["b"], 0)])
def test_a_run_of_all_bugs_fails_if_make_test_catches_too_few(monkeypatch, capsys, names, code):
    monkeypatch.setattr(runner, "BUGS", [BUG, replace(BUG, name="c", in_gate=False)])
    monkeypatch.setattr(trying, "problems_of", lambda bugs: [])

    assert runner.main(names) == code
    assert ("make test catches less than 90%" in capsys.readouterr().err) == bool(code)
