"""Tasks that one hub carries to another, while either is killed and started again."""

import json
import random
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from a2a_hub_client import Answer
from a2a_hub_client.models.tasks import LeasedTask
from tools.proof import rows
from tools.proof.evidence import Violation
from tools.proof.forms import Part
from tools.proof.rows import Row, Rows
from tools.proof.scenarios import two_hubs
from tools.proof.scenarios.commands import manage
from tools.proof.scenarios.scenario import Scenario
from tools.proof.scenarios.two_hubs import Cast, Kill, key_of_new
from tools.proof.stage import Stage

TASKS = 60
UNANSWERED = "no answer from"
ROUNDS = 2


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Send tasks to an agent of the near hub whose work the far hub does, and kill both hubs meanwhile."""
    began, rng = time.monotonic(), random.Random(seed)
    part = Part(name="tasks carried to another hub", database=database, seed=seed)
    task_ids = [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(TASKS)]
    kills: list[Kill] = []
    with two_hubs.served(database, folder) as (near, far), _cast(near, far) as cast:
        with two_hubs.working(cast, task_ids, _answer, "rita") as wait_until_sent:
            for _ in range(ROUNDS):
                part.strikes += two_hubs.strikes(near, far, rng, kills)
            wait_until_sent()
            two_hubs.drain(cast.operator, requeues=True)
        part.violations = [*broken(task_ids, rows.of_stage(near), rows.of_stage(far), kills)]
    part.operations.update({"send": TASKS, "drain": TASKS})
    part.tries, part.seconds = part.operations.total() + len(cast.troubles), time.monotonic() - began
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


def _answer(leased: LeasedTask) -> Answer:
    return Answer(task_id=leased.task.id, lease_id=leased.lease.id, content=leased.task.text)


def _cast(near: Stage, far: Stage) -> Cast:
    """Register the agents: anna sends to rita at the near hub, whose work wendy does at the far one."""
    worker, sender = key_of_new(far, "wendy"), key_of_new(near, "anna")
    key_of_new(far, "gate")
    key_of_new(near, "rita")
    manage(far, "profile", "wendy", "--default-project", "work")
    manage(far, "grant", "gate", "a2a.send.*")
    manage(far, "grant", "wendy", "a2a.respond.*")
    route = json.loads(manage(far, "route", "add", "gate", "--rate", "100000", "--json"))["url"]
    manage(near, "profile", "rita", "--remote-url", "-", stdin=route)
    manage(near, "grant", "anna", "a2a.send.*")
    return two_hubs.cast_of(near, far, sender=sender, worker=worker)


CARRIAGE = Scenario(
    name="tasks carried to another hub",
    covers="Both hubs and the carrier are killed. A task is lost at neither hub, and is submitted once for each lease.",
    run=run,
)
