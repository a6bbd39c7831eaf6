"""Runs cycles in many client processes at once, and measures them."""

import itertools
import multiprocessing
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from threading import Barrier
from typing import Any

import psutil

from tests.load.cast import Pair
from tests.load.raw_pair import RawPair
from tests.support.raw_client import must

VERBS = ("send", "lease", "result", "drain")
WARM_UP = 5
PATIENCE = 120

Steps = tuple[float, ...]


@dataclass(slots=True)
class Timings:
    """The measurements of one client: the seconds of each step of each cycle, and its own CPU seconds."""

    steps: list[Steps] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0


@dataclass(slots=True)
class Run:
    """The measurements of all clients in one run."""

    clients: list[Timings]

    @property
    def cycles(self) -> int:
        return sum(len(client.steps) for client in self.clients)

    @property
    def per_second(self) -> float:
        return self.cycles / max(client.seconds for client in self.clients)

    @property
    def client_cpu(self) -> float:
        return sum(client.cpu for client in self.clients)

    def percentile(self, step: int, percent: float) -> float:
        """Return the milliseconds within which ``percent`` of this step's calls ended."""
        ordered = sorted(one[step] for client in self.clients for one in client.steps)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] * 1000


def in_processes(work: Callable[..., Timings], jobs: Sequence[Any], seconds: float) -> Run:
    """Run ``work(job, barrier, seconds)`` for each job in its own process. All start together."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(len(jobs), context) as pool:
        barrier = manager.Barrier(len(jobs))
        together = itertools.repeat(barrier), itertools.repeat(seconds)
        return Run(list(pool.map(work, jobs, *together, timeout=seconds + 2 * PATIENCE)))


def timed(steps: Iterable[Steps], barrier: Barrier, seconds: float) -> Timings:
    """Warm up, wait for the other processes, then take steps for ``seconds``."""
    timings, steps = Timings(), iter(steps)
    for _ in range(WARM_UP):
        next(steps)
    barrier.wait(PATIENCE)
    cpu, begun = time.process_time(), time.perf_counter()
    while timings.seconds < seconds:
        timings.steps.append(next(steps))
        timings.seconds = time.perf_counter() - begun
    timings.cpu = time.process_time() - cpu
    return timings


def over_http(job: tuple[str, Pair], barrier: Barrier, seconds: float) -> Timings:
    """Run the full cycles of one pair against the hub at ``job[0]``."""
    with closing(RawPair(*job)) as worker:
        return timed((worker.cycle(str(number)) for number in itertools.count()), barrier, seconds)


def paced(job: tuple[tuple[str, Pair], float], barrier: Barrier, seconds: float) -> Timings:
    """Run the full cycles of one pair, at most that many per second."""
    (address, rate), due = job, time.perf_counter()
    with closing(RawPair(*address)) as worker:

        def cycle(number: int) -> tuple[float, ...]:
            nonlocal due
            due = max(due + 1 / rate, time.perf_counter() - 1)
            time.sleep(max(0.0, due - time.perf_counter()))
            return worker.cycle(str(number))

        return timed((cycle(number) for number in itertools.count()), barrier, seconds)


def leases_over_http(job: tuple[str, Pair], barrier: Barrier, seconds: float) -> Timings:
    """Lease the queued tasks of one pair's worker, one after the other."""
    with closing(RawPair(*job)) as worker:

        def lease() -> Steps:
            begun = time.perf_counter()
            answer = must(worker.worker.get("/a2a/tasks/next"))
            ended = time.perf_counter()
            assert answer["task"], "the backlog is used up"
            return (ended - begun,)

        return timed((lease() for _ in itertools.count()), barrier, seconds)


def cpu_seconds(processes: Sequence[psutil.Process]) -> dict[int, float]:
    """Return the CPU seconds that each of these processes has used, by process id. Leaves out vacuuming."""
    used = {}
    for process in processes:
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if "autovacuum" not in " ".join(process.cmdline()):
                used[process.pid] = sum(process.cpu_times()[:2])
    return used


def spent(before: dict[int, float], after: dict[int, float]) -> float:
    """Return the CPU seconds between two measurements. Processes that have ended meanwhile are left out."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())
