"""The agents for load: pairs of a sender and a worker, registered over HTTP with the operator's key."""

from __future__ import annotations

import re
import time
import uuid
from typing import Any, NamedTuple

from tests.load.client import Answer, Client
from tests.support.hub import Hub


class Party(NamedTuple):
    """An agent and its API key."""

    display: str
    pubkey: str
    key: str


class Pair(NamedTuple):
    """A sender that may send to its worker, which may respond."""

    sender: Party
    worker: Party


class Team(NamedTuple):
    """A worker, and senders that may send to it. The worker may respond to everyone."""

    worker: Party
    senders: list[Party]


def operator_key(hub: Hub) -> str:
    """Return the key that the hub made at its first start."""
    key: str = re.findall(r"API key +(a2a_\w+)", hub.first_run)[0]
    return key


def pairs(hub: Hub, count: int) -> list[Pair]:
    """Register ``count`` pairs with their grants."""
    with Client(hub.url, operator_key(hub)) as operator:
        return [_pair(operator, uuid.uuid4().hex[:12]) for _ in range(count)]


def team(hub: Hub, count: int) -> Team:
    """Register a worker and ``count`` senders with their grants."""
    name = uuid.uuid4().hex[:12]
    with Client(hub.url, operator_key(hub)) as operator:
        worker = _party(operator, f"worker-{name}@load")
        senders = [_party(operator, f"sender-{name}-{place}@load") for place in range(count)]
        _grant(operator, worker, "a2a.respond.*")
        for sender in senders:
            _grant(operator, sender, f"a2a.send.{worker.display}")
    return Team(worker, senders)


def parties(hub: Hub, count: int) -> list[Party]:
    """Register ``count`` agents without grants."""
    name = uuid.uuid4().hex[:12]
    with Client(hub.url, operator_key(hub)) as operator:
        return [_party(operator, f"agent-{name}-{place}@load") for place in range(count)]


def _pair(operator: Client, name: str) -> Pair:
    sender, worker = (_party(operator, f"{role}-{name}@load") for role in ("sender", "worker"))
    _grant(operator, sender, f"a2a.send.{worker.display}")
    _grant(operator, worker, f"a2a.respond.{sender.display}")
    return Pair(sender, worker)


def _grant(operator: Client, subject: Party, action: str) -> None:
    must(operator.post("/capabilities/grant", {"subject": subject.display, "action": action}))


def _party(operator: Client, display: str) -> Party:
    made = must(operator.post("/a2a/agents", {"display": display}))
    return Party(display, made["agent"]["pubkey"], made["api_key"])


def must(answer: Answer) -> dict[str, Any]:
    """Return the body of a successful answer; fail for any other."""
    assert answer.status == 200, answer
    return answer.body


class Worker:
    """The sender and the worker of a pair, each with its connection."""

    def __init__(self, url: str, pair: Pair) -> None:
        self.pair = pair
        self.sender = Client(url, pair.sender.key)
        self.worker = Client(url, pair.worker.key)

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
