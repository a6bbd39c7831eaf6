"""kill -9 under load: all acknowledged writes survive, and the journal matches the tables."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from a2a_hub_client import Answer, HubError, Retry, UnreachableError
from a2a_hub_client import Hub as Client
from tests.load.actors import Database
from tests.load.cast import Pair, pairs
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
    """The clients of a pair, which repeat each request with the same ids until it is answered."""

    def __init__(self, url: str, pair: Pair, stop: threading.Event) -> None:
        self.ledger = Ledger()
        self._stop, self._recipient = stop, pair.worker.display
        retry = Retry(patience=GIVE_UP_AFTER, first_pause=0.05, longest_pause=0.5, on_trouble=self._note_trouble)
        self._sender, self._worker = (Client(url, party.key, retry=retry) for party in pair)

    def run(self) -> None:
        with self._sender, self._worker:
            while not self._stop.is_set():
                self.cycle()

    def cycle(self) -> None:
        """Take one task through its life. Record each step when it is acknowledged."""
        self.ledger.sent.append(str(self._sender.send(self._recipient, "survive").id))
        (leased,) = self._worker.receive().leases
        self.ledger.leased[str(leased.task.id)] = str(leased.lease.id)
        self._worker.post_result(Answer(task_id=leased.task.id, lease_id=leased.lease.id))
        self.ledger.posted.append(str(leased.task.id))
        (drained,) = self._sender.drain().results
        self.ledger.drained.append(str(drained.task_id))

    def _note_trouble(self, error: HubError) -> None:
        self.ledger.cut += isinstance(error, UnreachableError)


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
