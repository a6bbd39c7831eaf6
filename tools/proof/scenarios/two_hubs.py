"""Two hubs of a scenario: one sends its tasks on to an agent of the other, and both are killed meanwhile."""

import contextlib
import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from a2a_hub_client import Answer, Hub, HubError, RefusedError, Retry
from a2a_hub_client.models.tasks import LeasedTask, QueueEntry
from tools.proof import edits, servers
from tools.proof.faults import processes
from tools.proof.forms import Strike
from tools.proof.history import History
from tools.proof.rows import Row
from tools.proof.scenarios.commands import manage
from tools.proof.stage import Stage, opened
from tools.proof.world import operator_key

BETWEEN_SENDS = 0.3  # seconds
AWAY = 2.0  # seconds between the end of a hub and its start
STUCK_AFTER = 15.0  # seconds without progress, after which an operator requeues what is in flight
DRAINED_WITHIN = 400.0
ENVIRONMENT = {"A2A_REMOTE_CONCURRENCY": "8", "A2A_RETENTION_ACKED_MS": "86400000"}
PATIENCE = 180.0  # seconds that a client repeats a request which the hub does not answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """A kill of a hub, which fell between the two times."""

    began: datetime
    ended: datetime

    def cuts(self, lease: Row) -> bool:
        """Whether the lease was live at the kill, so that the kill may have cut its submission."""
        leased_at, ended_at = (
            lease[name] and datetime.fromisoformat(lease[name]) for name in ("leased_at", "ended_at")
        )
        return leased_at <= self.ended and (ended_at is None or ended_at >= self.began)


@dataclass(slots=True, kw_only=True)
class Cast:
    """The clients: of the sender and the operator at the near hub, and of the worker at the far one.

    ``troubles`` are the errors after which a request was repeated.
    """

    sender: Hub
    operator: Hub
    worker: Hub
    troubles: list[HubError]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for client in (self.sender, self.operator, self.worker):
            client.close()


def cast_of(near: Stage, far: Stage, *, sender: str, worker: str) -> Cast:
    """Return the clients. ``sender`` and ``worker`` are keys."""
    troubles: list[HubError] = []
    retry = _patient(troubles.append)
    return Cast(
        sender=Hub(near.url, sender, retry=retry),
        operator=Hub(near.url, operator_key(near), timeout=60, retry=retry),
        worker=Hub(far.url, worker, retry=retry),
        troubles=troubles,
    )


def operator_of(stage: Stage) -> Hub:
    """Return a client of the operator, which repeats each request until the hub answers it."""
    return Hub(stage.url, operator_key(stage), timeout=60, retry=_patient())


def _patient(on_trouble: Callable[[HubError], object] | None = None) -> Retry:
    return Retry(patience=PATIENCE, first_pause=0.1, longest_pause=0.2, on_trouble=on_trouble)


@contextlib.contextmanager
def served(database: str, folder: Path, *near_changes: edits.Edit) -> Iterator[tuple[Stage, Stage]]:
    """Serve a near and a far hub for the block, each with a database of its own; the near one with these edits."""
    with contextlib.ExitStack() as stack:
        room = stack.enter_context(servers.room()) if database == "postgresql" else None
        near, far = _stage(database, folder / "near", room, near_changes), _stage(database, folder / "far", room, ())
        yield stack.enter_context(opened(near)), stack.enter_context(opened(far))


def _stage(database: str, folder: Path, room: servers.Room | None, changes: Sequence[edits.Edit]) -> Stage:
    server = room.server() if room else None
    return Stage(
        database=database,
        folder=folder,
        history=History(0),
        database_url=server.url if server else "",
        postgresql=server,
        environment=ENVIRONMENT | (edits.environment(*changes) if changes else {}),
        workers=1,
    )


def key_of_new(stage: Stage, name: str, *more: str) -> str:
    """Register an agent; return its key."""
    return str(json.loads(manage(stage, "agents", "add", name, *more, "--json"))["api_key"])


@contextlib.contextmanager
def working(
    cast: Cast, task_ids: Sequence[str], answer: Callable[[LeasedTask], Answer], recipient: str
) -> Iterator[Callable[[], None]]:
    """Send the tasks, and do the far worker's tasks, until the block ends. Raises the first failure of either.

    ``answer`` returns the result of a task. Yields a function that waits until all tasks are sent.
    """
    is_over = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        acting = [
            pool.submit(_send, cast.sender, task_ids, recipient),
            pool.submit(_work, cast.worker, answer, is_over),
        ]
        try:
            yield acting[0].result
        finally:
            is_over.set()
        for ended in acting:
            ended.result()


def _send(sender: Hub, task_ids: Sequence[str], recipient: str) -> None:
    for task_id in task_ids:
        sender.send(recipient, task_id, id=task_id)
        time.sleep(BETWEEN_SENDS)


def _work(worker: Hub, answer: Callable[[LeasedTask], Answer], is_over: threading.Event) -> None:
    while not is_over.is_set():
        for leased in worker.receive(wait=0.5).leases:
            worker.post_result(answer(leased))


def strikes(near: Stage, far: Stage, rng: random.Random, kills: list[Kill]) -> Iterator[Strike]:
    """Kill the far hub, the near one, and the near carrier; start each again. Note kills of the far hub."""
    for name, stage, agent in (("far hub killed", far, "wendy"), ("near hub killed", near, "anna")):
        time.sleep(AWAY)
        began, killed_at = datetime.now(UTC), time.monotonic()
        stage.kill_hub()
        if stage is far:
            kills.append(Kill(began=began, ended=datetime.now(UTC)))
        time.sleep(AWAY)
        over = time.monotonic()
        stage.start_hub()
        back = written(stage, agent)
        yield Strike(name=name, recovery=back - over, silence=back - killed_at)
    yield killed("carrier", near, rng)


def killed(role: str, near: Stage, rng: random.Random) -> Strike:
    """Kill one process of the near hub with this role; return when the hub has acknowledged a write."""
    processes.killed(role)(near, rng)
    over = time.monotonic()
    return Strike(name=f"near {role} killed", recovery=written(near, "anna") - over)


def written(stage: Stage, agent: str) -> float:
    """Return the time at which the hub acknowledged a write, which sets a quota of the agent to its default."""
    with operator_of(stage) as operator:
        operator.set_quotas(agent, {"waits": None})
    return time.monotonic()


def drain(operator: Hub, *, requeues: bool) -> None:
    """Wait until each task is resolved. With ``requeues`` the operator requeues leases when nothing moves any more."""
    before, changed_at = -1, time.monotonic()
    give_up_at = changed_at + DRAINED_WITHIN
    while left := list(operator.queue()):
        now = time.monotonic()
        if len(left) != before:
            before, changed_at = len(left), now
        elif requeues and now - changed_at > STUCK_AFTER:
            _requeue(operator, left)
            changed_at = now
        assert now < give_up_at, f"tasks are left: {[(one.task.id, one.state, one.lease_id) for one in left]}"
        time.sleep(0.5)


def _requeue(operator: Hub, left: Sequence[QueueEntry]) -> None:
    for one in left:
        if one.state == "in_flight":
            task = operator.task(one.task.id)
            with contextlib.suppress(RefusedError):  # it ended meanwhile
                task.requeue("its submission was cut", duplicate_risk="operator_accepted", lease_id=one.lease_id)
