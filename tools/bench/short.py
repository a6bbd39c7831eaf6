"""Short requests: those that do not wait. Their times show whether other requests hold them up.

The client package would add 0.7 ms to each, so a raw client sends them.
"""

import time
from collections.abc import Sequence
from contextlib import closing
from threading import Barrier
from typing import Any

from tests.load.cast import Pair
from tests.support.hub import Hub
from tests.support.raw_client import RawClient, must
from tools.bench import cycles
from tools.bench.cycles import Timings

UNANSWERED_AFTER = 5.0  # seconds


def short_requests(hub: Hub, pair: Pair, rate: float, seconds: float) -> dict[str, Any]:
    """Run paced cycles; return the milliseconds of one request, and how many requests were not answered."""
    run = cycles.in_processes(_paced, [((hub.url, pair), rate)], seconds)
    taken = [1000 * step for client in run.clients for steps in client.steps for step in steps]
    late = [one for one in taken if one >= 1000 * UNANSWERED_AFTER]
    return {**percentiles(taken), "unanswered": len(late), "requests": len(taken)}


def _paced(job: tuple[tuple[str, Pair], float], barrier: Barrier, seconds: float) -> Timings:
    """Run cycles at the rate of the job, each without a warm-up. An unanswered request ends its cycle."""
    ((url, pair), rate), timings = job, Timings()
    with closing(RawClient(url, pair.sender.key, timeout=UNANSWERED_AFTER)) as sender:
        worker = RawClient(url, pair.worker.key, timeout=UNANSWERED_AFTER)
        barrier.wait(cycles.PATIENCE)
        begun = time.perf_counter()
        while timings.seconds < seconds:
            time.sleep(max(0.0, begun + len(timings.steps) / rate - time.perf_counter()))
            timings.steps.append(_steps(sender, worker, pair))
            timings.seconds = time.perf_counter() - begun
        worker.close()
    return timings


def _steps(sender: RawClient, worker: RawClient, pair: Pair) -> tuple[float, ...]:
    """Take one task from send to drained; return the seconds of each request, to the first without an answer."""
    taken: list[float] = []
    leased: dict[str, dict[str, str]] = {}
    for verb in cycles.VERBS:
        begun = time.perf_counter()
        try:
            if verb == "send":
                must(sender.post("/a2a/tasks", {"recipient": pair.worker.display, "intent_text": "short"}))
            elif verb == "lease":
                leased = must(worker.get("/a2a/tasks/next"))
            elif verb == "result":
                names = {"task_id": leased["task"]["id"], "lease_id": leased["lease"]["lease_id"]}
                must(worker.post("/a2a/results", {"status": "ok", **names}))
            else:
                must(sender.get("/a2a/results/next"))
        except OSError:
            return (*taken, max(UNANSWERED_AFTER, time.perf_counter() - begun))
        taken.append(time.perf_counter() - begun)
    return tuple(taken)


def percentiles(taken: Sequence[float]) -> dict[str, float]:
    ordered = sorted(taken)
    return {f"p{share}": ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 99)}
