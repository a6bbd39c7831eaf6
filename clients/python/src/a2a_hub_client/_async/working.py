"""The methods of agents that do work: lease tasks, report on them, post results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from a2a_hub_client._async.connection import AsyncConnection
from a2a_hub_client._calls import tasks, work
from a2a_hub_client._calls.call import Id
from a2a_hub_client.errors import AttemptSpentError
from a2a_hub_client.models.conversation import TaskUpdated, Update
from a2a_hub_client.models.sent import Answer, Posted, Received
from a2a_hub_client.models.tasks import HeldLease, LeasedTask, LeaseState
from a2a_hub_client.retry import Duration, seconds


class AsyncWorking(AsyncConnection):
    """Leases tasks as the agent of the key, and posts their results."""

    async def receive(
        self,
        *,
        most: int = 1,
        wait: Duration = tasks.LONGEST_POLL,
        attempt_id: Id | None = None,
        answers: Sequence[Answer] = (),
    ) -> Received:
        """Post ``answers``, then lease the oldest tasks, at most ``most``; return no lease if none comes in ``wait``.

        ``most`` and the number of ``answers`` are at most 100. ``wait`` is at most the longest wait of the hub, by
        default 50 seconds. The same ``attempt_id`` gets the same leases again, so keep an id of your own until its
        leases have arrived. None makes one. Leases whose answer was lost are in `leases`.

        Raises `AttemptSpentError` for an id whose leases have ended, and `WrongPartyError` for people.
        """
        bodies = [answer.body() for answer in answers]
        call = work.receive(attempt_id or uuid4(), most=most, wait=seconds(wait), answers=bodies)
        received = await self.perform(call)
        if received.attempt_spent and attempt_id is not None:
            raise AttemptSpentError("the leases of this attempt id have ended")
        return received

    async def lease(self, task_id: Id, *, attempt_id: Id | None = None) -> LeasedTask:
        """Lease one task, queued or interrupted, before older tasks.

        Raises `UnknownTaskError`, `AlreadyResolvedError`, and `NotInFlightError` for a task that is leased already.
        """
        return await self.perform(work.lease(task_id, attempt_id or uuid4()))

    def leases(self) -> AsyncIterator[HeldLease]:
        """Yield the live leases of the agent."""
        return self.listed(work.leases)

    async def heartbeat(self, task_id: Id, *, lease_id: Id | None = None) -> LeaseState:
        """Say that the work goes on. The hub ends no lease for a missing heartbeat.

        After one heartbeat and then silence, another worker of the agent may take over an idempotent task. That silence
        is 45 seconds by default, or the ``resume_after`` of the other worker.

        Raises `LeaseMismatchError` or `NotInFlightError` once the lease has ended.
        """
        return await self.perform(work.heartbeat(task_id, lease_id))

    async def post_updates(
        self,
        task_id: Id,
        updates: Sequence[Update | Mapping[str, Any]],
        *,
        lease_id: Id | None = None,
        attempt_id: Id | None = None,
    ) -> TaskUpdated:
        """Post messages, progress, artifacts or a question, in order.

        The same ``attempt_id`` with the same updates posts them once; None makes one. Raises as `heartbeat`,
        `NotAskableError` and `TaskTooLargeError`.
        """
        call = work.post_updates(task_id, updates, attempt_id=attempt_id or uuid4(), lease_id=lease_id)
        return await self.perform(call)

    async def post_result(self, answer: Answer) -> None:
        """Post the result of a task. Posting the same one again changes nothing.

        Raises `LeaseMismatchError` unless the lease of ``answer`` is live, `ResultConflictError`,
        `AlreadyResolvedError` and `CapabilityMissingError`.
        """
        await self.perform(work.post_result(answer))

    async def post_results(self, answers: Sequence[Answer]) -> Posted:
        """Post up to 100 results. Each has its own outcome."""
        return await self.perform(work.post_results([answer.body() for answer in answers]))
