"""Which tasks a caller may see."""

from __future__ import annotations

from mailbox.gate.callers import Caller
from mailbox.models import Task
from mailbox.models.task import TaskQuerySet


def visible_tasks(caller: Caller) -> TaskQuerySet:
    """Return the tasks that the caller may see: an agent those it is party to, people and the hub's own all.

    A caller by a public route sees those that its agent sent.
    """
    if caller.sends_only and caller.agent is not None:
        return Task.objects.sent_by(caller.agent)
    return Task.objects.visible_to(caller.party)
