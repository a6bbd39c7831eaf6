"""The steps of random programs that take batches, with plain items and others mixed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from mailbox.life import batches
from mailbox.models import Lease, Result, Task
from mailbox.words.envelopes import ResultEnvelope, TaskEnvelope
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.steps import Post, Send
from tests.support.world import World


@dataclass(frozen=True)
class SendMany:
    """Send new tasks of one sender, and earlier tasks again: as they were, or with another text."""

    sender: str
    tasks: Sequence[Send]
    again: Sequence[tuple[int, bool]]

    def take(self, world: World) -> object:
        envelopes = [_envelope(one, world) for one in self.tasks]
        world.sent += [(self.sender, envelope) for envelope in envelopes]
        for number, is_same in self.again:
            earlier = world.sent[number % len(world.sent)][1]
            envelopes.insert(number, earlier if is_same else replace(earlier, intent_text="another"))
        return batches.send_tasks(world.caller(self.sender), envelopes).of_each


@dataclass(frozen=True)
class Work:
    """Post the results of the recipient's oldest leases, then other results, and lease the next tasks."""

    recipient: str
    own: int
    posts: Sequence[Post]
    limit: int
    attempt: str | None

    def take(self, world: World) -> object:
        live = Lease.objects.with_task().live().filter(holder=world.agents[self.recipient]).order_by("pk")
        own = [factories.result_envelope(lease.task.uuid, lease_id=lease.lease_id) for lease in live[: self.own]]
        answers = [*own, *(answer for post in self.posts if (answer := _answer(post, world)))]
        took = batches.lease_tasks(
            world.caller(self.recipient),
            most=self.limit,
            attempt_id=world.attempt(self.recipient, self.attempt),
            answers=answers,
        )
        return [took.leases, took.results.of_each, took.is_spent]


@dataclass(frozen=True)
class DrainMany:
    """Acknowledge the sender's delivered results, then those of other tasks, and drain the next results."""

    sender: str
    own: int
    limit: int
    attempt: str | None
    acked: Sequence[int]

    def take(self, world: World) -> object:
        delivered = Result.objects.delivered().with_task_id().filter(sender=world.agents[self.sender]).order_by("pk")
        acked = [result.task.uuid for result in delivered[: self.own]]
        acked += [task.uuid for number in self.acked if (task := world.task(Task.State.RESOLVED, number))]
        drained = batches.drain_results(
            world.caller(self.sender),
            most=self.limit,
            attempt_id=world.attempt(self.sender, self.attempt),
            ack=list(dict.fromkeys(acked)),
        )
        return [drained.results, drained.acks, drained.is_spent]


def _envelope(one: Send, world: World) -> TaskEnvelope:
    more: dict[str, Any] = one.more
    return TaskEnvelope(
        id=world.new_id() if one.has_id else None,
        recipient=one.recipient,
        intent_text="summarise the report",
        deadline_ms=epoch_ms(timezone.now() + one.deadline) if one.deadline else None,
        **more,
    )


def _answer(post: Post, world: World) -> ResultEnvelope | None:
    task = world.task(post.state, post.number)
    if task is None:
        return None
    return factories.result_envelope(task.uuid, lease_id=world.lease_id(task, post.fence), **post.said)
