"""The mailbox for Python code in this process. Source: Covenant A2A, trait "Mailbox"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from mailbox.database import waiting
from mailbox.gate.callers import Caller
from mailbox.inspection import lists, lookup, tasks
from mailbox.models import Agent, Lease, Result, Task
from mailbox.verbs.agents import registration
from mailbox.verbs.life import leasing, results, sending
from mailbox.verbs.repairs import repair
from mailbox.words.envelopes import AgentRef, ResultEnvelope, TaskEnvelope
from mailbox.words.errors import WaitTimeoutError


class Mailbox:
    """Ten methods over the verbs that all other interfaces use too. Callers are trusted.

    An agent is given by display, local part, `AgentRef` or row. No method needs a grant; every change is journalled.
    """

    def send_task(self, task: TaskEnvelope) -> Task:
        """Send the task as its ``sender``, which must not be None; see `sending.send_task`."""
        if task.sender is None:
            raise ValueError("the task has no sender: set TaskEnvelope.sender")
        return sending.send_task(Caller.local(_agent(task.sender)), task)

    def recv_task(self, *, timeout: timedelta | None = None) -> Lease:
        """Lease the oldest task of any agent, waiting if there is none. ``timeout`` None waits without limit.

        Raises `WaitTimeoutError`.
        """
        leases = waiting.until(lambda: leasing.lease_tasks(Caller.local()), timeout)
        if not leases:
            raise WaitTimeoutError
        return leases[0]

    def try_recv_task_for(self, recipient: AgentRef | Agent | str) -> Lease | None:
        """Lease the oldest task for ``recipient``, without waiting; None if it has none."""
        leases = leasing.lease_tasks(Caller.local(_agent(recipient)))
        return leases[0] if leases else None

    def recent_tasks(self, limit: int) -> Sequence[Task]:
        """Return up to ``limit`` queued tasks, oldest first."""
        return lists.recent_tasks(Caller.local(), limit=limit).items

    def task_queue(self, limit: int) -> Sequence[tasks.QueueEntry]:
        """Return up to ``limit`` unresolved tasks: first queued tasks, then leased tasks, each oldest first."""
        return lists.queue(Caller.local(), limit=limit).items

    def repair_task(self, task_id: UUID, *, action: str, **request: Any) -> Task | Result:
        """Call `repair.requeue` or `repair.force_error`, the verb that ``action`` names, with its arguments."""
        match action:
            case "requeue":
                return repair.requeue(Caller.local(), task_id, **request)
            case "force_error":
                return repair.force_error(Caller.local(), task_id, **request)
        raise ValueError(f"unknown repair action {action!r}: it must be requeue or force_error")

    def send_result(self, result: ResultEnvelope) -> Result:
        """Post a result on behalf of the task's recipient; see `results.post_result`."""
        return results.post_result(Caller.local(lookup.recipient_of(result.task_id)), result)

    def recv_result(self, *, timeout: timedelta | None = None) -> Result:
        """Drain the oldest result of any agent, waiting if there is none. ``timeout`` None waits without limit.

        Raises `WaitTimeoutError`.
        """
        result = results.next_result(Caller.local(), wait=timeout)
        if result is None:
            raise WaitTimeoutError
        return result

    def try_recv_result_for(self, peer: AgentRef | Agent | str) -> Result | None:
        """Drain the oldest result of a task that ``peer`` sent, without waiting; None if there is none."""
        drained = results.drain_results(Caller.local(_agent(peer)))
        return drained[0] if drained else None

    def recent_results(self, limit: int) -> Sequence[Result]:
        """Return up to ``limit`` results that were not drained yet, oldest first."""
        return lists.recent_results(Caller.local(), limit=limit).items


def _agent(named: AgentRef | Agent | str) -> Agent:
    if isinstance(named, Agent):
        return named
    return registration.find_agent(named if isinstance(named, AgentRef) else AgentRef.parse(named))
