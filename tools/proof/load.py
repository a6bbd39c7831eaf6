"""A load: actors that send and work through the proxy, until all their tasks are drained."""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from a2a_hub_client import Hub as Client
from a2a_hub_client import HubError, Retry
from tools.proof.actors import PATIENCE
from tools.proof.batch_workers import BatchWorker
from tools.proof.callbacks import Hooks, receiving
from tools.proof.drainers import BatchDrainer, Drainer
from tools.proof.history import History
from tools.proof.mix import Mix
from tools.proof.official import Follower, OfficialSender
from tools.proof.operators import Keeper, Operator
from tools.proof.proxy import USUAL, Proxy, proxied
from tools.proof.senders import Sender
from tools.proof.stage import Stage
from tools.proof.workers import Worker
from tools.proof.world import World, operator_key, populate

AGENTS = 2  # senders, and workers
THREADS = 2  # of each agent; the second works in batches
STUCK_AFTER = 8.0  # seconds without a change, after which the leases without a worker are repaired
DRAINED_WITHIN = 90.0  # seconds without a change, after which the load has failed
OPERATIONS_PER_SEND = 6  # on average: a receive, a result, a drain, an acknowledgement and looks


class Load:
    """The actors of a run. They act until `finish`."""

    def __init__(self, world: World, proxy: Proxy, hooks: Hooks) -> None:
        self.world = world
        self.proxy = proxy
        self.hooks = hooks
        self._senders: list[threading.Thread] = []
        self._others: list[threading.Thread] = []
        self._operator = Client(world.stage.url, world.operator_key, timeout=60, retry=Retry(patience=0))

    @property
    def history(self) -> History:
        return self.world.history

    def start(self) -> None:
        world = self.world
        world.sending.set()
        world.working.set()
        crews, drainages = world.crews * THREADS, world.drainages * THREADS
        workers = [Worker] * AGENTS + [BatchWorker if world.mix.batches else Worker] * (len(crews) - AGENTS)
        drainers = [Drainer] * AGENTS + [BatchDrainer if world.mix.batches else Drainer] * (len(drainages) - AGENTS)
        self._others = [kind(world, number, crews[number]).start() for number, kind in enumerate(workers)]
        self._others += [kind(world, number, drainages[number]).start() for number, kind in enumerate(drainers)]
        self._others += [Operator(world, 0).start(), Keeper(world).start()]
        self._senders = [Sender(world, number, drainage).start() for number, drainage in enumerate(drainages)]
        if world.mix.official:
            self._others += [Follower(world, number).start() for number in range(THREADS)]
            callers = enumerate(world.drainages, len(drainages))
            self._senders += [OfficialSender(world, number, drainage).start() for number, drainage in callers]

    def wait_until_sent(self) -> None:
        """Wait until the senders have used up their sends."""
        for thread in self._senders:
            while thread.is_alive() and not self.world.failures:
                thread.join(0.2)

    def finish(self) -> None:
        """Let no more tasks be sent, and wait until all tasks are resolved and all results drained and acknowledged."""
        self.world.sending.clear()
        self.wait_until_sent()
        try:
            self._settle()
        finally:
            self.world.working.clear()
            for thread in self._others:
                thread.join(PATIENCE)
        if self.world.mix.looks:
            self._look_once_more()
        self._wait_for_calls()
        if self.world.failures:
            raise self.world.failures[0]
        self.history.note(
            "proxy", requests=self.proxy.requests, counts=_listed(self.proxy.counts + self._cuts_of_streams())
        )

    def _cuts_of_streams(self) -> Counter[tuple[str, str]]:
        return Counter((fault, one.route) for one in self.history.of("follow") for fault in one.faults)

    def _look_once_more(self) -> None:
        """Let each sender look for results that it does not know of, now that no receive is under way."""
        for number, drainage in enumerate(self.world.drainages):
            with contextlib.closing(Drainer(self.world, 100 + number, drainage)) as last:
                last.look()
                last.finish()

    def close(self) -> None:
        self._operator.close()

    def _settle(self) -> None:
        before: object = None
        changed_at = repaired_at = time.monotonic()
        while (left := self._left()) and not self.world.failures:
            now = time.monotonic()
            if left != before:
                before, changed_at = left, now
            if now - max(changed_at, repaired_at) > STUCK_AFTER:
                self._repair(left)
                repaired_at = now
            if now - changed_at > DRAINED_WITHIN:
                self.history.note("not_drained", left=[list(map(str, one)) for one in left])
                return
            time.sleep(0.2)

    def _left(self) -> Sequence[tuple[Any, ...]]:
        """Return (task id, state, lease id) of each task that is not resolved, and of each pending result."""
        with contextlib.suppress(HubError):
            tasks = [(entry.task.id, entry.state, entry.lease_id) for entry in self._operator.queue()]
            return [*tasks, *((result.task_id, "pending", None) for result in self._operator.pending_results())]
        return [("", "unknown", None)]

    def _repair(self, left: Sequence[tuple[Any, ...]]) -> None:
        """Requeue the leases that no worker ends, and end the unanswered questions, as an operator would."""
        for task_id, state, lease_id in left:
            with contextlib.suppress(HubError):
                if state == "in_flight":
                    self.history.note("stuck", task_id=str(task_id), lease_id=str(lease_id))
                    task = self._operator.task(task_id)
                    task.requeue("no worker has it", duplicate_risk="operator_accepted", lease_id=lease_id)
                if state == "interrupted":
                    self._operator.task(task_id).fail("no sender answers", reason="no worker has it")

    def _wait_for_calls(self) -> None:
        """Wait for all callbacks, and for the last event of each webhook. Note the callbacks that never came."""
        if self.world.stage.services != "all":  # a part of the hub, which may have no carrier
            return
        wanted = {f"/{url.rpartition('/')[2]}" for url in _hooks_of(self.history)}
        told = dict(_webhooks_of(self.history))
        give_up_at = time.monotonic() + DRAINED_WITHIN
        while not (wanted <= set(self.hooks.accepted) and all(map(self.hooks.is_over, told))):
            if time.monotonic() > give_up_at:
                break
            time.sleep(0.1)
        for path, task_id in told.items():
            self.history.note("webhook", task_id=task_id, calls=self.hooks.calls[path])
        called = {path: self.hooks.accepted[path] for path in wanted}
        self.history.note(
            "callbacks", wanted=len(wanted), missing=[path for path, times in called.items() if not times]
        )


def _hooks_of(history: History) -> Iterator[str]:
    for sent in history.acknowledged("send"):
        if url := sent.facts.get("task", {}).get("callback_url"):
            yield url


def _webhooks_of(history: History) -> Iterator[tuple[str, str]]:
    """Yield the path and the task of each webhook."""
    for sent in history.acknowledged("send"):
        if path := sent.facts.get("hook"):
            yield path, sent.facts["task_ids"][0]


def _listed(counts: Mapping[tuple[str, str], int]) -> list[list[Any]]:
    return [[*key, count] for key, count in sorted(counts.items())]


@contextlib.contextmanager
def loading(
    stage: Stage, seed: int, *, sends: int | None = None, rates: Mapping[str, float] = USUAL, mix: Mix | None = None
) -> Iterator[Load]:
    """Load the stage's hub for the block, and drain it at the end. The stage gets a new history with ``seed``.

    ``sends`` bounds the number of sends; without it senders send until the block ends. One hub may be loaded several
    times, each time with another seed.
    """
    history = History(seed, stage.folder / f"history-{seed}.jsonl")
    stage.history.close()
    stage.history = history
    address = ("127.0.0.1", stage.port)
    with receiving(seed) as hooks, proxied(address, history, rates) as proxy:
        world = World(
            stage=stage,
            history=history,
            url=proxy.url,
            hook=hooks.url,
            mix=mix or Mix(),
            operator_key=operator_key(stage),
            left=sends,
        )
        populate(world, senders=AGENTS, workers=AGENTS)
        load = Load(world, proxy, hooks)
        load.start()
        try:
            yield load
            load.finish()
        finally:
            world.sending.clear()
            world.working.clear()
            load.close()
            history.close()


def run_load(
    stage: Stage,
    seed: int,
    operations: int,
    rates: Mapping[str, float] = USUAL,
    *,
    mix: Mix | None = None,
    beside: Callable[[Load], None] | None = None,
) -> History:
    """Run a load of about that many operations, and drain it. ``beside`` runs beside it, such as kills."""
    with loading(stage, seed, sends=max(1, operations // OPERATIONS_PER_SEND), rates=rates, mix=mix) as load:
        if beside is not None:
            beside(load)
        load.wait_until_sent()
    return load.history
