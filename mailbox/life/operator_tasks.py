"""The tasks of people: sent to an agent, and acknowledged once their result was read.

All people send as one agent of the hub, which has no API key. The journal names the person.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.utils import timezone

from mailbox.access import actions, audit, requests
from mailbox.access.agents import own_agent_setup
from mailbox.access.callers import Caller
from mailbox.access.own_agents import OPERATORS
from mailbox.access.requests import Request
from mailbox.life import results, sending
from mailbox.models import Agent, CapabilityGrant, Task
from mailbox.words.envelopes import TaskEnvelope, TaskSource
from mailbox.words.errors import InvalidRequestError, UnknownTaskError


def send_task(caller: Caller, envelope: TaskEnvelope) -> Task:
    """Send a task for a person, from ``operators@hub`` and with source ``user``; return it once it is durable.

    Needs ``a2a.send``, which operators hold. An envelope with an ``id`` can be sent again. The task does not converse:
    no person answers questions. Raises and journals as `sending.send_task` does. Raises `AgentConflictError` if another
    program may act as ``operators@hub``. The result waits at ``operators@hub`` until a person calls `acknowledge`.
    A copy is taken of a task that has ended. Raises `UnknownTaskError` or `InvalidRequestError` for another task.
    """
    if envelope.copy_of is not None:
        _require_ended(envelope.copy_of)
    return sending.send_task(
        _as_operators(caller), replace(envelope, sender=None, source=TaskSource.USER, converses=False)
    )


def acknowledge(caller: Caller, task_id: UUID) -> None:
    """Acknowledge the result of a task that a person sent. Compaction may then delete the task.

    Needs ``a2a.send``. Raises a capability error, and `UnknownTaskError` for a task that has no result or that no
    person sent. Journals ``capability_check``, and ``a2a_result_acked`` the first time.
    """
    with audit.decision(caller) as journal:
        journal.admit(Request.to_acknowledge(task_id))
    results.ack_results(_as_operators(caller), [task_id])


def may_answer(agent: Agent) -> bool:
    """Whether the agent holds a live grant to post results for ``operators@hub``, within some scope."""
    sender = own_agent_setup.hub_agent(OPERATORS)
    live = CapabilityGrant.objects.live(timezone.now()).filter(subject=agent)
    return any(requests.is_for(grant, actions.RESPOND, sender) for grant in live)


def _require_ended(task_id: UUID) -> None:
    state = Task.objects.filter(uuid=task_id).values_list("state", flat=True).first()
    if state is None:
        raise UnknownTaskError.of(task_id)
    if state != Task.State.RESOLVED:
        raise InvalidRequestError({"task": "it has not ended yet"})


def _as_operators(caller: Caller) -> Caller:
    """Return the person as the hub's agent ``operators@hub``, without the grants of that agent."""
    return replace(caller, agent=own_agent_setup.hub_agent(OPERATORS), grants=())
