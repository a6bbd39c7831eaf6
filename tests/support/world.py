"""A mailbox whose agents and ids are the same in every run of a program of steps."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import base58
import time_machine
from django.utils import timezone

from mailbox.access.callers import Caller, Role
from mailbox.access.own_agents import OPERATORS
from mailbox.life import operator_tasks, sending
from mailbox.models import Agent, CapabilityGrant, Lease, Task
from mailbox.words.envelopes import TaskEnvelope
from tests.support import factories

START = datetime(2035, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def key_of(name: str) -> str:
    return base58.b58encode(hashlib.sha256(name.encode()).digest()).decode()


# The grants of each agent: an action, then the fields of its grant.
GRANTS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "alice": [("a2a.send.*", {})],
    "anna": [("a2a.send.bob@local", {"max_uses": 2}), ("a2a.send.ben@local", {"expires_at": START + MINUTE * 4})],
    "cora": [(f"a2a.send.{key_of('bob')}", {}), ("a2a.send.ben@local", {"max_uses": 3}), ("a2a.send.*", {})],
    "dora": [("a2a.send.*", {"scope": {"peer_pubkey_b58": key_of("bob")}}), ("a2a.send.bob@local", {})],
    "bob": [("a2a.respond.*", {})],
    "ben": [("a2a.respond.alice@local", {}), ("a2a.respond.*", {"max_uses": 2})],
    "mallory": [],
}
SENDERS, RECIPIENTS, OPERATOR = ("alice", "anna", "cora", "dora"), ("bob", "ben"), "an operator"


class World:
    """The parties, the tasks sent so far, and the ids used so far."""

    def __init__(self, clock: time_machine.Traveller) -> None:
        self.clock = clock
        self.agents = {name: _agent(f"{name}@local") for name in GRANTS}
        _agent(OPERATORS)  # the hub would give it a random key
        for name, held in GRANTS.items():
            for action, fields in held:
                factories.grant(factories.caller_of(self.agents[name]), action, **{"created_at": START, **fields})
        self.olga, self.ada = factories.person("olga", Role.OPERATOR), factories.person("ada", Role.ADMIN)
        self.sent: list[tuple[str, TaskEnvelope]] = []
        self._attempts: dict[str, list[UUID]] = {}
        self._ids = 0

    def caller(self, name: str) -> Caller:
        """Return the agent with its live grants, as the credential look-up reads both."""
        known = self.agents.get(name, self.agents["mallory"])
        agent = Agent.from_identity(known.pk, known.display, known.pubkey)
        grants = CapabilityGrant.objects.live(timezone.now()).filter(subject=agent).order_by("pk")
        return replace(factories.caller_of(agent), grants=tuple(grants))

    def send(self, sender: str, envelope: TaskEnvelope) -> Task:
        if sender == OPERATOR:
            return operator_tasks.send_task(self.olga, envelope)
        return sending.send_task(self.caller(sender), envelope)

    def new_id(self) -> UUID:
        self._ids += 1
        return uuid5(NAMESPACE_URL, str(self._ids))

    def attempt(self, name: str, which: str | None) -> UUID | None:
        """Return the id of a receive: None, a new id, or the ``last`` or the ``first`` id that ``name`` used."""
        if which is None:
            return None
        used = self._attempts.setdefault(name, [])
        if which == "new" or not used:
            used.append(self.new_id())
        return used[0 if which == "first" else -1]

    def task(self, state: str | None, number: int) -> Task | None:
        """Return a task in that state, or any task where the state has none; None while no task exists."""
        tasks = Task.objects.with_parties().order_by("-pk")
        found = list(tasks.filter(state=state) if state else tasks) or list(tasks)
        return found[number % len(found)] if found else None

    def lease_id(self, task: Task, fence: str) -> UUID | None:
        """Return the id of the task's live lease or last ended lease; a new id where the task has no such lease."""
        if fence == "none":
            return None
        found = Lease.objects.filter(task=task, ended_at__isnull=fence == "live").order_by("-attempt").first()
        return found.lease_id if found else uuid4()


def _agent(display: str) -> Agent:
    name = display.partition("@")[0]
    return factories.AgentFactory.create(display=display, pubkey=key_of(name), created_at=START)
