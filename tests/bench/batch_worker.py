"""A worker in a process of its own, which leases tasks in batches over HTTP and echoes each one."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil

from tests.bench.cycles import PATIENCE
from tests.load.cast import must
from tests.load.client import Client

WAIT_MS = 10_000


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
    with Client(url, key) as worker:
        while True:
            leased = must(worker.post("/a2a/tasks/lease", {"max": size, "wait_ms": WAIT_MS}))["leases"]
            if leased:
                posted = must(worker.post("/a2a/results/batch", {"results": [echo(one) for one in leased]}))
                assert posted["refused"] == []
                counted[1] += len(leased)  # first, so that a reader never sees a batch without its tasks
                counted[0] += 1


def echo(leased: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of one leased task: its own text."""
    content = [{"type": "text", "text": leased["task"]["intent_text"]}]
    names = {"task_id": leased["task"]["id"], "lease_id": leased["lease"]["lease_id"]}
    return {**names, "status": "ok", "content": content}
