"""What a sender does with its tasks: send, cancel."""

from __future__ import annotations

from uuid import UUID

from django.db import IntegrityError

from mailbox.gate import audit, capabilities, entries
from mailbox.gate.audit import Journal
from mailbox.gate.callers import Caller
from mailbox.gate.requests import Request
from mailbox.models import Agent, AuditEvent, Lease, Task
from mailbox.verbs.agents import finding
from mailbox.verbs.hot import plain
from mailbox.verbs.life import callbacks, expiry, replay
from mailbox.verbs.life.resolution import resolve
from mailbox.words.envelopes import TaskEnvelope, check_reason
from mailbox.words.errors import (
    AlreadyResolvedError,
    SenderMismatchError,
    TaskConflictError,
    WrongPartyError,
)


def send_task(caller: Caller, envelope: TaskEnvelope) -> Task:
    """Store a task for its recipient; return it, durable, whether it was new or an identical repeat.

    The returned row shows the task as it was stored, of a repeat as it was read now, with its result: answers need no
    further query. A repeat whose time is up is resolved as expired first.

    Order of refusals: `InvalidRequestError`, `SenderMismatchError`, a capability error for
    ``a2a.send.<recipient>``, `UnknownAgentError`, `TaskConflictError`. A repeat of the caller's own id
    with the same content and callback makes no second row and counts no use. An idempotent task whose work is cached is
    resolved at once; one whose work is under way waits on it. Locks the task it waits on; journals
    ``capability_check``, ``a2a_task_sent`` and for a cached answer ``a2a_result_replayed``.
    Source: Covenant A2A, "Daemon-mediated flow", "Capability gating"; idempotency policy.
    """
    check(envelope)
    return plain.send_task(caller, envelope) or _whole_send(caller, envelope)


def check(envelope: TaskEnvelope) -> None:
    """Raise `InvalidRequestError` for a task that nobody may send. `send_task` checks it too; a batch checks all first."""
    envelope.check()
    callbacks.judge(envelope.callback_url)


def _whole_send(caller: Caller, envelope: TaskEnvelope) -> Task:
    """Send in every case, also those that `plain.send_task` leaves alone."""
    try:
        return audit.once_more_on_conflict(lambda: _send(caller, envelope))
    except IntegrityError as error:
        # The task of this id was compacted, but its life stays in the journal, which numbers no second life.
        if envelope.id is None or not AuditEvent.objects.of_task(envelope.id).exists():
            raise
        raise TaskConflictError(task_id=envelope.id) from error


def _send(caller: Caller, envelope: TaskEnvelope) -> Task:
    with audit.decision(caller) as journal:
        sender = _sender(caller, envelope)
        fitting = Agent.objects.fitting(envelope.recipient)
        known = fitting[0] if len(fitting) == 1 else None
        earlier = Task.objects.whole().filter(uuid=envelope.id).first() if envelope.id else None
        if known and earlier:
            repeat = Task.from_envelope(envelope, sender=sender, recipient=known, now=journal.now)
            if earlier.says(repeat) and callbacks.is_asked_again(earlier, envelope):
                expired = expiry.expire_within(journal, earlier)
                return Task.objects.whole().get(pk=earlier.pk) if expired else earlier
        journal.admit(Request.to_send(known or envelope.recipient, envelope.id))
        recipient = finding.the_one(caller, envelope.recipient, fitting)
        if earlier:
            raise TaskConflictError(task_id=envelope.id)
        task = Task.from_envelope(envelope, sender=sender, recipient=recipient, now=journal.now)
        return _insert(task, envelope, journal)


def _insert(task: Task, envelope: TaskEnvelope, journal: Journal) -> Task:
    """Store a new task: answered at once from the cache, waiting on the task that does its work, or leasable."""
    entry = leader = None
    task.cache_key = replay.cache_key(task)
    if task.cache_key is not None:
        # The leader first: once it is locked, or known to be gone, its result cannot slip in between.
        leader = replay.leader(task.cache_key)
        entry = replay.find(task.cache_key, journal.now)
        task.waits_on = None if entry else leader
    if entry is not None:
        task.cache_key = None
    task.save(force_insert=True)
    callbacks.remember(task, envelope)
    waits_on = leader.uuid if task.waits_on and leader else None
    journal.life(task, entries.task_sent(task.sender.display, task.recipient.display, waits_on=waits_on))
    if entry is not None:
        replay.answer(task, entry, journal)
    return task


def cancel(caller: Caller, task_id: UUID, *, reason: str = "") -> Task:
    """Resolve the caller's own task as ``cancelled``, queued or in flight; cancelling twice changes nothing.

    A live lease ends with it; its holder learns at its next call. The sender finds an error result that
    says so. Raises `UnknownTaskError`, `AlreadyResolvedError`. Journals ``a2a_task_cancelled``.
    """
    reason = check_reason(reason) if reason else ""
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        own = Task.objects.filter(sender=caller.agent)  # no task has no sender: only agents cancel
        task = own.with_parties().locked().filter(uuid=task_id).first()
        if task is None:
            raise capabilities.not_theirs(caller, task_id, only="only its sender cancels it; a holder releases it")
        if task.outcome == Task.Outcome.CANCELLED:
            return task
        if task.state == Task.State.RESOLVED:
            raise AlreadyResolvedError(f"task {task_id} is already resolved as {task.outcome}", task_id=task_id)
        resolve(
            task,
            Task.Outcome.CANCELLED,
            journal,
            entries.task_cancelled(reason),
            end=Lease.End.CANCEL,
            lease=task.live_lease(),
            error_message=f"cancelled by the sender: {reason}" if reason else "cancelled by the sender",
        )
    return task


def _sender(caller: Caller, envelope: TaskEnvelope) -> Agent:
    """Return the agent that sends; the claim in the envelope must be the caller itself."""
    claimed = envelope.sender
    if caller.agent is None:
        raise WrongPartyError("only agents send tasks; use an agent's key")
    if claimed is None or claimed.pubkey == caller.agent.pubkey:
        return caller.agent
    if claimed.pubkey is None and claimed.display in (caller.agent.display, caller.agent.display.partition("@")[0]):
        return caller.agent
    raise SenderMismatchError(
        f'task.sender "{claimed}" is not the authenticated caller "{caller.agent}"; leave it out to send as yourself',
        entry=entries.sender_mismatch(envelope.id, caller.agent.display, str(claimed)),
    )
