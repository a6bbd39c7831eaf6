"""A stage for single steps of the hot verbs.

It has parties, tasks that are named by their intent, and a clock that stands still.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import time_machine
from django.utils import timezone

from mailbox.access.callers import Caller, Role
from mailbox.life import leasing, results, sending
from mailbox.life.fast_path import plain
from mailbox.models import CapabilityGrant, Lease, Result, Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.envelopes import TaskEnvelope
from mailbox.words.errors import MailboxError
from mailbox.words.times import epoch_ms
from tests.support import factories

START = datetime(2035, 1, 1, tzinfo=UTC)
MINUTE, MOMENT = timedelta(minutes=1), timedelta(microseconds=1)
ATTEMPT, OTHER_ATTEMPT = UUID(int=1), UUID(int=2)


@dataclass(frozen=True)
class Step:
    """One call of a hot verb: by its fast form alone, and by the verb."""

    fast: Callable[[], object]
    verb: Callable[[], object]

    def decided(self) -> object:
        """Return the `summary` of the verb's answer, or the code of its refusal."""
        try:
            return summary(self.verb())
        except MailboxError as refusal:
            return refusal.code


def summary(answer: object) -> object:
    """Return the intents of leased or drained tasks, the status of a result, or the intent and recipient of a task."""
    match answer:
        case list():
            return [each.task.intent_text for each in answer]
        case Result():
            return str(answer.status)
        case Task():
            return f"{answer.intent_text} for {answer.recipient.local}"
    return answer


class Stage:
    """alice and anna send, bob and ben receive, mallory may do nothing, olga operates."""

    def __init__(self, clock: time_machine.Traveller) -> None:
        self.clock = clock
        self.alice, self.anna = (factories.agent(name, "a2a.send.*") for name in ("alice", "anna"))
        self.bob, self.ben = (factories.agent(name, "a2a.respond.*") for name in ("bob", "ben"))
        self.mallory, self.olga = factories.agent("mallory"), factories.person("olga", Role.OPERATOR)

    def agent(self, name: str, *actions: str, **fields: Any) -> Caller:
        """Return a further agent; ``fields`` are those of its grants."""
        caller = factories.agent(name)
        for action in actions:
            factories.grant(caller, action, **fields)
        return caller

    def sent(self, intent: str = "first", *, by: Caller | None = None, to: Caller | None = None, **fields: Any) -> Task:
        return sending.send_task(by or self.alice, self.envelope(intent, to=to, **fields))

    def envelope(self, intent: str = "first", *, to: Caller | None = None, **fields: Any) -> TaskEnvelope:
        return factories.task_envelope(to or self.bob, intent_text=intent, **fields)

    def leased(self, intent: str = "first", **fields: Any) -> Lease:
        """Send a task and lease it out of turn."""
        task = self.sent(intent, **fields)
        return leasing.lease_task(factories.caller_of(task.recipient), task.uuid)

    def resolved(self, intent: str = "first", **fields: Any) -> Result:
        lease = self.leased(intent, **fields)
        return results.post_result(factories.caller_of(lease.holder), factories.result_envelope(lease.task))

    def requeued(self, lease: Lease) -> Task:
        risk = DuplicateRisk.OPERATOR_ACCEPTED
        return repair.requeue(self.olga, lease.task.uuid, reason="stuck", duplicate_risk=risk)

    def wait(self, delta: timedelta) -> None:
        self.clock.shift(delta)

    def send(self, caller: Caller, envelope: TaskEnvelope) -> Step:
        caller = _informed(caller)
        return Step(lambda: plain.send_task(caller, envelope), lambda: sending.send_task(caller, envelope))

    def lease(self, caller: Caller, attempt_id: UUID | None = None) -> Step:
        return Step(
            lambda: plain.lease_task(caller, attempt_id), lambda: leasing.lease_tasks(caller, attempt_id=attempt_id)
        )

    def post(self, caller: Caller, task: Task | UUID, **fields: Any) -> Step:
        caller, envelope = _informed(caller), factories.result_envelope(task, **fields)
        return Step(lambda: plain.post_result(caller, envelope), lambda: results.post_result(caller, envelope))

    def drain(self, caller: Caller, attempt_id: UUID | None = None) -> Step:
        return Step(
            lambda: plain.drain_result(caller, attempt_id), lambda: results.drain_results(caller, attempt_id=attempt_id)
        )


@contextmanager
def stage() -> Iterator[Stage]:
    with time_machine.travel(START, tick=False) as clock:
        yield Stage(clock)


def deadline(after: timedelta) -> int:
    return epoch_ms(timezone.now() + after)


def _informed(caller: Caller) -> Caller:
    """Return the caller with its live grants, as the credential look-up reads both."""
    if caller.agent is None:
        return caller
    live = CapabilityGrant.objects.live(timezone.now()).filter(subject=caller.agent)
    return replace(caller, grants=tuple(live.order_by("pk")))
