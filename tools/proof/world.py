"""The world of a run: its agents, and the things that its actors know together."""

import queue
import re
import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx

from a2a_hub_client import Hub as Client
from tests.load.cast import Party
from tests.support.own_client import client_of
from tools.proof.history import History, Operation
from tools.proof.mix import Mix
from tools.proof.stage import Stage


class Held(NamedTuple):
    """A lease that a worker knows of."""

    task_id: str
    lease_id: str
    work: str  # the text of the task
    sender: str


@dataclass(slots=True)
class Crew:
    """The leases that the workers of one agent know of. Workers that share an agent share its leases."""

    party: Party
    known: set[str] = field(default_factory=set)  # lease ids, also of ended leases
    receiving: set[str] = field(default_factory=set)  # request ids of receives without an answer
    suspects: dict[str, frozenset[str]] = field(default_factory=dict)
    late: deque[Held] = field(default_factory=deque)  # leases that an operator has repaired
    lock: threading.Lock = field(default_factory=threading.Lock)

    def learn(self, lease_id: str) -> None:
        with self.lock:
            self.known.add(lease_id)

    def orphans(self, listed: list[Held]) -> list[Held]:
        """Return the listed leases that no worker knows of, and let the caller know of them.

        A lease may be the answer of a receive that is under way. So a lease is an orphan only when all receives that
        were under way at its first sight have ended, and it is still unknown.
        """
        found = []
        with self.lock:
            for held in listed:
                if held.lease_id in self.known:
                    continue
                under_way = self.suspects.setdefault(held.lease_id, frozenset(self.receiving))
                if not under_way & self.receiving:
                    self.known.add(held.lease_id)
                    found.append(held)
        return found


@dataclass(slots=True)
class Drainage:
    """The results that the threads of one sender know of."""

    party: Party
    received: set[str] = field(default_factory=set)  # task ids
    receiving: set[str] = field(default_factory=set)
    suspects: dict[str, frozenset[str]] = field(default_factory=dict)
    questions: deque[str] = field(default_factory=deque)  # task ids
    lock: threading.Lock = field(default_factory=threading.Lock)

    def orphans(self, listed: list[str]) -> list[str]:
        """Return the delivered results that no thread has received, as `Crew.orphans` does for leases."""
        found = []
        with self.lock:
            for task_id in listed:
                if task_id in self.received:
                    continue
                under_way = self.suspects.setdefault(task_id, frozenset(self.receiving))
                if not under_way & self.receiving:
                    self.received.add(task_id)
                    found.append(task_id)
        return found


class Followed(NamedTuple):
    """A task of the official protocol that is followed by a stream of its events. ``key`` is its sender's.

    ``operation`` has the events of a follower that gave the task up; None: it has none.
    """

    task_id: str
    recipient: str
    sender: str
    key: str
    operation: Operation | None = None


class Case(NamedTuple):
    """A lease that its worker gave up, for an operator to repair."""

    held: Held
    crew: Crew
    is_late: bool  # the worker posts its result after the repair


@dataclass(slots=True, kw_only=True)
class World:
    """The state that actors share. ``url`` leads through the proxy to the hub.

    ``sending`` is cleared when no more tasks are sent. ``working`` is cleared when all tasks are resolved and all
    results are acknowledged. Between them workers finish each task that they lease.
    """

    stage: Stage
    history: History
    url: str
    hook: str  # the URL of the callbacks' receiver
    mix: Mix
    operator_key: str
    crews: list[Crew] = field(default_factory=list)
    drainages: list[Drainage] = field(default_factory=list)
    cases: queue.SimpleQueue[Case] = field(default_factory=queue.SimpleQueue)
    followed: queue.SimpleQueue[Followed] = field(default_factory=queue.SimpleQueue)
    sending: threading.Event = field(default_factory=threading.Event)
    working: threading.Event = field(default_factory=threading.Event)
    failures: list[BaseException] = field(default_factory=list)
    sends: Counter[str] = field(default_factory=Counter)
    left: int | None = None  # sends that may still begin; None for any number
    lock: threading.Lock = field(default_factory=threading.Lock)

    def may_send(self) -> bool:
        """Take one of the sends that are left."""
        with self.lock:
            if not self.sending.is_set() or self.left == 0:
                return False
            if self.left is not None:
                self.left -= 1
            return True


def operator_key(stage: Stage) -> str:
    """Return the key that the hub made at its first start."""
    key: str = re.findall(r"API key +(a2a_\w+)", stage.first_output)[0]
    return key


def populate(world: World, *, senders: int, workers: int) -> None:
    """Register agents with their grants. Each sender may send to each worker. The first worker is the default agent.

    The names hold the seed, so that several runs may use one hub.
    """
    seed = world.history.seed
    with client_of(world.stage.url, world.operator_key) as operator:
        for number in range(workers):
            party = _party(operator, f"worker-{seed}-{number}@proof", "a2a.respond.*")
            world.crews.append(Crew(party))
        for number in range(senders):
            party = _party(operator, f"sender-{seed}-{number}@proof", "a2a.send.*")
            world.drainages.append(Drainage(party))
    _make_default(world.stage.url, world.operator_key, world.crews[0].party.display)


def _party(operator: Client, display: str, action: str) -> Party:
    made = operator.add_agent(display)
    operator.grant(display, action)
    return Party(display, made.api_key)


def _make_default(url: str, key: str, display: str) -> None:
    """Make the agent the default one, which is a matter of a dialect that the client package does not speak."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}) as operator:
        listed: Any = operator.get("/api/agents", params={"limit": 1000}).raise_for_status().json()
        projects = {one["id"]: None for one in listed if one["defaultProjectId"]} | {display: "proof"}
        for agent, project in projects.items():
            operator.put(f"/api/agents/{agent}", json={"defaultProjectId": project}).raise_for_status()


def leases_of(answer: Mapping[str, Any]) -> list[tuple[Held, int]]:
    """Return the leases of an answer to a receive of one task or of several, each with its attempt."""
    found = answer.get("leases", [answer])
    taken = [(one["task"], one["lease"]) for one in found if one.get("task") and one.get("lease")]
    return [(held(task, lease["lease_id"]), int(lease["attempt"])) for task, lease in taken]


def results_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the results of an answer to a drain of one result or of several."""
    return [result for result in answer.get("results", [answer.get("result")]) if result]


def held(task: dict[str, Any], lease_id: str) -> Held:
    return Held(task["id"], lease_id, task["intent_text"], task["sender"]["display"])
