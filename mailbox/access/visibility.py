"""Which tasks and leases a caller may see."""

from __future__ import annotations

from mailbox.access.callers import Caller
from mailbox.models import Agent, Lease, Task
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.task_queries import TaskQuerySet


def visible_tasks(caller: Caller) -> TaskQuerySet:
    """Return the tasks that the caller may see.

    An agent sees the tasks that it is party to. By a public route it sees only the tasks that it sent. People and the
    hub itself see all tasks.
    """
    if caller.sends_only and caller.agent is not None:
        return Task.objects.sent_by(caller.agent)
    return Task.objects.visible_to(caller.party)


def own_a2a_tasks(caller: Caller, recipient: Agent) -> TaskQuerySet:
    """Return the tasks that the caller sent to ``recipient`` by the official protocol. People have none."""
    return Task.objects.filter(sender=caller.agent, recipient=recipient).of_official_dialect()


def visible_leases(caller: Caller) -> LeaseQuerySet:
    """Return the leases, live or ended, of the tasks that the caller may see."""
    if caller.sends_only and caller.agent is not None:
        return Lease.objects.of_tasks_from(caller.agent)
    return Lease.objects.visible_to(caller.party)
