"""Tasks that one hub carries to another, while either is killed and started again."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.proof import rows, servers
from tests.proof.evidence import Violation
from tests.proof.faults import processes
from tests.proof.forms import Part, Strike
from tests.proof.history import History
from tests.proof.rows import Row, Rows
from tests.proof.scenarios.commands import manage
from tests.proof.scenarios.patient import Patient
from tests.proof.scenarios.scenario import Scenario
from tests.proof.stage import Stage, opened
from tests.proof.world import operator_key

TASKS = 60
UNANSWERED = "no answer from"
ROUNDS = 2
BETWEEN_SENDS = 0.3  # seconds
AWAY = 2.0  # seconds between the end of a hub and its start
STUCK_AFTER = 15.0  # seconds without progress, after which an operator requeues what is in flight
DRAINED_WITHIN = 400.0
AT_ONCE = 8
ENVIRONMENT = {"A2A_REMOTE_CONCURRENCY": str(AT_ONCE), "A2A_RETENTION_ACKED_MS": "86400000"}


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
    """The clients: of the sender and the operator at the near hub, and of the worker at the far one."""

    sender: Patient
    operator: Patient
    worker: Patient

    @property
    def tries(self) -> int:
        return self.sender.tries + self.operator.tries + self.worker.tries


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Send tasks to an agent of the near hub whose work the far hub does, and kill both hubs meanwhile."""
    began, rng = time.monotonic(), random.Random(seed)
    part = Part(name="tasks carried to another hub", database=database, seed=seed)
    task_ids = [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(TASKS)]
    with contextlib.ExitStack() as stack:
        room = stack.enter_context(servers.room()) if database == "postgresql" else None
        near, far = (stack.enter_context(opened(_stage(database, folder / name, room))) for name in ("near", "far"))
        cast = _cast(near, far)
        kills: list[Kill] = []
        with _working(cast, task_ids):
            part.strikes = [*_strikes(near, far, rng, kills)]
            _drain(cast, task_ids)
        part.violations = [*broken(task_ids, rows.of_stage(near), rows.of_stage(far), kills)]
    part.operations.update({"send": TASKS, "drain": TASKS})
    part.tries, part.seconds = cast.tries, time.monotonic() - began
    return [part]


def broken(task_ids: Sequence[str], near: Rows, far: Rows, kills: Sequence[Kill]) -> Iterator[Violation]:
    """Yield the tasks that were lost, ended as an error, or were submitted more often than leased.

    The text of a task is its id, so the results of the far hub name the tasks that were submitted to it. A submission
    that a kill of the far hub cut ends as an error, since it may have arrived.
    """
    leases = Counter(row["task__uuid"] for row in near.leases)
    submitted = Counter(_text(row) for row in far.results)
    results: Mapping[str, Row] = {row["task__uuid"]: row for row in near.results}
    cut = {row["task__uuid"] for row in near.leases if any(kill.cuts(row) for kill in kills)}
    for task_id in task_ids:
        if submitted[task_id] > leases[task_id]:
            yield Violation("submitted_twice", task_id, f"{submitted[task_id]} times under {leases[task_id]} leases")
        result = results.get(task_id)
        if result is None:
            yield Violation("result_missing", task_id)
        elif task_id in cut and UNANSWERED in (result["error_message"] or ""):
            continue
        elif result["status"] != "ok" or _text(result) != task_id:
            yield Violation("carried_task_failed", task_id, f"{result['error_message']} {result['content']}")


def _text(row: Row) -> str:
    blocks: list[dict[str, Any]] = json.loads(row["content"])
    return str(blocks[-1].get("text", "")) if blocks else ""


def _stage(database: str, folder: Path, room: servers.Room | None) -> Stage:
    server = room.server() if room else None
    return Stage(
        database=database,
        folder=folder,
        history=History(0),
        database_url=server.url if server else "",
        postgresql=server,
        environment=ENVIRONMENT,
        workers=1,
    )


def _cast(near: Stage, far: Stage) -> Cast:
    """Register the agents: anna sends to rita at the near hub, whose work wendy does at the far one."""
    worker, sender = _key_of_new(far, "wendy"), _key_of_new(near, "anna")
    _key_of_new(far, "gate")
    _key_of_new(near, "rita")
    manage(far, "profile", "wendy", "--default-project", "work")
    manage(far, "grant", "gate", "a2a.send.*")
    manage(far, "grant", "wendy", "a2a.respond.*")
    route = json.loads(manage(far, "route", "add", "gate", "--rate", "100000", "--json"))["url"]
    manage(near, "profile", "rita", "--remote-url", "-", stdin=route)
    manage(near, "grant", "anna", "a2a.send.*")
    return Cast(sender=Patient(near, sender), operator=Patient(near, operator_key(near)), worker=Patient(far, worker))


def _key_of_new(stage: Stage, name: str) -> str:
    return str(json.loads(manage(stage, "agents", "add", name, "--json"))["api_key"])


@contextlib.contextmanager
def _working(cast: Cast, task_ids: Sequence[str]) -> Iterator[None]:
    """Send the tasks, and do the far worker's tasks, until the block ends. Raises the first failure of either."""
    is_over = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        acting = [pool.submit(_send, cast.sender, task_ids), pool.submit(_work, cast.worker, is_over)]
        try:
            yield
        finally:
            is_over.set()
        for ended in acting:
            ended.result()


def _send(sender: Patient, task_ids: Sequence[str]) -> None:
    for task_id in task_ids:
        sender.post("/a2a/tasks", {"id": task_id, "recipient": "rita", "intent_text": task_id})
        time.sleep(BETWEEN_SENDS)


def _work(worker: Patient, is_over: threading.Event) -> None:
    while not is_over.is_set():
        leased = worker.get(f"/a2a/tasks/next?wait_ms=500&attempt_id={uuid.uuid4()}")
        if (task := leased["task"]) is not None:
            content = [{"type": "text", "text": task["intent_text"]}]
            fence = leased["lease"]["lease_id"]
            worker.post("/a2a/results", {"task_id": task["id"], "lease_id": fence, "status": "ok", "content": content})


def _strikes(near: Stage, far: Stage, rng: random.Random, kills: list[Kill]) -> Iterator[Strike]:
    """Kill the far hub, the near one, and the near carrier, in turns; start each again. Note kills of the far hub."""
    for _ in range(ROUNDS):
        for name, stage, agent in (("far hub killed", far, "wendy"), ("near hub killed", near, "anna")):
            time.sleep(AWAY)
            began, killed_at = datetime.now(UTC), time.monotonic()
            stage.kill_hub()
            if stage is far:
                kills.append(Kill(began=began, ended=datetime.now(UTC)))
            time.sleep(AWAY)
            over = time.monotonic()
            stage.start_hub()
            back = _written(stage, agent)
            yield Strike(name=name, recovery=back - over, silence=back - killed_at)
        processes.killed("carrier")(near, rng)
        over = time.monotonic()
        yield Strike(name="near carrier killed", recovery=_written(near, "anna") - over)


def _written(stage: Stage, agent: str) -> float:
    """Return the time at which the hub acknowledged a write, a grant that the agent has already."""
    Patient(stage, operator_key(stage)).post("/capabilities/grant", {"subject": agent, "action": "a2a.respond.*"})
    return time.monotonic()


def _drain(cast: Cast, task_ids: Sequence[str]) -> None:
    """Wait until each task is resolved. An operator requeues leases when nothing moves any more."""
    before, changed_at = -1, time.monotonic()
    give_up_at = changed_at + DRAINED_WITHIN
    while left := cast.operator.get("/a2a/queue?limit=1000")["tasks"]:
        now = time.monotonic()
        if len(left) != before:
            before, changed_at = len(left), now
        elif now - changed_at > STUCK_AFTER:
            _requeue(cast, left)
            changed_at = now
        assert now < give_up_at, f"{len(left)} of {len(task_ids)} tasks are left"
        time.sleep(0.5)


def _requeue(cast: Cast, left: Sequence[Mapping[str, Any]]) -> None:
    for one in left:
        if one["state"] == "in_flight":
            command = {"action": "requeue", "duplicate_risk": "operator_accepted", "lease_id": one["lease_id"]}
            body = {"task_id": one["task"]["id"], "reason": "its submission was cut", "command": command}
            with contextlib.suppress(AssertionError):  # it ended meanwhile
                cast.operator.post("/a2a/repair", body)


CARRIAGE = Scenario(name="tasks carried to another hub", run=run)
