"""A pair at the wire: benches measure its cycles, and tests cut its connections.

The client package would halve the rate that a bench measures on two cores.
"""

import time

from tests.load.cast import Pair
from tests.support.raw_client import RawClient, must


class RawPair:
    """The sender and the worker of a pair, each with its connection."""

    def __init__(self, url: str, pair: Pair) -> None:
        self.pair = pair
        self.sender = RawClient(url, pair.sender.key)
        self.worker = RawClient(url, pair.worker.key)

    def cycle(self, name: str) -> tuple[float, float, float, float]:
        """Take one task from send to drained; return the seconds of the four requests."""
        start = time.perf_counter()
        must(self.sender.post("/a2a/tasks", {"recipient": self.pair.worker.display, "intent_text": name}))
        sent = time.perf_counter()
        leased = must(self.worker.get("/a2a/tasks/next"))
        at_work = time.perf_counter()
        result = {"task_id": leased["task"]["id"], "status": "ok", "content": [{"type": "text", "text": name}]}
        must(self.worker.post("/a2a/results", {**result, "lease_id": leased["lease"]["lease_id"]}))
        posted = time.perf_counter()
        drained = must(self.sender.get("/a2a/results/next"))
        end = time.perf_counter()
        assert drained["result"]["content"] == result["content"]
        return sent - start, at_work - sent, posted - at_work, end - posted

    def close(self) -> None:
        self.sender.close()
        self.worker.close()
