"""The database fails at the moment at which a remote agent accepts a task: the task is not lost, and not sent twice."""

import contextlib
import itertools
import random
import signal
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from a2a_hub_client import Hub
from tests.support.http_servers import Handler, serving
from tests.support.official_agents import Official
from tests.support.official_servers import OfficialHandler
from tests.support.remote_servers import Corvid, CorvidHandler
from tools.proof import rows
from tools.proof.evidence import Violation
from tools.proof.faults import postgresql, storage
from tools.proof.faults.fault import Fault
from tools.proof.forms import Part, Strike, staged
from tools.proof.rows import Rows
from tools.proof.scenarios import two_hubs
from tools.proof.scenarios.commands import manage
from tools.proof.scenarios.scenario import Scenario
from tools.proof.scenarios.two_hubs import key_of_new
from tools.proof.stage import Stage

NAME = "the database away while a remote agent accepts"
TASKS = 2  # of each agent in each round; the agents have accepted the first one each when the database fails
ACCEPTED_WITHIN = 20.0  # seconds, after which the hub would give up an agent that does not answer
ENDED_WITHIN = 120.0
# The words before a task's id that let the agent of the official protocol end it at a poll, or answer it directly.
AGENTS = 2
WAYS = ("bare", "message")
FAULTS: Mapping[str, Sequence[Fault]] = {
    "sqlite": [Fault(name=f"SQLite: locked for {n} s", strike=storage.locked_for(n)) for n in (4, 13, 26)],
    "postgresql": [
        Fault(name="PostgreSQL: all sessions terminated", strike=postgresql.terminate_sessions),
        Fault(name="PostgreSQL: stopped without a checkpoint", strike=postgresql.stopped_by(signal.SIGQUIT)),
        Fault(name="PostgreSQL: away for 16 s", strike=postgresql.away_for(16)),
    ],
}


class Gate:
    """Holds the answers of the agents while it is closed."""

    def __init__(self) -> None:
        self.held = 0
        self._lock = threading.Lock()
        self._open = threading.Event()
        self._open.set()

    def close(self) -> None:
        self.held = 0
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    def hold(self) -> None:
        with self._lock:
            self.held += 1
        self._open.wait(ACCEPTED_WITHIN)


class Gated(Handler):
    """Holds each answer to a POST at the gate. The agent has accepted its task then."""

    gate: Gate

    def send(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        if self.command == "POST":
            self.gate.hold()
        super().send(status, body, *headers)


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Send tasks to two remote agents; let the database fail before they answer, and let them answer meanwhile."""
    began, rng, gate = time.monotonic(), random.Random(seed), Gate()
    corvid, official = Corvid(), Official()
    part = Part(name=NAME, database=database, seed=seed)
    sent: list[str] = []
    with (
        staged(database, folder) as stage,
        serving(type("Rita", (Gated, CorvidHandler), {"agent": corvid, "gate": gate})) as corvid.url,
        serving(type("Offie", (Gated, OfficialHandler), {"agent": official, "gate": gate})) as official.url,
        contextlib.closing(Hub(stage.url, _agents(stage, corvid.url, official.url))) as sender,
        two_hubs.operator_of(stage) as operator,
    ):
        for fault, way in itertools.product(FAULTS[database], WAYS):
            gate.close()
            sent += _sent(sender, rng, way)
            _wait_until(lambda: gate.held == AGENTS, ACCEPTED_WITHIN)
            part.strikes.append(_struck(stage, fault, rng, gate))
            _wait_until(lambda: not list(operator.queue()), ENDED_WITHIN)
        accepted = Counter(_id_of(body["params"]["message"]) for body in corvid.bodies)
        accepted += Counter(_id_of(message["parts"][0]["text"]) for message in official.sent)
        part.violations = [*broken(sent, accepted, rows.of_stage(stage))]
    part.operations.update({"send": len(sent)})
    part.tries, part.seconds = len(sent), time.monotonic() - began
    return [part]


def _agents(stage: Stage, corvid: str, official: str) -> str:
    """Register the remote agents and the sender; return its key."""
    key_of_new(stage, "rita")
    manage(stage, "profile", "rita", "--remote-url", "-", stdin=corvid)
    key_of_new(stage, "offie", "--card", f"{official}/")
    key = key_of_new(stage, "anna")
    manage(stage, "grant", "anna", "a2a.send.*")
    return key


def _sent(sender: Hub, rng: random.Random, way: str) -> list[str]:
    task_ids = [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(AGENTS * TASKS)]
    for number, task_id in enumerate(task_ids):
        agent, text = ("rita", task_id) if number % AGENTS else ("offie", f"{way} {task_id}")
        sender.send(agent, text, id=task_id)
    return task_ids


def _struck(stage: Stage, fault: Fault, rng: random.Random, gate: Gate) -> Strike:
    """Let the agents answer half a second after the database has begun to fail."""
    began = time.monotonic()
    opening = threading.Timer(0.5, gate.open)
    opening.start()
    fault.strike(stage, rng)
    opening.join()
    over = time.monotonic()
    back = two_hubs.written(stage, "anna")
    return Strike(name=fault.name, recovery=back - over, silence=back - began)


def _wait_until(condition: Callable[[], bool], within: float) -> None:
    """Wait until the condition holds, or for so long. `broken` names what is left then."""
    give_up_at = time.monotonic() + within
    while not condition() and time.monotonic() < give_up_at:
        time.sleep(0.2)


def _id_of(text: str) -> str:
    return text.split()[-1]


def broken(sent: Sequence[str], accepted: Mapping[str, int], found: Rows) -> Iterator[Violation]:
    """Yield the tasks that were lost or submitted twice, or ended as an error although an agent did them."""
    results = {row["task__uuid"]: row for row in found.results}
    for task_id in sent:
        if accepted.get(task_id, 0) > 1:
            yield Violation("submitted_twice", task_id, f"{accepted[task_id]} times")
        if (result := results.get(task_id)) is None:
            yield Violation("result_missing", task_id)
        elif result["status"] != "ok":
            yield Violation("carried_task_failed", task_id, str(result["error_message"]))


REMOTE_OUTAGE = Scenario(
    name=NAME,
    covers="A corvid-agent and an agent of the official protocol accept tasks while SQLite is locked or PostgreSQL is "
    "gone. Each task ends once with its result, and none is submitted twice.",
    run=run,
)
