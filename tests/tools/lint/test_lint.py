"""Each check of `tools.lint` reports its fault where it is planted, and nothing beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.lint import planted_code, planted_pages, planted_templates
from tests.tools.lint.planting import Row, planted, reported
from tools.lint import __main__ as lint
from tools.lint.project import Fault, Project

pytestmark = pytest.mark.one_database

PLANTED: list[Row] = [*planted_code.PLANTED, *planted_pages.PLANTED, *planted_templates.PLANTED]


def test_each_check_reports_what_is_planted_and_nothing_else(tmp_path: Path) -> None:
    for number, (check, files, faults) in enumerate(PLANTED):
        assert reported(check, planted(tmp_path / str(number), files)) == faults, check


def test_each_check_has_a_planted_fault() -> None:
    assert [check for check in lint.CHECKS if not any(check is row[0] and row[2] for row in PLANTED)] == []


def test_the_program_prints_each_fault_and_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def a_check(project: Project) -> Iterator[Fault]:
        yield project.file("b.py").fault(2, "of b")
        yield project.file("a.py").fault(10, "of a")

    monkeypatch.setattr(lint, "CHECKS", [a_check])

    assert lint.main() == 1
    assert capsys.readouterr().out.startswith("a.py:10: of a\nb.py:2: of b\n1 checks, 2 files, 2 faults, ")


def test_the_program_ends_with_0_without_a_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lint, "CHECKS", [lambda project: ()])

    assert lint.main() == 0
    assert capsys.readouterr().out.startswith("1 checks, 0 files, 0 faults, ")


def test_files_that_programs_make_are_no_source(tmp_path: Path) -> None:
    made = ("__pycache__/a.py", "var/a.py", ".venv/a.py", "site/a.py", "clients/javascript/node_modules/a/a.py")
    project = planted(tmp_path, dict.fromkeys([*made, "mailbox/a.py", ".ci/run", "docs/site/a.py"], ""))

    assert [str(folder) for folder in project.folders] == [".ci", "docs/site", "mailbox"]
