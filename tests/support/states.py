"""The steps between the states of a task, derived by trying every verb in every state."""

import json
from collections.abc import Sequence

import time_machine
from django.core.management import call_command

from tests.support.scene import ABSENT, ATTEMPTS, BEGINNINGS, START, Scene, State, Step


def main() -> None:
    """Print the steps as JSON. The database must be a new one, which is migrated first."""
    call_command("migrate", verbosity=0)
    print(json.dumps(steps()))  # noqa: T201


def steps() -> Sequence[Step]:
    """Return each step from each state. A state that a step reaches first is explored next."""
    taken: list[Step] = []
    reached = {ABSENT}

    def explore(state: State, path: Sequence[str]) -> None:
        for step in _steps_from(state, path):
            taken.append(step)
            if step.after not in reached:
                reached.add(step.after)
                explore(step.after, (*path, step.verb))

    explore(ABSENT, ())
    return taken


def _steps_from(before: State, path: Sequence[str]) -> Sequence[Step]:
    """Try each verb in one state, which the verbs of ``path`` lead to.

    A verb that changes nothing needs no new scene.
    """
    verbs = list(BEGINNINGS if before == ABSENT else ATTEMPTS)
    taken: list[Step] = []
    while verbs:
        with time_machine.travel(START, tick=False) as clock:
            scene = Scene(clock)
            for verb in path:
                scene.take(verb)
            while verbs and scene.state() == before:
                taken.append(scene.take(verbs.pop(0)))
    return taken
