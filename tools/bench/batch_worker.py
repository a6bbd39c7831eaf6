"""A worker in a process of its own, which leases tasks in batches over HTTP and echoes each one."""

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil

from a2a_hub_client import Answer, Hub
from a2a_hub_client.models.tasks import LeasedTask
from tools.bench.cycles import PATIENCE

WAIT = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class BatchWorker:
    """The running worker. ``counted`` holds how many batches and how many tasks it leased."""

    process: psutil.Process
    counted: Any

    def counts(self) -> tuple[int, int]:
        batches, tasks = self.counted
        return batches, tasks


@contextmanager
def working(url: str, key: str, size: int) -> Iterator[BatchWorker]:
    """Let the agent of this key echo every task that it gets, until the block ends."""
    context = multiprocessing.get_context("spawn")
    counted = context.RawArray("L", 2)
    process = context.Process(target=_work, args=(url, key, size, counted), daemon=True)
    process.start()
    try:
        yield BatchWorker(psutil.Process(process.pid), counted)
    finally:
        process.terminate()
        process.join(PATIENCE)


def _work(url: str, key: str, size: int, counted: Any) -> None:
    with Hub(url, key) as worker:
        while True:
            leased = worker.receive(most=size, wait=WAIT).leases
            if leased:
                assert worker.post_results([echo(one) for one in leased]).refused == []
                counted[1] += len(leased)  # first, so that a reader never sees a batch without its tasks
                counted[0] += 1


def echo(leased: LeasedTask) -> Answer:
    """Return the result of one leased task: its own text."""
    return Answer(task_id=leased.task.id, lease_id=leased.lease.id, content=leased.task.text)
