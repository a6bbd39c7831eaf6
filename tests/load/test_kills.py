"""kill -9 under load: all acknowledged writes survive, and the journal matches the tables."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.load.actors import Database
from tests.load.cast import Pair, Worker, must, pairs
from tests.load.client import Answer
from tests.support.hub import PATIENCE, Hub, wait_until

CLIENTS = 4
BETWEEN_KILLS = 1.2  # seconds of load before each kill, and after the last
GIVE_UP_AFTER = PATIENCE


@dataclass(slots=True)
class Ledger:
    """The writes that the hub acknowledged to one client: task ids by verb. ``cut`` counts its lost connections."""

    sent: list[str] = field(default_factory=list)
    leased: dict[str, str] = field(default_factory=dict)  # the lease id by task id
    posted: list[str] = field(default_factory=list)
    drained: list[str] = field(default_factory=list)
    cut: int = 0


class Persistent:
    """A client that repeats each request with the same ids until it is answered, as clients should."""

    def __init__(self, url: str, pair: Pair, stop: threading.Event) -> None:
        self.work = Worker(url, pair)
        self.stop = stop
        self.ledger = Ledger()

    def run(self) -> None:
        while not self.stop.is_set():
            self.cycle()
        self.work.close()

    def cycle(self) -> None:
        """Take one task through its life. Record each step when it is acknowledged."""
        task_id, attempt = str(uuid.uuid4()), {"A2A-Receive-Attempt-Id": str(uuid.uuid4())}
        sender, worker, ledger = self.work.sender, self.work.worker, self.ledger
        task = {"id": task_id, "recipient": self.work.pair.worker.display, "intent_text": "survive"}
        self.until_answered(lambda: sender.post("/a2a/tasks", task))
        ledger.sent.append(task_id)
        leased = self.until_answered(lambda: worker.get("/a2a/tasks/next", **attempt))
        lease_id = leased["lease"]["lease_id"]
        ledger.leased[leased["task"]["id"]] = lease_id
        result = {"task_id": leased["task"]["id"], "status": "ok", "lease_id": lease_id}
        self.until_answered(lambda: worker.post("/a2a/results", result))
        ledger.posted.append(leased["task"]["id"])
        drained = self.until_answered(lambda: sender.get("/a2a/results/next", **attempt))
        ledger.drained.append(drained["result"]["task_id"])

    def until_answered(self, call: Callable[[], Answer]) -> dict[str, Any]:
        give_up_at = time.monotonic() + GIVE_UP_AFTER
        while True:
            try:
                answer = call()
            except OSError:
                self.ledger.cut += 1
            else:
                if answer.status != 503:
                    return must(answer)
            assert time.monotonic() < give_up_at, "the hub did not come back"
            time.sleep(0.05)


def load_with(hub: Hub, kills: list[Callable[[], object]]) -> list[Ledger]:
    """Run clients, and kill after kill with a while of load before each. Return the clients' ledgers."""
    stop, failures = threading.Event(), []
    clients = [Persistent(hub.url, pair, stop) for pair in pairs(hub, CLIENTS)]

    def run(client: Persistent) -> None:
        try:
            client.run()
        except BaseException as failure:
            failures.append(failure)
            raise

    threads = [threading.Thread(target=run, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    try:
        for kill in kills:
            time.sleep(BETWEEN_KILLS)
            kill()
            wait_until(lambda: hub.is_up() or failures)
        time.sleep(BETWEEN_KILLS)
    finally:
        stop.set()
        for thread in threads:
            thread.join(GIVE_UP_AFTER * 2)
    assert not failures
    return [client.ledger for client in clients]


def test_acknowledged_writes_survive_killed_web_workers_and_servers(hub: Hub, database: Database) -> None:
    def a_worker() -> None:
        wait_until(hub.web_workers)
        hub.web_workers()[0].kill()

    ledgers = load_with(hub, [a_worker, a_worker, lambda: hub.web_server().kill(), a_worker])

    rows = database.act("rows")
    for ledger in ledgers:
        assert set(ledger.sent) <= set(rows["tasks"])
        assert ledger.leased.items() <= rows["leases"].items()
        assert set(ledger.posted) <= set(rows["results"])
        assert set(ledger.drained) <= set(rows["delivered"])
        assert len(set(ledger.drained)) == len(ledger.drained)
    assert sum(ledger.cut for ledger in ledgers) > 0
    assert rows["attempts"] in ([], [1])
    assert database.act("problems") == []
