import pytest

from tests.support import record
from tests.support.record import ROOT, Cost
from tools.suite import touched
from tools.suite.touched import DEEP, READ_BY

pytestmark = pytest.mark.one_database

TASK = "mailbox/models/task.py"
OTHER = "tests/mailbox/life/test_batches.py"
COSTS = {
    "tests/a/test_a.py::test_dear": Cost(in_gate=1, of_gate=5.0),
    "tests/a/test_a.py::test_cheap": Cost(in_gate=1, of_gate=1.0),
    "tests/a/test_a.py::test_idle": Cost(in_gate=1, of_gate=0.1),  # it does not run the task
    "tests/a/test_a.py::test_deep": Cost(deep=1, of_deep=0.5),
    "tests/b/test_b.py::test_other": Cost(in_gate=1, of_gate=0.1),
    "tests/mailbox/life/test_kills.py::test_deep": Cost(deep=2, of_deep=7.0),
    "tests/mailbox/life/test_kills.py::test_of_many_cases": Cost(cases=20, in_gate=5, of_gate=0.1),
}
RAN = {
    "tests/a/test_a.py::test_dear": {TASK},
    "tests/a/test_a.py::test_cheap": {TASK},
    "tests/b/test_b.py::test_other": {"mailbox/b.py"},
}


@pytest.fixture(autouse=True)
def _recorded(monkeypatch):
    monkeypatch.setattr(record, "costs", lambda database: COSTS if database == "sqlite" else {})
    monkeypatch.setattr(record, "ran", lambda: RAN)


def test_the_cheapest_tests_that_ran_a_changed_module_are_chosen():
    assert touched.cheapest({TASK}, set(), 10.0) == (
        ["tests/a/test_a.py::test_cheap", "tests/a/test_a.py::test_dear"],
        0,
    )
    assert touched.cheapest({TASK}, set(), 3.0) == (["tests/a/test_a.py::test_cheap"], 1)
    assert touched.cheapest({TASK}, {"tests/a/test_a.py"}, 10.0) == ([], 0)


def test_the_tests_that_mirror_a_change_take_from_the_time_of_the_others():
    assert touched.cheapest({TASK}, {"tests/b/test_b.py"}, 1.05) == ([], 2)


def test_deep_tests_of_a_changed_part_are_chosen_within_their_time():
    changed = {"mailbox/life/leasing.py"}

    assert touched.deep(changed, 10.0) == (["tests/mailbox/life/test_kills.py::test_deep"], 0)
    assert touched.deep(changed, 5.0) == ([], 1)
    assert touched.deep({"README.md"}, 10.0) == ([], 0)


def test_a_changed_module_of_tests_is_chosen_whole(monkeypatch):
    changed = "tests/mailbox/life/test_races.py"
    costs = {f"{changed}::test_deep": Cost(deep=1, of_deep=6.0), f"{OTHER}::test_deep": Cost(deep=1, of_deep=5.0)}
    monkeypatch.setattr(record, "costs", lambda database: costs if database == "sqlite" else {})

    assert touched.deep({changed, "tests/test_gone.py"}, 10.0) == ([changed], 0)
    assert touched.deep({changed, "mailbox/life/a.py"}, 10.0) == ([changed], 1)
    assert touched.deep({changed, OTHER}, 10.0) == ([OTHER], 1)


@pytest.mark.parametrize(
    ("helper", "tests"),
    [
        ("tools/suite/report.py", {"tests/tools/suite/test_report.py", "tests/tools/suite/test_runs.py"}),
        ("tests/support/machine.py", {"tests/mailbox/life/test_lifecycle.py"}),  # by another helper
        ("tests/authorisation/expected.txt", {"tests/authorisation/test_matrix.py"}),
        ("tests/load/conftest.py", {"tests/load/test_kills.py"}),
    ],
)
def test_a_change_beside_the_tests_touches_what_imports_it_or_shares_its_folder(helper, tests):
    affected = touched.affected({helper})

    assert affected >= tests
    assert len(affected) < 40


def test_a_changed_plugin_touches_every_test():
    assert len(touched.affected({"tests/support/chance.py"})) > 500


def test_the_record_touches_no_test():
    assert touched.affected({"tests/costs.json"}) == set()


def test_every_part_of_the_product_has_deep_tests():
    parts = [path for path in (ROOT / "mailbox").iterdir() if (path / "__init__.py").is_file()]
    parts += [ROOT / name for name in ("a2aproject", "agentcards", "dashboard", "templates")]

    assert [str(path) for path in parts if f"{path.relative_to(ROOT)}/" not in DEEP] == []


@pytest.mark.processes
def test_a_base_that_is_no_commit_is_refused():
    with pytest.raises(SystemExit, match="no-such-branch"):
        touched.changed_since("no-such-branch")


def test_a_repository_without_the_commit_of_the_record_is_refused(monkeypatch):
    monkeypatch.setattr(touched, "_has", lambda _: False)

    with pytest.raises(SystemExit, match="Fetch its whole history"):
        touched.last_record()


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("mailbox/access/audit.py", "tests/mailbox/access/test_audit.py"),
        ("mailbox/life/results.py", "tests/mailbox/life/test_results_drain.py"),  # a part of its name
        ("templates/ops/leases.html", "tests/dashboard/test_leases.py"),
        ("templates/ops/tree_map.html", "tests/dashboard/trees/test_views.py"),
        ("tests/mailbox/access/test_audit.py", "tests/mailbox/access/test_audit.py"),
        ("mailbox/dialects/corvid/views.py", "tests/mailbox/dialects/conformance/test_life.py"),
        ("mailbox/dialects/corvid/urls.py", "tests/mailbox/dialects/test_openapi.py"),
    ],
)
def test_the_tests_that_mirror_a_change_are_always_chosen(path, module):
    assert module in touched.mirrors({path})


def test_every_path_of_the_tables_exists():
    begins = {path for paths in (*DEEP.values(), *READ_BY.values()) for path in paths} | DEEP.keys()

    assert [path for path in begins if not (ROOT / path).exists()] == []
