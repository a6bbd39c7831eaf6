from __future__ import annotations

import pytest

from tests.support import record
from tests.support.record import ROOT, Cost
from tools.suite import touched
from tools.suite.touched import DEEP, READ_BY

pytestmark = pytest.mark.one_database

TASK = "mailbox/models/task.py"
IS_THERE = touched.is_there
COSTS = {
    "tests/a/test_a.py::test_dear": Cost(1, 1, 0.0, 5.0, 0.0),
    "tests/a/test_a.py::test_cheap": Cost(1, 1, 0.0, 1.0, 0.0),
    "tests/a/test_a.py::test_deep": Cost(1, 0, 0.0, 0.5, 0.0),
    "tests/b/test_b.py::test_other": Cost(1, 1, 0.0, 0.1, 0.0),
    "tests/mailbox/verbs/test_kills.py::test_deep": Cost(2, 0, 0.0, 3.0, 4.0),
}


@pytest.fixture(autouse=True)
def _recorded(monkeypatch):
    monkeypatch.setattr(record, "costs", lambda database: COSTS if database == "sqlite" else {})
    monkeypatch.setattr(touched, "is_there", lambda _: True)
    monkeypatch.setattr(record, "ran", lambda: {"tests/a/test_a.py": {TASK}, "tests/b/test_b.py": {"mailbox/b.py"}})


def test_the_cheapest_tests_that_ran_a_changed_module_are_chosen():
    assert touched.cheapest({TASK}, set(), 10.0) == (
        ["tests/a/test_a.py::test_cheap", "tests/a/test_a.py::test_dear"],
        0,
    )
    assert touched.cheapest({TASK}, set(), 3.0) == (["tests/a/test_a.py::test_cheap"], 1)
    assert touched.cheapest({TASK}, {"tests/a/test_a.py"}, 10.0) == ([], 0)


def test_deep_tests_of_a_changed_part_are_chosen_within_their_time():
    changed, newer = {"mailbox/verbs/life/leasing.py"}, "tests/tools/proof/test_short.py"  # the record lacks it

    assert touched.deep(changed, 10.0) == ([newer, "tests/mailbox/verbs/test_kills.py::test_deep"], 0)
    assert touched.deep(changed, 5.0) == ([newer], 1)
    assert touched.deep({"README.md"}, 10.0) == ([], 0)


def test_a_test_that_is_gone_is_not_chosen(monkeypatch):
    monkeypatch.setattr(touched, "is_there", lambda name: "cheap" not in name)

    assert touched.cheapest({TASK}, set(), 10.0)[0] == ["tests/a/test_a.py::test_dear"]


def test_the_text_of_a_module_says_which_tests_it_has():
    own = "tests/tools/suite/test_touched.py"

    assert IS_THERE(f"{own}::test_the_text_of_a_module_says_which_tests_it_has")
    assert not IS_THERE(f"{own}::test_gone")
    assert not IS_THERE("tests/test_gone.py::test_gone")


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("mailbox/gate/audit.py", "tests/mailbox/gate/test_audit.py"),
        ("mailbox/verbs/life/results.py", "tests/mailbox/verbs/life/test_results_drain.py"),  # a part of its name
        ("templates/ops/leases.html", "tests/dashboard/views/test_leases.py"),
        ("tests/mailbox/gate/test_audit.py", "tests/mailbox/gate/test_audit.py"),
        ("mailbox/dialects/corvid/views.py", "tests/mailbox/dialects/conformance/test_life.py"),
        ("mailbox/dialects/corvid/urls.py", "tests/mailbox/dialects/test_openapi.py"),
    ],
)
def test_the_tests_that_mirror_a_change_are_always_chosen(path, module):
    assert module in touched.mirrors({path})


def test_every_path_of_the_tables_exists():
    begins = {path for paths in (*DEEP.values(), *READ_BY.values()) for path in paths} | DEEP.keys()

    assert [path for path in begins if not (ROOT / path).exists()] == []
