"""The diagram and the tables of docs/reference/states.md, from the steps that `states` finds by running the verbs."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "from tests.support import states; states.main()"
BEGINNING = "absent"
NO_CHANGE = "no change"


class Step(NamedTuple):
    """A verb that was tried in a state; `scene.Step` with the names of states."""

    before: str
    verb: str
    after: str
    refused: str
    end: str
    outcome: str
    journal: Sequence[str]

    @property
    def has_effect(self) -> bool:
        return self.after != self.before or bool(self.journal)


def steps() -> Sequence[Step]:
    """Return every step from every state."""
    return [Step(_name(before), verb, _name(after), *rest) for before, verb, after, *rest in in_another_process()]


def in_another_process() -> Iterable[Any]:
    """Return what `states.steps` returns on a new database, as JSON shows it."""
    command = [sys.executable, "manage.py", "shell", "--verbosity", "0", "--command", PROGRAM]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "A2A_VAR": folder, "DATABASE_URL": "", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE)
    found: list[Any] = json.loads(done.stdout)
    return found


def diagram(steps: Iterable[Step]) -> str:
    """Return a mermaid diagram with one arrow from a state to another, named after all verbs that lead there."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for step in steps:
        if step.has_effect:
            arrows.setdefault((step.before, step.after), []).append(step.verb)
    nodes = {name: f"s{number}" for number, name in enumerate(dict.fromkeys(step.before for step in steps))}
    states = [f'  {node}(["{name.replace(", ", "<br/>", 1)}"])' for name, node in nodes.items()]
    lines = [
        f'  {nodes[before]} -- "{"<br/>".join(verbs)}" --> {nodes[after]}' for (before, after), verbs in arrows.items()
    ]
    return "\n".join(["```mermaid", "flowchart TB", *states, *lines, "```", ""])


def verbs_by_state(steps: Iterable[Step]) -> str:
    """Return a table of what each verb does in each state of a task that was sent."""
    tried = {(step.verb, step.before): step for step in steps if step.before != BEGINNING}
    names = list(dict.fromkeys(name for _, name in tried))
    rows = [[verb, *(_cell(tried[verb, name]) for name in names)] for verb in dict.fromkeys(verb for verb, _ in tried)]
    return _table(["Verb", *names], rows)


def changes(steps: Iterable[Step]) -> str:
    """Return a table of the steps that have an effect."""
    titles = ["State", "Verb", "State after it", "Lease ends by", "Outcome", "Journal"]
    rows = [
        [step.before, step.verb, step.after, _code(step.end), _code(step.outcome), _code(*step.journal)]
        for step in steps
        if step.has_effect
    ]
    return _table(titles, rows)


def _name(state: Iterable[str]) -> str:
    return ", ".join(filter(None, state))


def _cell(step: Step) -> str:
    if step.refused:
        return _code(step.refused)
    return NO_CHANGE if step.after == step.before else step.after


def _code(*words: str) -> str:
    return ", ".join(f"`{word}`" for word in words if word)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
