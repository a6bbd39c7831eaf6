"""The seed's Mailbox trait, for agents in this process. Source: Covenant A2A, "Mailbox"."""

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
    """Ten methods over the same verbs as every other door, on local trust.

    Agents are named by display, bare local part, `AgentRef` or row. Nothing here needs a grant, all of
    it is journalled.
    """

    def send_task(self, task: TaskEnvelope) -> Task:
        """Send as ``task.sender``, which must be named; see `sending.send_task`."""
        if task.sender is None:
            raise ValueError("in process a task names its sender")
        return sending.send_task(Caller.local(_agent(task.sender)), task)

    def recv_task(self, *, timeout: timedelta | None = None) -> Lease:
        """Lease the oldest task for anyone, waiting for one; raise `WaitTimeoutError`. ``timeout`` None waits for ever."""
        leases = waiting.until(lambda: leasing.lease_tasks(Caller.local()), timeout)
        if not leases:
            raise WaitTimeoutError
        return leases[0]

    def try_recv_task_for(self, recipient: AgentRef | Agent | str) -> Lease | None:
        """Lease the oldest task for ``recipient``; None when nothing waits."""
        leases = leasing.lease_tasks(Caller.local(_agent(recipient)))
        return leases[0] if leases else None

    def recent_tasks(self, limit: int) -> Sequence[Task]:
        """Return up to ``limit`` queued tasks, oldest first."""
        return lists.recent_tasks(Caller.local(), limit=limit).items

    def task_queue(self, limit: int) -> Sequence[tasks.QueueEntry]:
        """Return up to ``limit`` unresolved tasks: queued ones, then leases by age."""
        return lists.queue(Caller.local(), limit=limit).items

    def repair_task(self, task_id: UUID, *, action: str, **request: Any) -> Task | Result:
        """Apply ``requeue`` or ``force_error`` with the arguments of the verb of that name."""
        match action:
            case "requeue":
                return repair.requeue(Caller.local(), task_id, **request)
            case "force_error":
                return repair.force_error(Caller.local(), task_id, **request)
        raise ValueError(f"unknown repair action {action!r}")

    def send_result(self, result: ResultEnvelope) -> Result:
        """Post a result on behalf of the task's recipient; see `results.post_result`."""
        return results.post_result(Caller.local(lookup.recipient_of(result.task_id)), result)

    def recv_result(self, *, timeout: timedelta | None = None) -> Result:
        """Drain the oldest result for anyone, waiting for one; raise `WaitTimeoutError`. ``timeout`` None waits for ever."""
        result = results.next_result(Caller.local(), wait=timeout)
        if result is None:
            raise WaitTimeoutError
        return result

    def try_recv_result_for(self, peer: AgentRef | Agent | str) -> Result | None:
        """Drain the oldest result of ``peer``'s tasks; None when none waits."""
        drained = results.drain_results(Caller.local(_agent(peer)))
        return drained[0] if drained else None

    def recent_results(self, limit: int) -> Sequence[Result]:
        """Return up to ``limit`` results that wait to be drained, oldest first."""
        return lists.recent_results(Caller.local(), limit=limit).items


def _agent(named: AgentRef | Agent | str) -> Agent:
    if isinstance(named, Agent):
        return named
    return registration.find_agent(named if isinstance(named, AgentRef) else AgentRef.parse(named))
