"""The steps of random programs: each takes one decision about the tasks of a `World`, as an edge would."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.utils import timezone

from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.life import expiry, leasing, results, sending
from mailbox.models import Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.world import MINUTE, World


@dataclass(frozen=True)
class Send:
    sender: str
    recipient: AgentRef
    has_id: bool
    deadline: timedelta | None
    more: dict[str, Any]

    def take(self, world: World) -> object:
        envelope = TaskEnvelope(
            id=world.new_id() if self.has_id else None,
            recipient=self.recipient,
            intent_text="summarise the report",
            deadline_ms=epoch_ms(timezone.now() + self.deadline) if self.deadline else None,
            **self.more,
        )
        world.sent.append((self.sender, envelope))
        return world.send(self.sender, envelope)


@dataclass(frozen=True)
class SendAgain:
    """Send an earlier task again, as it was or with a change, by its sender or by another agent."""

    number: int
    change: dict[str, Any]
    sender: str | None

    def take(self, world: World) -> object:
        if not world.sent:
            return None
        sender, envelope = world.sent[self.number % len(world.sent)]
        return world.send(self.sender or sender, replace(envelope, **self.change))


@dataclass(frozen=True)
class TakeLeases:
    recipient: str
    limit: int
    attempt: str | None

    def take(self, world: World) -> object:
        attempt_id = world.attempt(self.recipient, self.attempt)
        return leasing.lease_tasks(world.caller(self.recipient), limit=self.limit, attempt_id=attempt_id)


@dataclass(frozen=True)
class Post:
    state: str | None
    number: int
    fence: str
    by: str | None
    lease_first: bool
    said: dict[str, Any]

    def take(self, world: World) -> object:
        if (task := world.task(self.state, self.number)) is None:
            return None
        envelope = factories.result_envelope(task.uuid, lease_id=world.lease_id(task, self.fence), **self.said)
        caller = world.caller(self.by or task.recipient.local)
        return results.post_result(caller, envelope, lease_first=self.lease_first)


@dataclass(frozen=True)
class Drain:
    sender: str
    limit: int
    attempt: str | None
    acked: int | None  # the number of a resolved task, whose sender drains; None: nothing is acknowledged

    def take(self, world: World) -> object:
        acked = None if self.acked is None else world.task(Task.State.RESOLVED, self.acked)
        sender = acked.sender.local if acked else self.sender
        return results.drain_results(
            world.caller(sender),
            limit=self.limit,
            attempt_id=world.attempt(sender, self.attempt),
            ack=[acked.uuid] if acked else (),
        )


@dataclass(frozen=True)
class Decide:
    """A decision about one task that has no fast form."""

    what: str
    state: str | None
    number: int
    fence: str

    def take(self, world: World) -> object:
        if (task := world.task(self.state, self.number)) is None:
            return None
        sender, recipient = world.caller(task.sender.local), world.caller(task.recipient.local)
        olga, risk, lease_id = world.olga, DuplicateRisk.OPERATOR_ACCEPTED, world.lease_id(task, self.fence)
        fenced: dict[str, Any] = {"reason": "stuck", "lease_id": lease_id}
        decisions: dict[str, Callable[[], object]] = {
            "release": lambda: leasing.release(recipient, task.uuid, **fenced),
            "requeue": lambda: repair.requeue(olga, task.uuid, duplicate_risk=risk, **fenced),
            "force an error": lambda: repair.force_error(olga, task.uuid, message="gave up", **fenced),
            "cancel": lambda: sending.cancel(sender, task.uuid),
            "acknowledge": lambda: results.ack_results(sender, [task.uuid]),
            "lease out of turn": lambda: leasing.lease_task(recipient, task.uuid),
            "heartbeat": lambda: leasing.heartbeat(recipient, task.uuid, lease_id=lease_id),
        }
        return decisions[self.what]()


@dataclass(frozen=True)
class Keep:
    """An act of upkeep: pause or resume a recipient, sweep, or compact."""

    what: str
    recipient: str

    def take(self, world: World) -> object:
        agent = world.agents[self.recipient]
        acts: dict[str, Callable[[], object]] = {
            "pause": lambda: registration.pause_agent(world.olga, agent, reason="maintenance"),
            "resume": lambda: registration.resume_agent(world.olga, agent),
            "sweep": lambda: expiry.sweep(Caller.command_line(), batch=2),
            "compact": lambda: compaction.compact(world.ada, Retention(acked=timedelta(0), delivered=MINUTE)),
        }
        return acts[self.what]()


@dataclass(frozen=True)
class Wait:
    delta: timedelta

    def take(self, world: World) -> None:
        world.clock.shift(self.delta)


Step = Send | SendAgain | TakeLeases | Post | Drain | Decide | Keep | Wait
