"""Tasks that one hub carries to another by the official protocol, while either is killed and started again."""

import json
import random
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from a2a_hub_client import Answer
from a2a_hub_client.models.tasks import LeasedTask
from tools.proof import edits, rows
from tools.proof.evidence import Violation
from tools.proof.forms import Part
from tools.proof.rows import Row, Rows
from tools.proof.scenarios import two_hubs
from tools.proof.scenarios.commands import manage
from tools.proof.scenarios.scenario import Scenario
from tools.proof.scenarios.two_hubs import Cast, key_of_new
from tools.proof.stage import Stage

NAME = "tasks carried to another hub by the official protocol"
TASKS = 60
ROUNDS = 2
POSTED = "a2a_result_posted"
TWICE = "submitted_twice"  # the name of a violation


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Carry `TASKS` tasks in `ROUNDS` rounds of kills."""
    return [carried(database, folder, seed, tasks=TASKS, rounds=ROUNDS)]


def carried(database: str, folder: Path, seed: int, *changes: edits.Edit, tasks: int, rounds: int) -> Part:
    """Send tasks to an agent of the near hub, whose card is at the far hub, and kill both hubs meanwhile.

    The operator repairs nothing. ``changes`` are edits of the near hub, which may then submit a task again for ever. So
    its run ends with the first task that was submitted twice.
    """
    began, rng = time.monotonic(), random.Random(seed)
    part = Part(name=NAME, database=database, seed=seed)
    task_ids = [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(tasks)]
    with two_hubs.served(database, folder, *changes) as (near, far), _cast(near, far) as cast:
        with two_hubs.working(cast, task_ids, _answer, "wendy") as wait_until_sent:
            for _ in range(rounds):
                part.strikes += two_hubs.strikes(near, far, rng, [])
                part.strikes.append(two_hubs.killed("web worker", near, rng))
            wait_until_sent()
            if changes:
                _wait_until_submitted_twice(task_ids, near, far)
            else:
                for stage in (near, far):
                    with two_hubs.operator_of(stage) as operator:
                        two_hubs.drain(operator, requeues=False)
        part.violations = [*broken(task_ids, rows.of_stage(near), rows.of_stage(far))]
    part.operations.update({"send": tasks, "drain": tasks})
    part.tries, part.seconds = part.operations.total() + len(cast.troubles), time.monotonic() - began
    return part


def _wait_until_submitted_twice(task_ids: Sequence[str], near: Stage, far: Stage) -> None:
    give_up_at = time.monotonic() + two_hubs.DRAINED_WITHIN
    while not any(one.name == TWICE for one in broken(task_ids, rows.of_stage(near), rows.of_stage(far))):
        assert time.monotonic() < give_up_at, "no task was submitted twice"
        time.sleep(0.5)


def broken(task_ids: Sequence[str], near: Rows, far: Rows) -> Iterator[Violation]:
    """Yield the tasks that were lost, that ended otherwise than the far hub's task did, or that were done twice.

    The text of a task is its id, so the results of the far hub name the tasks that were submitted to it.
    """
    submitted = Counter(_text(row) for row in far.results)
    results = {row["task__uuid"]: row for row in near.results}
    ends = Counter(row["task_id"] for row in near.events if row["kind"] == POSTED)
    made, said = _texts(near.artifacts), _texts(near.messages)
    for task_id in task_ids:
        if submitted[task_id] > 1:
            yield Violation(TWICE, task_id, f"{submitted[task_id]} tasks of the far hub")
        if ends[task_id] > 1:
            yield Violation("ended_twice", task_id, f"{ends[task_id]} results")
        if (result := results.get(task_id)) is None:
            yield Violation("result_missing", task_id)
        elif result["status"] != "ok":
            yield Violation("carried_task_failed", task_id, str(result["error_message"]))
        elif (made[task_id], said[task_id]) != ([task_id], [_closing(task_id)]):
            yield Violation("answer_changed", task_id, f"{made[task_id]} {said[task_id]}")


def _texts(found: Sequence[Row]) -> Mapping[str, list[str]]:
    """Return the texts of messages or artifacts by their tasks."""
    texts = defaultdict[str, list[str]](list)
    for row in found:
        texts[row["task__uuid"]].append(_text(row))
    return texts


def _text(row: Row) -> str:
    blocks: list[dict[str, Any]] = json.loads(row["content"])
    return "".join(str(block.get("text", "")) for block in blocks)


def _answer(leased: LeasedTask) -> Answer:
    text = leased.task.text
    return Answer(task_id=leased.task.id, lease_id=leased.lease.id, content=text, message=_closing(text))


def _closing(text: str) -> str:
    return f"done: {text}"


def _cast(near: Stage, far: Stage) -> Cast:
    """Register the agents: anna sends to wendy at the near hub, where wendy has the card that the far hub serves."""
    worker, gate, sender = key_of_new(far, "wendy"), key_of_new(far, "gate"), key_of_new(near, "anna")
    manage(far, "grant", "gate", "a2a.send.*")
    manage(far, "grant", "wendy", "a2a.respond.*")
    key = near.folder / "key"
    key.write_text(gate)
    key_of_new(near, "wendy", "--card", f"{far.url}/agents/wendy/", "--key-file", str(key))
    manage(near, "grant", "anna", "a2a.send.*")
    return two_hubs.cast_of(near, far, sender=sender, worker=worker)


OFFICIAL_CARRIAGE = Scenario(
    name=NAME,
    covers="Both hubs, the carrier and a web worker are killed. No operator repairs anything. Each task is done and "
    "ends once, with the whole answer.",
    run=run,
)
