"""Each name of a violation has a planted fault that the proof names by it."""

import ast
import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tools.proof import test_handlers
from tests.tools.proof.recorded import test_checker, test_rules_batches, test_rules_official
from tests.tools.proof.scenarios import test_scenarios
from tools.proof import forms, handlers, long
from tools.proof.evidence import Violation
from tools.proof.faults.fault import Fault
from tools.proof.forms import Part
from tools.proof.history import History
from tools.proof.scenarios import backup, two_trees
from tools.proof.scenarios.scenario import Scenario

pytestmark = pytest.mark.one_database

RECORDED = (test_checker, test_rules_batches, test_rules_official)
PROOF = Path(forms.__file__).parent
Patch = pytest.MonkeyPatch


def in_code() -> set[str]:
    """Return the names in all modules of the proof. Each must be a text, so that this test knows it."""
    found = set()
    for path in PROOF.rglob("*.py"):
        tree = ast.parse(path.read_text())
        texts = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Violation":
                found |= set(_texts(node.args[0], texts))
    return found


def _texts(name: ast.expr, texts: Mapping[str, ast.expr]) -> Iterator[str]:
    if isinstance(name, ast.IfExp):
        yield from _texts(name.body, texts)
        yield from _texts(name.orelse, texts)
    else:
        value = texts[name.id] if isinstance(name, ast.Name) else name
        assert isinstance(value, ast.Constant), ast.unparse(name)
        assert isinstance(value.value, str)
        yield value.value


def a_fault_that_breaks_its_promise(patch: Patch, folder: Path) -> Iterable[Violation]:
    def strike(*_: Any) -> None:
        raise AssertionError("/readyz says nothing of it")

    load = SimpleNamespace(history=History(1))
    patch.setattr(forms, "loading", lambda *_, **__: contextlib.nullcontext(load))
    patch.setattr(forms, "part_of", lambda *_: Part(name="faults", database="sqlite", seed=1))
    stage: Any = SimpleNamespace(restart_hub=lambda: None)
    return forms.struck(stage, 1, "faults", [Fault(name="silent", strike=strike)]).violations


def a_scenario_that_ends(patch: Patch, folder: Path) -> Iterable[Violation]:
    def run(*_: Any) -> Any:
        raise AssertionError("the hub does not start")

    ending = Scenario(name="ending", covers="nothing", run=run)
    return [found for part in long.played(ending, "sqlite", folder, 1) for found in part.violations]


def a_torn_backup(patch: Patch, folder: Path) -> Iterable[Violation]:
    def refuse(*_: Any) -> str:
        raise AssertionError("a2a restore: the file is torn")

    patch.setattr(backup, "manage", refuse)
    return backup.restored("sqlite", folder / "hub", folder / "file", History(1), 5.0)


def frozen_workers_that_nobody_took_over(patch: Patch, folder: Path) -> Iterable[Violation]:
    patch.setattr(handlers, "_struck", lambda *_, **__: Part(name="frozen", database="sqlite", seed=1))
    stage: Any = None
    return handlers.frozen(stage, 1, sends=1, freezes=1).violations


def keys_that_are_printed_twice(patch: Patch, folder: Path) -> Iterable[Violation]:
    stages: Any = [SimpleNamespace(first_output="API key")] * 2
    return two_trees.printed_once(stages)


def a_job_that_is_scheduled_twice(patch: Patch, folder: Path) -> Iterable[Violation]:
    session = SimpleNamespace(execute=lambda _: SimpleNamespace(fetchall=lambda: [("sweep", 2)]))
    server: Any = SimpleNamespace(connect=lambda: contextlib.nullcontext(session))
    return two_trees.scheduled_once(server)


PLANTED: Mapping[str, Callable[[Patch, Path], Iterable[Violation]]] = {
    "fault_promise_broken": a_fault_that_breaks_its_promise,
    "part_failed": a_scenario_that_ends,
    "backup_torn": a_torn_backup,
    "frozen_worker_kept_its_tasks": frozen_workers_that_nobody_took_over,
    "keys_not_printed_once": keys_that_are_printed_twice,
    "job_not_scheduled_once": a_job_that_is_scheduled_twice,
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_of_a_scenario_is_named(name, monkeypatch, tmp_path):
    assert name in {violation.name for violation in PLANTED[name](monkeypatch, tmp_path)}


def test_each_name_of_a_violation_has_a_planted_fault():
    in_runs = {name for tests in RECORDED for _, name in tests.PLANTED.values()}

    assert in_code() == in_runs | PLANTED.keys() | test_scenarios.NAMED | test_handlers.NAMED
