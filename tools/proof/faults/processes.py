"""Kills of the hub's processes: each role, each pair of roles, and the whole tree, with SIGKILL."""

import contextlib
import itertools
import random
import time
from collections.abc import Callable, Sequence

import psutil

from tests.support.hub import command_of, has_ended
from tools.proof.faults.fault import Fault
from tools.proof.faults.readiness import require_ready
from tools.proof.stage import Stage

SUPERVISOR = "supervisor"
WORKER = "web worker"
# A word of the command line of each program that the supervisor starts.
PROGRAMS = {"granian": "web server", "cluster": "task cluster", "carry": "carrier"}
CHILDREN = {"web server": WORKER}
ROLES = (SUPERVISOR, *PROGRAMS.values(), *CHILDREN.values())
END_WITHIN = 30.0  # seconds; the hub's own limits sum up to 10, and the machine is busy
WHOLE_WITHIN = 90.0
THREADS_WHILE_LOADING = 3  # at most, of a web worker


class OutlivingProcessError(AssertionError):
    """A process outlived the supervisor, or the hub did not become whole again."""


def roles(stage: Stage) -> dict[str, list[psutil.Process]]:
    """Return the running processes of the hub by role; {} if the supervisor has ended."""
    found: dict[str, list[psutil.Process]] = {}
    with contextlib.suppress(psutil.NoSuchProcess):
        supervisor = psutil.Process(stage.hub.process.pid)
        found[SUPERVISOR] = [supervisor]
        for program in supervisor.children():
            role = next((role for word, role in PROGRAMS.items() if word in command_of(program)), "")
            found.setdefault(role, []).append(program)
            for child in program.children(recursive=True):
                found.setdefault(CHILDREN.get(role, role), []).append(child)
    alive = {role: [process for process in processes if not has_ended(process)] for role, processes in found.items()}
    return {role: processes for role, processes in alive.items() if processes and role}


def killed(*victims: str) -> Callable[[Stage, random.Random], None]:
    """Return a strike that kills one process of each role at once, and waits until the hub serves whole again."""

    def strike(stage: Stage, rng: random.Random) -> None:
        await_whole(stage)
        tree = roles(stage)
        _kill([rng.choice(tree[role]) for role in victims])
        _settle(stage, tree)

    return strike


def kill_everything(stage: Stage, _: random.Random) -> None:
    """Kill every process of the hub, and start it again."""
    await_whole(stage)
    tree = roles(stage)
    _kill([process for processes in tree.values() for process in processes])
    _settle(stage, tree)


def workers_killed(count: int, pause: float = 0.1) -> Callable[[Stage, random.Random], None]:
    """Return a strike that kills web workers one after the other, the oldest first, while another one runs.

    The web server gives up on a worker that dies twice within six seconds. The oldest one has run for longer.
    """

    def strike(stage: Stage, _: random.Random) -> None:
        for _number in range(count):
            _await(lambda: len(_loaded_workers(stage)) > 1, "no second web worker")
            _kill([min(_loaded_workers(stage), key=psutil.Process.create_time)])
            time.sleep(pause)
        await_whole(stage)

    return strike


def _loaded_workers(stage: Stage) -> list[psutil.Process]:
    """Return the web workers that have loaded the hub. Only then do they start the threads that answer requests."""
    loaded = []
    for worker in roles(stage).get(WORKER, ()):
        with contextlib.suppress(psutil.NoSuchProcess):
            loaded += [worker] if worker.num_threads() > THREADS_WHILE_LOADING else []
    return loaded


def await_whole(stage: Stage) -> None:
    """Wait until each role runs and the hub is ready. Raises `OutlivingProcessError` if it does not."""
    expected = [role for role in ROLES if _is_served(stage, role)]
    _await(
        lambda: all(role in roles(stage) for role in expected) and len(roles(stage)[WORKER]) >= stage.workers,
        "the hub is not whole again",
    )
    require_ready(stage)


def _settle(stage: Stage, tree: dict[str, list[psutil.Process]]) -> None:
    """Wait until nothing is left of a hub whose supervisor was killed, and start it; or until it is whole again."""
    if has_ended(tree[SUPERVISOR][0]):
        processes = [process for found in tree.values() for process in found]
        _await(lambda: all(has_ended(one) for one in processes), "processes outlive the supervisor", END_WITHIN)
        stage.restart_hub()
    await_whole(stage)


def _is_served(stage: Stage, role: str) -> bool:
    """Whether the stage's hub runs the role: `serve --only web` runs the web server alone."""
    return stage.services == "all" or role in (SUPERVISOR, "web server", WORKER)


def _kill(processes: Sequence[psutil.Process]) -> None:
    """Kill the processes; return when they have ended."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    _await(lambda: all(has_ended(process) for process in processes), "killed processes run")


def _await(condition: Callable[[], bool], problem: str, within: float = WHOLE_WITHIN) -> None:
    give_up_at = time.monotonic() + within
    while not condition():
        if time.monotonic() > give_up_at:
            raise OutlivingProcessError(f"{problem} after {within:.0f} s")
        time.sleep(0.05)


def _fault(*victims: str, is_short: bool = False) -> Fault:
    return Fault(name=f"killed: {' and '.join(victims)}", strike=killed(*victims), is_short=is_short)


FAULTS = (
    *(_fault(role, is_short=role in (SUPERVISOR, WORKER, "web server")) for role in ROLES),
    *(_fault(*two) for two in itertools.combinations(ROLES, 2)),
    Fault(name="killed: the whole hub", strike=kill_everything, times=2),
    Fault(name="killed: 25 web workers, one after the other", strike=workers_killed(25), times=17, counted=25),
)
