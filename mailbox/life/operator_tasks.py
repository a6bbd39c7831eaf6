"""The tasks of people: sent to an agent, copied, and acknowledged once their result was read.

All people send as one agent of the hub, which has no API key. The journal names the person. A copy sends the work of a
finished task again, as a new task.
"""

import hashlib
from dataclasses import replace
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from mailbox.access import audit, requests
from mailbox.access.agents import own_agent_setup
from mailbox.access.callers import Caller
from mailbox.access.own_agents import OPERATORS
from mailbox.access.requests import Request
from mailbox.life import results, sending
from mailbox.models import Agent, CapabilityGrant, Task
from mailbox.models.task import id_of_copy
from mailbox.words import json_text
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, ResultStatus, TaskEnvelope, TaskSource
from mailbox.words.errors import InvalidRequestError
from mailbox.words.sealed import ERASED

LONGEST = 400  # characters of a key that gets a suffix; a longer key is replaced by its SHA-256


def send_task(caller: Caller, envelope: TaskEnvelope) -> Task:
    """Send a task for a person, from ``operators@hub`` and with source ``user``; return it once it is durable.

    Needs ``a2a.send``, which operators hold. An envelope with an ``id`` can be sent again. The task does not converse:
    no person answers questions. Raises and journals as `sending.send_task` does. Raises `AgentConflictError` if another
    program may act as ``operators@hub``. The result waits at ``operators@hub`` until a person calls `acknowledge`.
    A copy is taken of a task that has ended. Raises `UnknownTaskError` or `InvalidRequestError` for another task.
    """
    if envelope.copy_of and Task.objects.only("state").by_id(envelope.copy_of).state != Task.State.RESOLVED:
        raise InvalidRequestError({"task": "it has not ended yet"})
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
    return any(requests.is_for(grant, requests.RESPOND, sender) for grant in live)


def _as_operators(caller: Caller) -> Caller:
    """Return the person as the hub's agent ``operators@hub``, without the grants of that agent."""
    return replace(caller, agent=own_agent_setup.hub_agent(OPERATORS), grants=())


def key_of_copy(task: Task, *, own: UUID | None = None) -> str | None:
    """Return the idempotency key of a copy of ``task``; None if the task has no key.

    ``own`` is the id of a copy that one person writes and sends: its key is its own, so the work is done again. The
    form shows the key, and the person can put the old one back to get the cached result.

    Without ``own`` the copy is one of many in a plan, and keeps the key, because it is the same work. The recipient
    recognises it, and two copies of one key do the work once. If the hub caches errors, the key gets a suffix, so that
    the cached error does not answer the copy.
    """
    if not (key := task.idempotency_key):
        return None
    if own is not None:
        return f"{_short(key)}-copy-{own.hex[:8]}"
    return f"{_short(key)}-again" if ResultStatus.ERROR in settings.A2A_REPLAY_STATUSES else key


def envelope_of(task: Task, copy_id: UUID) -> TaskEnvelope:
    """Return the envelope of a copy by a plan: with the task's recipient, words, kind, metadata, parent, work timeout.

    Its key is that of `key_of_copy`. The copy has no deadline, conversation, callback or webhook: those are the
    sender's own. Raises `InvalidRequestError` for an erased task.
    """
    if task.intent_text.startswith(ERASED):
        raise InvalidRequestError({"task": "its payload was erased"})
    safety, key = task.duplicate_safety, key_of_copy(task)
    return TaskEnvelope(
        id=copy_id,
        recipient=AgentRef(task.recipient.display, task.recipient.pubkey),
        intent_text=task.intent_text,
        task_kind=task.task_kind,
        parent=task.parent,
        idempotency=Idempotency(duplicate_safety=DuplicateSafety(safety), key=key) if safety and key else None,
        metadata=json_text.loads(task.metadata),
        work_timeout=task.work_timeout,
        copy_of=task.uuid,
    )


def send_again(caller: Caller, task_id: UUID) -> Task:
    """Send a copy of a resolved task, from ``operators@hub``; return the copy. A second call returns the same copy.

    The result of the copy waits at ``operators@hub``: the sender of the task gets nothing more. Raises
    `UnknownTaskError`, `InvalidRequestError` for a task that has not ended or was erased, and what
    `operator_tasks.send_task` raises. Journals as that does.
    """
    task = Task.objects.with_parties().by_id(task_id)
    return send_task(caller, envelope_of(task, id_of_copy(task_id)))


def _short(key: str) -> str:
    return key if len(key) <= LONGEST else hashlib.sha256(key.encode()).hexdigest()
