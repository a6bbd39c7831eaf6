"""The agents and people of a travel agency, and what each of them does at the hub."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import Group, User
from django.utils import timezone
from texts import Block, text

from agentcards import profiles
from mailbox.access.agents import grants, registration
from mailbox.access.callers import Caller, Role
from mailbox.life import conversation, leasing, results, sending, updates
from mailbox.models import ApiKey, AuditEvent, Lease, Result, Task
from mailbox.repairs import repair
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, ResultEnvelope, ResultStatus, TaskEnvelope

# Each agent with its description and those to which it sends.
AGENTS: Mapping[str, tuple[str, Sequence[str]]] = {
    "concierge": ("Takes the wishes of customers", ("planner", "translator", "visa-desk")),
    "planner": ("Plans whole trips", ("flights", "hotels", "payments", "writer")),
    "flights": ("Finds seats", ("rates",)),
    "hotels": ("Finds and holds rooms", ("rates",)),
    "rates": ("Reads the price lists of hotels", ()),
    "payments": ("Takes deposits by card", ()),
    "writer": ("Writes itineraries", ()),
    "translator": ("Translates mails to hotels", ()),
    "visa-desk": ("Answers questions about visas, at a partner", ()),
}
PEOPLE = {"ana": Role.OPERATOR, "jonas": Role.OPERATOR}


@dataclass(frozen=True, slots=True)
class Said:
    """A result to post: its status, its content, and the error message if it is one."""

    status: ResultStatus
    blocks: Sequence[Block] = ()
    error: str | None = None

    @classmethod
    def done(cls, *blocks: Block) -> Said:
        return cls(ResultStatus.OK, blocks)

    @classmethod
    def half_done(cls, *blocks: Block) -> Said:
        return cls(ResultStatus.PARTIAL, blocks)

    @classmethod
    def failed(cls, message: str) -> Said:
        return cls(ResultStatus.ERROR, (), message)

    @classmethod
    def rejected(cls, reason: str) -> Said:
        return cls(ResultStatus.REJECTED, (), reason)


class Office:
    """A new office registers its agents and people. ``keys`` holds the API key of each agent."""

    def __init__(self) -> None:
        self.keys: dict[str, str] = {}
        self._last_calls: dict[str, datetime] = {}
        self._agents: dict[str, Caller] = {}
        owner = Caller.command_line()
        for number, (name, (description, _)) in enumerate(AGENTS.items(), 11):
            made = registration.register_agent(owner, name)
            self.keys[name] = made.api_key
            self._agents[name] = Caller(
                name=made.agent.display, source=AuditEvent.Source.API, agent=made.agent, address=f"10.20.0.{number}"
            )
            profile = {"name": name.capitalize(), "description": description}
            profiles.update_profile(owner, made.agent, profile)
        for name, (_, recipients) in AGENTS.items():
            for recipient in recipients:
                self._grant(name, f"a2a.send.{recipient}@local")
                self._grant(recipient, f"a2a.respond.{name}@local")
        for name, role in PEOPLE.items():
            User.objects.create_user(name).groups.add(Group.objects.get(name=role))

    def agent(self, name: str) -> Caller:
        """Return the agent as the caller of a new request, which shows as the last call of its key."""
        self._last_calls[name] = timezone.now()
        return replace(self._agents[name], request_id=uuid.uuid4().hex)

    def person(self, name: str) -> Caller:
        source, address = AuditEvent.Source.DASHBOARD, "10.20.1.4" if name == "ana" else "10.20.1.7"
        return Caller(
            name=f"user:{name}", source=source, role=PEOPLE[name], request_id=uuid.uuid4().hex, address=address
        )

    def send(self, sender: str, recipient: str, words: str, *, key: str | None = None, **fields: Any) -> Task:
        """Send a task. Work with a key is idempotent."""
        declared = Idempotency(duplicate_safety=DuplicateSafety.IDEMPOTENT, key=key) if key else None
        to = AgentRef(self._agents[recipient].name)
        return sending.send_task(
            self.agent(sender), TaskEnvelope(recipient=to, intent_text=words, idempotency=declared, **fields)
        )

    def lease(self, task: Task) -> Lease:
        return leasing.lease_task(self.agent(task.recipient.local), task.uuid)

    def beat(self, lease: Lease) -> None:
        leasing.heartbeat(self._holder(lease), lease.task.uuid, lease_id=lease.lease_id)

    def tell(self, lease: Lease, *told: Update | ArtifactUpdate) -> None:
        updates.post_updates(self._holder(lease), lease.task.uuid, told, lease_id=lease.lease_id)

    def progress(self, lease: Lease, fraction: float, note: str) -> None:
        self.tell(lease, Update(progress=fraction, note=note))

    def ask(self, lease: Lease, question: str, *, status: UpdateStatus = UpdateStatus.INPUT_REQUIRED) -> None:
        self.tell(lease, Update(message=[text(question)], status=status))

    def reply(self, task: Task, words: str) -> None:
        conversation.say(self.agent(task.sender.local), task.uuid, Words(content=[text(words)]))

    def answer(self, lease: Lease, said: Said) -> Result:
        envelope = ResultEnvelope(
            task_id=lease.task.uuid,
            lease_id=lease.lease_id,
            status=said.status,
            content=said.blocks,
            error_message=said.error,
        )
        return results.post_result(self._holder(lease), envelope)

    def collect(self, sender: str, number: int = 1) -> None:
        """Let the sender receive so many results, one by one, and acknowledge them."""
        for _ in range(number):
            for result in results.drain_results(self.agent(sender)):
                results.ack_results(self.agent(sender), [result.task.uuid])

    def requeue(self, person: str, lease: Lease, reason: str) -> None:
        is_safe = lease.task.duplicate_safety == DuplicateSafety.IDEMPOTENT
        risk = repair.DuplicateRisk.IDEMPOTENT if is_safe else repair.DuplicateRisk.OPERATOR_ACCEPTED
        repair.requeue(
            self.person(person), lease.task.uuid, reason=reason, duplicate_risk=risk, lease_id=lease.lease_id
        )

    def note_last_calls(self) -> None:
        """Store when each agent called last, as requests over HTTP do."""
        for name, moment in self._last_calls.items():
            ApiKey.objects.filter(agent=self._agents[name].agent).update(last_used_at=moment)

    def _holder(self, lease: Lease) -> Caller:
        return self.agent(lease.holder.local)

    def _grant(self, subject: str, action: str) -> None:
        agent = self._agents[subject].agent
        if agent is not None:
            grants.grant(Caller.command_line(), agent, action)


def until(moment: datetime) -> int:
    """Return the deadline as a task has it."""
    return round(moment.timestamp() * 1000)
