"""The agents for load: pairs of a sender and a worker, registered with the operator's key."""

import re
import uuid
from typing import NamedTuple

from a2a_hub_client import Hub as Client
from tests.support.hub import Hub
from tests.support.own_client import client_of


class Party(NamedTuple):
    """An agent and its API key."""

    display: str
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
    with operator_of(hub) as operator:
        return [_pair(operator, uuid.uuid4().hex[:12]) for _ in range(count)]


def team(hub: Hub, count: int) -> Team:
    """Register a worker and ``count`` senders with their grants."""
    name = uuid.uuid4().hex[:12]
    with operator_of(hub) as operator:
        worker = _party(operator, f"worker-{name}@load")
        senders = [_party(operator, f"sender-{name}-{place}@load") for place in range(count)]
        operator.grant(worker.display, "a2a.respond.*")
        for sender in senders:
            operator.grant(sender.display, f"a2a.send.{worker.display}")
    return Team(worker, senders)


def parties(hub: Hub, count: int) -> list[Party]:
    """Register ``count`` agents without grants."""
    name = uuid.uuid4().hex[:12]
    with operator_of(hub) as operator:
        return [_party(operator, f"agent-{name}-{place}@load") for place in range(count)]


def operator_of(hub: Hub) -> Client:
    """Return a client with the operator's key."""
    return client_of(hub.url, operator_key(hub))


def _pair(operator: Client, name: str) -> Pair:
    sender, worker = (_party(operator, f"{role}-{name}@load") for role in ("sender", "worker"))
    operator.grant(sender.display, f"a2a.send.{worker.display}")
    operator.grant(worker.display, f"a2a.respond.{sender.display}")
    return Pair(sender, worker)


def _party(operator: Client, display: str) -> Party:
    return Party(display, operator.add_agent(display).api_key)
