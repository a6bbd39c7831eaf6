from __future__ import annotations

import pytest

from tests.support import record
from tests.support.record import ROOT, Cost
from tools.suite import touched
from tools.suite.touched import DEEP, READ_BY

pytestmark = pytest.mark.one_database

TASK = "mailbox/models/task.py"
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


def test_a_changed_module_of_tests_is_chosen_whole(monkeypatch):
    changed = "tests/mailbox/verbs/test_locks.py"
    monkeypatch.setattr(record, "costs", lambda _: {f"{changed}::test_deep": Cost(1, 0, 0.0, 1.0, 0.0)})

    assert touched.deep({changed, "tests/test_gone.py"}, 10.0) == ([changed], 0)


@pytest.mark.parametrize("helper", ["tests/support/tiers.py", "tests/support/costs.py", "tools/suite/report.py"])
def test_a_changed_helper_touches_the_tests_that_import_it(helper):
    folder = "tests/tools/suite" if helper.startswith("tools/") else "tests/support"

    assert touched._importers({helper}) >= {f"{folder}/test_{helper.rpartition('/')[2]}"}
    assert len(touched._importers({helper})) < 20


def test_deep_tests_of_a_folder_whose_fixtures_changed_are_chosen():
    assert touched.deep({"tests/mailbox/verbs/conftest.py"}, 10.0)[0] == [
        "tests/mailbox/verbs/test_kills.py::test_deep"
    ]
    assert touched.deep({"tests/conftest.py"}, 10.0) == ([], 0)


def test_a_repository_without_the_commit_of_the_record_is_refused(monkeypatch):
    monkeypatch.setattr(touched, "_git", lambda *_: [])

    with pytest.raises(SystemExit, match="Fetch its whole history"):
        touched.last_record()


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
