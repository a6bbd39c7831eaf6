"""What people do with tasks of their own: send one to an agent, and say that they have read its result.

All of them send as one agent of the hub's own, which nobody holds a key of; the journal names the person.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.utils import timezone

from mailbox.gate import actions, audit, requests
from mailbox.gate.callers import Caller
from mailbox.gate.requests import Request
from mailbox.models import Agent, CapabilityGrant, Task
from mailbox.verbs.agents import registration
from mailbox.verbs.life import results, sending
from mailbox.words.envelopes import TaskEnvelope, TaskSource

OPERATORS = "operators@hub"


def send_task(caller: Caller, envelope: TaskEnvelope) -> Task:
    """Send a task for a person, from ``operators@hub`` and with source ``user``; return it, durable.

    Needs ``a2a.send``, which operators hold. An ``id`` makes a repeat harmless. Refusals and journal as for
    `sending.send_task`. Its result waits at ``operators@hub`` until somebody says `acknowledge`.
    """
    return sending.send_task(_as_operators(caller), replace(envelope, sender=None, source=TaskSource.USER))


def acknowledge(caller: Caller, task_id: UUID) -> None:
    """Say that the result of a task sent by hand was read: it waits no longer, and compaction may drop it.

    Needs ``a2a.send``. Raises a capability error, `UnknownTaskError` for a task that has no result or was not sent by
    hand. Journals ``capability_check`` and, the first time, ``a2a_result_acked``.
    """
    with audit.decision(caller) as journal:
        journal.admit(Request.to_acknowledge(task_id))
    results.ack_results(_as_operators(caller), [task_id])


def may_answer(agent: Agent) -> bool:
    """Whether the agent holds some grant to post results for ``operators@hub``."""
    sender = registration.hub_agent(OPERATORS)
    live = CapabilityGrant.objects.live(timezone.now()).filter(subject=agent)
    return any(requests.is_for(grant, actions.RESPOND, sender) for grant in live)


def _as_operators(caller: Caller) -> Caller:
    """Return the person as the hub's agent; what that agent may have been granted is nobody's."""
    return replace(caller, agent=registration.hub_agent(OPERATORS), grants=())
