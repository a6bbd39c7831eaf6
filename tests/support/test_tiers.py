import re
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import tiers
from tests.support.record import ROOT

pytestmark = pytest.mark.one_database


@dataclass(frozen=True)
class Test:
    """A collected test, as far as the choice reads it."""

    __test__ = False

    nodeid: str
    marks: frozenset[str] = field(default_factory=frozenset)

    def get_closest_marker(self, name):
        return name if name in self.marks else None


def on(monkeypatch, vendor):
    monkeypatch.setattr(tiers, "connection", SimpleNamespace(vendor=vendor))


def chosen(*tests):
    return [test.nodeid for test in tiers._of_gate(tests)]


@pytest.mark.parametrize(
    ("marks", "is_kept"),
    [
        ((), True),
        (("deep",), False),
        (("processes",), False),
        (("processes", "smoke"), True),
        (("deep", "smoke"), True),
    ],
)
def test_the_gate_leaves_out_what_is_dear_or_depends_on_chance(monkeypatch, marks, is_kept):
    on(monkeypatch, "sqlite")

    assert chosen(Test("tests/dashboard/test_a.py::test_b", frozenset(marks))) == (
        ["tests/dashboard/test_a.py::test_b"] if is_kept else []
    )


def test_the_gate_runs_on_postgresql_what_has_sql_of_its_own(monkeypatch):
    on(monkeypatch, "postgresql")
    verb, page = Test("tests/mailbox/life/test_a.py::test_b"), Test("tests/dashboard/test_a.py::test_b")
    marked = Test("tests/dashboard/test_a.py::test_c", frozenset({"both_databases"}))

    assert chosen(verb, page, marked) == [verb.nodeid, marked.nodeid]


def test_what_only_postgresql_can_show_is_in_its_gate():
    modules = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    alone = {name for name, text in modules.items() if re.search("skipif.*vendor != .postgresql", text)}
    is_known = re.compile(r"both_databases\b|mark\.processes\b|: Database\b")  # the last starts processes

    assert len(alone) > 10
    assert [name for name in alone if not name.startswith(tiers.WITH_SQL) and not is_known.search(modules[name])] == []


def test_a_function_of_many_cases_keeps_the_same_five_of_them(monkeypatch):
    on(monkeypatch, "sqlite")
    ten = [Test(f"tests/test_a.py::test_few[{number}]") for number in range(10)]
    eleven = [Test(f"tests/test_a.py::test_many[{number}]") for number in range(11)]
    every = [Test(f"tests/test_a.py::test_every[{number}]", frozenset({"every_case"})) for number in range(11)]

    assert len(chosen(*ten)) == 10
    assert len(chosen(*eleven)) == 5
    assert chosen(*eleven) == chosen(*reversed(eleven))
    assert len(chosen(*every)) == 11


def test_a_list_names_whole_modules_and_functions_with_all_cases(tmp_path):
    (tmp_path / "chosen").write_text("tests/test_a.py\ntests/test_b.py::test_c\ntests/test_b.py::test_gone")
    items: list[Any] = [
        Test(f"tests/{name}") for name in ("test_a.py::test_a[1]", "test_b.py::test_c[1]", "test_b.py::test_d")
    ]

    assert tiers._listed(items, str(tmp_path / "chosen")) == items[:2]
    assert tiers._listed(items, None) == items


@pytest.mark.parametrize(
    ("test", "scope"),
    [
        ("tests/mailbox/access/test_audit.py::test_a", "tests/mailbox/access/test_audit.py"),
        ("tests/mailbox/dialects/a2a/clients/test_parts.py::test_a[x]", "tests/mailbox/dialects/a2a/clients"),
    ],
)
def test_tests_that_share_a_fixture_of_the_run_share_a_process(test, scope):
    assert tiers.scope_of(test) == scope
