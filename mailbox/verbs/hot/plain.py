"""The plain case of the hot verbs, in one statement, or in the few that SQLite needs.

Each function takes the same decision as the verb it serves, from the same words, and journals it the same. It returns
None for everything unusual (a refusal, a repeat, a task past its deadline, a duplicate, a race lost), having changed
nothing: the verb's own form is the reference, and then decides.
"""

from __future__ import annotations

import uuid
from dataclasses import fields
from datetime import datetime
from types import ModuleType
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from mailbox.gate import actions, capabilities
from mailbox.gate.callers import Caller
from mailbox.gate.capabilities import Permit
from mailbox.gate.requests import Request
from mailbox.models import Agent, Lease, Result, Task
from mailbox.verbs.hot import postgresql, sqlite
from mailbox.words import json_text
from mailbox.words.envelopes import DISPLAY, AgentRef, DuplicateSafety, ResultEnvelope, TaskEnvelope, is_pubkey
from mailbox.words.errors import MailboxError
from mailbox.words.times import epoch_ms

_TASK = [field.attname for field in Task._meta.concrete_fields]
_LEASE = [field.attname for field in Lease._meta.concrete_fields]
_RESULT = [field.attname for field in Result._meta.concrete_fields]

# What the row of a task holds; an envelope that says more, also in ways yet to come, is not plain.
_IN_THE_ROW = {
    *("id", "sender", "recipient", "intent_text", "task_kind", "parent", "deadline_ms", "idempotency"),
    *("context_id", "metadata", "work_timeout", "source", "dialect"),
}
_BEYOND_THE_ROW = [field.name for field in fields(TaskEnvelope) if field.name not in _IN_THE_ROW]


def send_task(caller: Caller, envelope: TaskEnvelope) -> Task | None:
    """Store a task of the caller's own for the one agent that is named whole; None when it is not that plain."""
    named = envelope.recipient
    if not _serves(caller) or caller.agent is None or not _is_plain(envelope, caller.agent):
        return None
    now = timezone.now()
    permit = _permit(caller, Request.to_send(named, envelope.id), now)
    if permit is None or (named.pubkey is None and _may_rest_on_a_key(caller, now)):
        return None
    task = Task.from_envelope(envelope, sender=caller.agent, recipient=Agent(), now=now)
    row = _store().send(
        task,
        display=named.display,
        pubkey=named.pubkey,
        check_task=envelope.id,
        check=json_text.dumps(permit.check.data),
        sent=json_text.dumps({"sender": caller.agent.display, "recipient": named.display}),
        **_stamp(caller, now),
    )
    if row is None:
        return None
    task.pk, *recipient = row
    task.recipient = Agent.from_identity(*recipient)
    task._state.adding, task._state.db = False, connection.alias
    return task


def lease_task(caller: Caller, attempt_id: UUID | None) -> list[Lease] | None:
    """Lease the caller's oldest task; an empty list when none waits."""
    if not _serves(caller) or caller.agent is None:
        return None
    now, lease_id = timezone.now(), uuid.uuid4()
    before, after = json_text.dumps({"lease_id": str(lease_id), "attempt": 0, "holder": caller.agent.display}).split(
        '"attempt":0', 1
    )
    row = _store().lease(
        holder=caller.agent.pk,
        lease_id=lease_id,
        attempt_id=attempt_id,
        now_ms=epoch_ms(now),
        before_attempt=f'{before}"attempt":',
        after_attempt=after,
        **_stamp(caller, now),
    )
    if row is None or row[len(_TASK)] is None:
        return [] if row is not None and attempt_id is None and not row[-1] else None
    task = Task.from_db(connection.alias, _TASK, row[: len(_TASK)])
    task.sender, task.recipient = Agent.from_identity(*row[-4:-1]), caller.agent
    lease = Lease.from_db(connection.alias, _LEASE, row[len(_TASK) : -4])
    lease.task, lease.holder = task, caller.agent
    return [lease]


def post_result(caller: Caller, envelope: ResultEnvelope) -> Result | None:
    """Resolve a leased task with its holder's result, where nobody else is to learn of its end."""
    if not _serves(caller) or caller.agent is None:
        return None
    now = timezone.now()
    seen = _store().answerable(uuid=envelope.task_id, recipient=caller.agent.pk, lease_id=envelope.lease_id, at=now)
    if seen is None:
        return None
    task_pk, task_id, attempt, journal_seq, *sender, lease_id = seen
    task = Task.from_db(
        connection.alias,
        ["id", "uuid", "sender_id", "recipient_id", "attempt"],  # in the model's order
        [task_pk, task_id, sender[0], caller.agent.pk, attempt],
    )
    task.sender, task.recipient = Agent.from_identity(*sender), caller.agent
    permit = _permit(caller, Request.to_respond(task.sender, task_id, envelope.lease_id), now)
    if permit is None:
        return None
    posted = {"status": envelope.status, "lease_id": str(lease_id), "attempt": attempt, "late_result": False}
    row = _store().post(
        task=task_pk,
        journal_seq=journal_seq,
        status=str(envelope.status),
        content=json_text.dumps([dict(block) for block in envelope.content]),
        error_message=envelope.error_message,
        check=json_text.dumps(permit.check.data),
        posted=json_text.dumps(posted),
        **_stamp(caller, now),
    )
    if row is None:
        return None
    result = Result.from_db(connection.alias, _RESULT, row)
    result.task = task
    return result


def drain_result(caller: Caller, attempt_id: UUID | None) -> list[Result] | None:
    """Deliver the caller's oldest pending result; an empty list when none waits and none is due."""
    if not _serves(caller) or caller.agent is None:
        return None
    now = timezone.now()
    delivered = json_text.dumps({"attempt_id": attempt_id and str(attempt_id)})
    row = _store().drain(
        sender=caller.agent.pk,
        attempt_id=attempt_id,
        now_ms=epoch_ms(now),
        delivered=delivered,
        **_stamp(caller, now),
    )
    if row is None or row[0] is None:
        return [] if row is not None and attempt_id is None and row[-1] else None
    result = Result.from_db(connection.alias, _RESULT, row[:-4])
    result.task = Task.from_db(connection.alias, ["id", "uuid", "journal_seq"], row[-4:-1])
    return [result]


def is_outermost() -> bool:
    """Whether no transaction is open, so that the statements of this form commit when they return."""
    return not connection.in_atomic_block


def _serves(caller: Caller) -> bool:
    """Whether this form applies: an agent calls, outside of any transaction. The verb refuses to run inside one."""
    return caller.agent is not None and is_outermost()


def _is_plain(envelope: TaskEnvelope, sender: Agent) -> bool:
    """Whether the task is all in one row, claims no other sender, repeats no other work and names its recipient whole."""
    if any(getattr(envelope, name) is not None for name in _BEYOND_THE_ROW):
        return False
    if envelope.sender not in (None, AgentRef(sender.display, sender.pubkey)):
        return False
    if envelope.idempotency is not None and envelope.idempotency.duplicate_safety == DuplicateSafety.IDEMPOTENT:
        return False
    return DISPLAY.fullmatch(envelope.recipient.display or "") is not None


def _store() -> ModuleType:
    return postgresql if connection.vendor == "postgresql" else sqlite


def _permit(caller: Caller, request: Request, now: datetime) -> Permit | None:
    """Return the permit if it rests on a grant with no uses to count; what is refused, is refused by the verb."""
    try:
        permit = capabilities.require(caller, request, now)
    except MailboxError:
        return None
    return permit if permit.grant is not None and permit.grant.max_uses is None else None


def _may_rest_on_a_key(caller: Caller, now: datetime) -> bool:
    """Whether a grant to send names or pins a key: a display alone does not tell whether that grant covers the task."""
    held = [grant for grant in capabilities.live_grants(caller, now) if grant.action.startswith(actions.SEND)]
    return any("peer_pubkey_b58" in grant.pins or is_pubkey(grant.action.rpartition(".")[2]) for grant in held)


def _stamp(caller: Caller, now: datetime) -> dict[str, Any]:
    """Return what all journal rows of one decision share."""
    return {
        "actor": caller.name,
        "actor_pubkey": caller.agent and caller.agent.pubkey,
        "at": now,
        "request_id": caller.request_id,
        "source": str(caller.source),
    }
