"""The plain case of the hot verbs, in one statement, or in the few that SQLite needs.

Each function takes the same decision as the verb of `life` that calls it, and writes the same journal rows. It returns
None and changes nothing in every other case: a refusal, a repeat, a task out of time, a duplicate, a lost race.
"""

import uuid
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from types import ModuleType
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.utils import timezone

from mailbox.access import audit, capabilities, requests
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.database import managers
from mailbox.database.bell import ringing, topics
from mailbox.journal import task_entries
from mailbox.life.fast_path import postgresql, sqlite, statements
from mailbox.models import Agent, Lease, Result, Task
from mailbox.models.result import size_of
from mailbox.words import json_text
from mailbox.words.envelopes import DISPLAY, AgentRef, DuplicateSafety, ResultEnvelope, TaskEnvelope, is_pubkey
from mailbox.words.errors import MailboxError
from mailbox.words.kinds import LifeEntry
from mailbox.words.times import epoch_ms

TASK = [field.attname for field in Task._meta.concrete_fields]
LEASE = [field.attname for field in Lease._meta.concrete_fields]
RESULT = [field.attname for field in Result._meta.concrete_fields]
_DELIVERED = ("id", "uuid", "journal_seq")  # of the task of a delivered result
_ANSWERED = ("id", "uuid", "sender_id", "recipient_id", "attempt")

# The fields of an envelope that one task row holds. Every other field makes a task not plain, also a field to come.
_IN_THE_ROW = {
    *("id", "sender", "recipient", "intent_text", "task_kind", "parent", "deadline_ms", "idempotency"),
    *("context_id", "metadata", "work_timeout", "source", "dialect", "converses", "reads_result"),
}
_BEYOND_THE_ROW = [field.name for field in fields(TaskEnvelope) if field.name not in _IN_THE_ROW]


def send_task(caller: Caller, envelope: TaskEnvelope) -> Task | None:
    """Store a task for a recipient named by its whole display; None when the task is not plain."""
    sender, named = served(caller), envelope.recipient
    if sender is None or not is_plain(envelope, sender):
        return None
    now = timezone.now()
    permit = permitted(caller, requests.Request.to_send(named, envelope.id), now)
    if permit is None:
        return None
    task = Task.from_envelope(envelope, sender=sender, recipient=Agent(), now=now)
    row = _store().send(
        task,
        display=named.display,
        pubkey=named.pubkey,
        most_queued=quotas.QUEUED.default,
        most_queued_to_one=quotas.QUEUED_OF_PAIR.default,
        most_bytes=quotas.BYTES.default,
        **_checked(permit),
        **journalled(caller, task_entries.TaskSentEntry(sender.display, str(named)), now),
    )
    if row is None:
        return None
    task.pk, *recipient = row
    task.recipient = Agent.from_identity(*recipient)
    task._state.adding, task._state.db = False, DEFAULT_DB_ALIAS
    ringing.ring([topics.agent(task.recipient_id)])
    audit.note_tasks([task.uuid])
    return task


def lease_task(caller: Caller, attempt_id: UUID | None) -> list[Lease] | None:
    """Lease the caller's oldest queued task; an empty list when the caller has no queued task."""
    holder = served(caller)
    if holder is None:
        return None
    now, lease_id = timezone.now(), uuid.uuid4()
    row = _store().lease(
        holder=holder.pk,
        lease_id=lease_id,
        attempt_id=attempt_id,
        **credential(caller),
        now_ms=epoch_ms(now),
        **journalled(caller, task_entries.TaskLeasedEntry(lease_id, statements.ATTEMPT_TO_COME, holder.display), now),
    )
    if row is None or row[len(TASK)] is None:
        return [] if row is not None and attempt_id is None and not row[-1] else None
    lease = leased(holder, row[:-1])
    ringing.ring([topics.task(lease.task.uuid)])
    audit.note_tasks([lease.task.uuid])
    return [lease]


def leased(holder: Agent, row: Sequence[Any]) -> Lease:
    """Return the lease of a row, which holds the values of its task, its own, and the identity of the sender."""
    sender = Agent.from_identity(*row[-3:])
    task = managers.instance_of(Task, TASK, row[: len(TASK)], sender=sender, recipient=holder)
    return managers.instance_of(Lease, LEASE, row[len(TASK) : -3], task=task, holder=holder)


def post_result(caller: Caller, envelope: ResultEnvelope) -> Result | None:
    """Resolve a leased task with its holder's result; None when a callback or a duplicate waits for its end."""
    holder = served(caller)
    if holder is None:
        return None
    now = timezone.now()
    seen = _store().answerable(uuid=envelope.task_id, recipient=holder.pk, lease_id=envelope.lease_id, at=now)
    if seen is None:
        return None
    task_pk, task_id, attempt, journal_seq, *identity, lease_id = seen
    sender = Agent.from_identity(*identity)
    known = (task_pk, task_id, sender.pk, holder.pk, attempt)
    task = managers.instance_of(Task, _ANSWERED, known, sender=sender, recipient=holder)
    permit = permitted(caller, requests.Request.to_respond(sender, task_id, envelope.lease_id), now)
    if permit is None:
        return None
    content = json_text.dumps([dict(block) for block in envelope.content])
    row = _store().post(
        task_id=task_pk,
        journal_seq=journal_seq,
        status=str(envelope.status),
        content=content,
        error_message=envelope.error_message,
        result_size=size_of(content, envelope.error_message),
        **_checked(permit),
        **journalled(caller, task_entries.ResultPostedEntry(envelope.status, lease_id=lease_id, attempt=attempt), now),
    )
    if row is None:
        return None
    result = managers.instance_of(Result, RESULT, row)
    result.task = task
    ringing.ring([topics.sender(task.sender_id), topics.task(task.uuid)])
    audit.note_tasks([task.uuid])
    quotas.grow_by_result(task.sender_id, result.size)
    return result


def drain_result(caller: Caller, attempt_id: UUID | None) -> list[Result] | None:
    """Deliver the caller's oldest pending result; an empty list when it has neither a result nor a task out of time."""
    sender = served(caller)
    if sender is None:
        return None
    now = timezone.now()
    row = _store().drain(
        sender=sender.pk,
        attempt_id=attempt_id,
        **credential(caller),
        now_ms=epoch_ms(now),
        **journalled(caller, task_entries.ResultDeliveredEntry(attempt_id), now),
    )
    if row is None or row[0] is None:
        return [] if row is not None and attempt_id is None and row[-1] else None
    result = delivered(row[:-1])
    audit.note_tasks([result.task.uuid])
    return [result]


def delivered(row: Sequence[Any]) -> Result:
    """Return the result of a row, which holds its values, and the pk, uuid and journal number of its task."""
    result = managers.instance_of(Result, RESULT, row[:-3])
    result.task = managers.instance_of(Task, _DELIVERED, row[-3:])
    return result


def is_outermost() -> bool:
    """Whether no transaction is open, so that the statements of this form commit when they return."""
    return not connections[DEFAULT_DB_ALIAS].in_atomic_block


def served(caller: Caller) -> Agent | None:
    """Return the agent to serve; None for a caller without an agent, and within an open transaction.

    The whole form runs then. In an open transaction, its durable transaction raises `RuntimeError`. The whole form also
    runs while a signed request has not spent its nonce, since it spends the nonce in the transaction of the change.
    """
    if caller.nonce is not None and not caller.nonce.is_spent:
        return None
    return caller.agent if is_outermost() else None


def is_plain(envelope: TaskEnvelope, sender: Agent) -> bool:
    """Whether the task fits in one row, claims no other sender, may not repeat other work and names a whole display."""
    if any(getattr(envelope, name) is not None for name in _BEYOND_THE_ROW):
        return False
    if envelope.sender not in (None, AgentRef(sender.display, sender.pubkey)):
        return False
    if envelope.idempotency is not None and envelope.idempotency.duplicate_safety == DuplicateSafety.IDEMPOTENT:
        return False
    return DISPLAY.fullmatch(envelope.recipient.display or "") is not None


def _store() -> ModuleType:
    return postgresql if connections[DEFAULT_DB_ALIAS].vendor == "postgresql" else sqlite


def permitted(caller: Caller, request: requests.Request, now: datetime) -> capabilities.Permit | None:
    """Return the permit; None if the gate refuses, counts a use, or needs a key that the request lacks."""
    try:
        permit = capabilities.require(caller, request, now)
    except MailboxError:
        return None
    if permit.grant is None:
        return permit
    if permit.grant.max_uses is not None or (request.peer_pubkey_b58 is None and _may_rest_on_a_key(caller, now)):
        return None
    return permit


def _may_rest_on_a_key(caller: Caller, now: datetime) -> bool:
    """Whether a grant to send names or pins a key: a display alone does not tell whether that grant covers the task."""
    held = [grant for grant in capabilities.live_grants(caller, now) if grant.action.startswith(requests.SEND)]
    return any("peer_pubkey_b58" in grant.pins or is_pubkey(grant.action.rpartition(".")[2]) for grant in held)


def credential(caller: Caller) -> dict[str, Any]:
    """Return the key that the caller presented, which must still be live."""
    return {"credential": caller.credential, "signing_key": caller.nonce and caller.nonce.pubkey}


def _checked(permit: capabilities.Permit) -> dict[str, Any]:
    """Return the values of the journal row of the gate's check."""
    check = permit.check
    return {
        "check_kind": str(check.row_kind),
        "check_task_id": check.task_id,
        "check_data": json_text.dumps(check.data),
    }


def journalled(caller: Caller, entry: LifeEntry, now: datetime) -> dict[str, Any]:
    """Return the values of the journal row of the change, with its `stamp`."""
    return {
        "change_kind": str(entry.row_kind),
        "change_data": json_text.dumps(entry.data),
        **stamp(caller, now),
    }


def stamp(caller: Caller, now: datetime) -> dict[str, Any]:
    """Return what all journal rows of one decision share."""
    return {
        "actor": caller.name,
        "actor_pubkey": caller.agent and caller.agent.pubkey,
        "at": now,
        "request_id": caller.request_id,
        "source": str(caller.source),
        "address": caller.address,
    }
