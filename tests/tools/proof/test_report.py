"""The page of a proof shows its counts, its broken promises and what was not run."""

from collections import Counter

import pytest

from tools.lint import prose
from tools.lint.project import File
from tools.proof import report
from tools.proof.controls import CONTROLS
from tools.proof.evidence import Violation
from tools.proof.forms import Part, Strike
from tools.proof.report import Memory, Proof

pytestmark = pytest.mark.one_database


def proof() -> Proof:
    struck = Part(name="faults", database="postgresql", seed=2, operations=Counter(send=5), tries=9, scenario="outage")
    struck.strikes = [
        Strike(name="PostgreSQL: stopped", recovery=0.5),
        Strike(name="PostgreSQL: stopped", recovery=1.5, silence=4.25),
        Strike(name="killed: 25 web workers, one after the other", recovery=0.1, counted=25),
    ]
    cut = Part(name="cuts", database="sqlite", seed=1, operations=Counter(send=7, drain=3), tries=14)
    cut.faults = Counter(early=4, duplicated=2)
    control = Part(name=CONTROLS[0].name, database="sqlite", seed=3)
    control.violations = [Violation(name, "request") for name in CONTROLS[0].names]
    return Proof(
        commit="abc1234",
        seed=1,
        day="2026-11-28",
        seconds=3660,
        versions={"Python": "3.11.7"},
        memories={"sqlite": Memory(3000.0, [{"carrier": 60}, {"carrier": 75}, {"carrier": 76}, {"carrier": 77}])},
        goals={"operations": 15, "kills of processes": 25},
        covers={"cuts": "Every route.", "outage": "A server that is gone.", "never": "Nothing."},
        parts=[cut, struck],
        controls=[(CONTROLS[0], control)],
        missing={"clock: a day ahead": "no C compiler"},
        left_out=Counter({"limit: little memory": 2}),
    )


def row(page: str, name: str) -> list[str]:
    (found,) = [line for line in page.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in found.strip("|").split("|")][1:]


def test_the_page_counts_each_database_and_both():
    page = report.page(proof())

    assert proof().holds
    assert row(page, "tasks sent") == ["7", "5", "12", ""]
    assert row(page, "requests cut") == ["4", "0", "4", ""]
    assert row(page, "kills of processes") == ["0", "25", "25", "25"]
    assert row(page, "kills of web workers among them") == ["0", "25", "25", ""]
    assert row(page, "faults of PostgreSQL") == ["0", "2", "2", ""]
    assert row(page, "PostgreSQL: stopped") == ["2", "1.00", "1.50", "4.25"]
    assert row(page, "killed: 25 web workers, one after the other") == ["1", "0.10", "0.10", ""]
    assert row(page, CONTROLS[0].name) == ["sqlite", "request_decided_twice 1"]
    assert "- clock: a day ahead: no C compiler" in page
    assert "- limit: little memory: no time was left for 2 strikes" in page


def test_the_page_names_its_commit_machine_memory_and_what_each_part_covers():
    page = report.page(proof())

    assert "Commit `abc1234`, 2026-11-28, 61 minutes, seed 1.\n" in page
    assert row(page, "Python") == ["3.11.7"]
    assert row(page, "sqlite") == ["carrier", "60", "75", "77", "50"]
    assert row(page, "cuts") == ["Every route.", "sqlite", "10", "0", "0"]
    assert row(page, "outage") == ["A server that is gone.", "postgresql", "5", "27", "0"]
    assert row(page, "never") == ["Nothing.", "not run", "0", "0", "0"]
    assert "This run reached each goal" in page
    assert report.begun("abc1234", 7).versions.keys() == {"Python", "SQLite", "system", "machine"}


def test_a_missed_goal_fails_the_proof():
    found = proof()
    found.goals = {"operations": 16, "kills of processes": 25}

    assert not found.holds
    assert "**Goals that this run missed: operations.**" in report.page(found)
    assert report.verdict(found) == "A goal is missed: operations 15 of 16."


def test_a_broken_promise_is_counted_and_fails_the_proof():
    found = proof()
    found.parts[0].violations = [Violation("acknowledged_task_lost", "task"), Violation("journal_gap", "task")]
    page = report.page(found)

    assert not found.holds
    assert row(page, "**tasks or results lost**") == ["1", "0", "1", "0"]
    assert row(page, "**other broken promises**") == ["1", "0", "1", "0"]
    assert "acknowledged_task_lost" in report.verdict(found)


def test_a_control_that_reports_nothing_fails_the_proof():
    found = proof()
    found.controls[0][1].violations.clear()

    assert not found.holds


def test_the_page_is_plain_english(tmp_path):
    found = proof()
    found.controls[0][1].violations += [Violation(f"promise_{number}", "request") for number in range(20)]
    (tmp_path / "reliability.md").write_text(report.page(found))
    page = File(tmp_path, "reliability.md")

    assert [fault for passage in prose.of_markdown(page) for fault in prose.faults(passage.text)] == []
