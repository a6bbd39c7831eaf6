"""The long form goes on until its faults have struck and its goals are reached, or its time is over."""

import contextlib
import itertools
from collections import Counter
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from tools.proof import __main__ as proving
from tools.proof import controls, forms, long, report
from tools.proof.faults.fault import Fault
from tools.proof.forms import Part, Strike
from tools.proof.report import GOALS, Proof

pytestmark = pytest.mark.one_database


@pytest.fixture
def course(monkeypatch, tmp_path):
    """Return a function that runs the loads with that many operations and cuts in each, and a clock of seconds."""
    faults = [Fault(name="gone", strike=lambda *_: None)] * (long.STRIKES + 1)
    monkeypatch.setattr(forms, "faults_for", lambda *_, **__: faults)
    monkeypatch.setattr(forms, "staged", lambda *_, **__: contextlib.nullcontext(SimpleNamespace(postgresql=None)))
    monkeypatch.setattr(forms, "memory", lambda _: {"carrier": 60})

    def run(operations: int, ends_at: float, proof: Proof | None = None) -> tuple[Proof, list[Part]]:
        def made(_: object, seed: int, name: str, struck: object = (), **__: object) -> Part:
            part = Part(name=name, database="sqlite", seed=seed, operations=Counter(send=operations))
            part.faults["early"] = operations
            part.strikes = [Strike(name="gone", recovery=0.1) for _ in struck]  # type: ignore[attr-defined]
            return part

        clock = itertools.count()
        monkeypatch.setattr(long, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        monkeypatch.setattr(forms, "loaded", made)
        monkeypatch.setattr(forms, "struck", made)
        proof = proof or Proof()
        return proof, [*long.loads(proof, "sqlite", tmp_path / "sqlite", 1, ends_at)]

    return run


def test_loads_go_on_after_the_last_fault_until_the_goals_are_reached(course):
    proof, parts = course(int(GOALS["operations"] / 5), 1_000)

    assert [part.name for part in parts] == [long.CUTS, long.FAULTS, long.CUTS, long.FAULTS, long.CUTS]
    assert sum(len(part.strikes) for part in parts) == long.STRIKES + 1
    assert len({part.seed for part in parts}) == len(parts)
    assert (len(proof.memories["sqlite"].measured), proof.left_out) == (4, Counter())


def test_the_loads_of_another_database_add_to_the_goals(course, tmp_path):
    (tmp_path / "counts").write_text(f"{GOALS['operations']} {GOALS['requests cut']}\n")
    proof, parts = course(1, 1_000)

    assert [part.name for part in parts] == [long.CUTS, long.FAULTS, long.CUTS, long.FAULTS]
    assert proof.left_out == Counter()


def test_a_control_that_fails_reports_nothing_and_the_scenarios_follow(monkeypatch, tmp_path, capsys):
    def fail(*_: object) -> Part:
        raise TypeError("no answer")

    scenario = SimpleNamespace(name="any", databases=("sqlite",), missing=lambda: None)
    monkeypatch.setattr(controls, "run", fail)
    monkeypatch.setattr(long, "SCENARIOS", [scenario])
    followed = Part(name="scenario", database="sqlite", seed=9)
    monkeypatch.setattr(long, "played", lambda *_: [followed])

    proof = proving._prove(partial(long.scenes, database="sqlite", folder=tmp_path, seed=1))

    of_sqlite = [control.name for control in controls.CONTROLS if "sqlite" in control.databases]
    assert (proof.silent, proof.parts) == (of_sqlite, [followed])
    assert len({part.seed for _, part in proof.controls}) == len(of_sqlite)
    assert capsys.readouterr().out.count("TypeError: no answer") == len(of_sqlite)


def test_no_load_begins_when_the_time_is_over_and_the_faults_that_are_left_are_counted(course):
    proof, parts = course(1, 3)

    assert [part.name for part in parts] == [long.CUTS, long.FAULTS]
    assert proof.left_out == Counter(gone=1)


def test_a_run_goes_on_with_the_faults_and_seeds_that_are_left(course):
    earlier, first = course(1, 3)
    earlier.parts += first

    proof, parts = course(int(GOALS["operations"] / 3), 1_000, earlier)

    assert [len(part.strikes) for part in parts] == [0, 1, 0]
    assert not {part.seed for part in first} & {part.seed for part in parts}
    assert len(proof.memories["sqlite"].measured) == 3  # of the longer sitting


def test_what_a_run_has_is_kept_and_what_failed_by_itself_is_repeated(monkeypatch, tmp_path):
    other = SimpleNamespace(name="other", databases=("sqlite",), missing=lambda: None)
    ran: list[str] = []

    def played(scenario: Any, *_: object) -> list[Part]:
        ran.append(scenario.name)
        part = Part(name="other", database="sqlite", seed=9, scenario="other")
        return [part if len(ran) == 2 else forms.failed("other", "sqlite", 9, TimeoutError("too\n\n`late`"))]

    monkeypatch.setattr(controls, "CONTROLS", [])
    monkeypatch.setattr(long, "SCENARIOS", [other])
    monkeypatch.setattr(long, "played", played)
    work, kept = partial(long.scenes, database="sqlite", folder=tmp_path, seed=1), tmp_path / "scenes sqlite"

    first, second, third = (proving._prove(work, kept) for _ in range(3))

    assert (first.violations, ran) == (["part_failed"], ["other", "other"])
    problem = "part_failed other TimeoutError: too 'late'"
    assert [(each.violations, each.repeated) for each in (second, third)] == [([], Counter([problem]))] * 2
    assert f"was repeated (1): `{problem}`" in report.page(third)
    assert [part.name for part in third.parts] == ["other"]


def test_what_a_work_finds_after_its_last_part_is_kept(tmp_path):
    def work(proof: Proof) -> Iterator[Part]:
        yield Part(name="cuts", database="sqlite", seed=1)
        proof.versions["SQLite"] = "3"

    proving._prove(work, tmp_path / "loads sqlite")

    assert proving._prove(lambda _: [], tmp_path / "loads sqlite").versions == {"SQLite": "3"}


def test_parts_of_another_commit_are_not_gone_on_with(tmp_path):
    folder = proving._kept(tmp_path / "proof", "abc")
    (folder / "loads sqlite").write_text("")

    assert (proving._kept(folder, "abc") / "loads sqlite").exists()
    assert not (proving._kept(folder, "def") / "loads sqlite").exists()


def test_loads_that_fail_are_a_broken_promise_beside_those_that_did_not(course, monkeypatch):
    def unreachable(*_: object, **__: object) -> Part:
        raise AssertionError("the hub is not whole again")

    monkeypatch.setattr(forms, "memory", unreachable)
    _, parts = course(1, 3)

    assert [str(found) for part in parts for found in part.violations] == [
        "part_failed loads AssertionError: the hub is not whole again"
    ]
