"""What a sender does with its tasks: send, cancel."""

from __future__ import annotations

from uuid import UUID

from mailbox import audit, capabilities
from mailbox.callers import Caller
from mailbox.capabilities import Request
from mailbox.envelopes import AgentRef, TaskEnvelope, check_reason
from mailbox.errors import (
    AlreadyResolvedError,
    Draft,
    SenderMismatchError,
    TaskConflictError,
    UnknownAgentError,
    UnknownTaskError,
    WrongPartyError,
)
from mailbox.kinds import Kind
from mailbox.models import Agent, Lease, Task


def send_task(caller: Caller, envelope: TaskEnvelope) -> Task:
    """Store a task for its recipient; return it, durable, whether it was new or an identical repeat.

    Order of refusals: `InvalidRequestError`, `SenderMismatchError`, a capability error for
    ``a2a.send.<recipient>``, `UnknownAgentError`, `TaskConflictError`. A repeat of the caller's own id
    with the same content makes no second row and counts no use. Journals ``capability_check`` and
    ``a2a_task_sent``. Source: Covenant A2A, "Daemon-mediated flow" and "Capability gating".
    """
    envelope.check()
    return audit.once_more_on_conflict(lambda: _send(caller, envelope))


def _send(caller: Caller, envelope: TaskEnvelope) -> Task:
    with audit.decision(caller) as journal:
        sender = _sender(caller, envelope)
        recipient = _recipient(envelope.recipient)
        earlier = Task.objects.with_parties().filter(uuid=envelope.id).first() if envelope.id else None
        if recipient and earlier:
            repeat = Task.from_envelope(envelope, sender=sender, recipient=recipient, now=journal.now)
            if earlier.says(repeat):
                return earlier
        request = Request(
            verb=capabilities.SEND,
            scope_id=f"a2a-send:{recipient or envelope.recipient}",
            target=recipient or envelope.recipient,
            peer_pubkey_b58=recipient.pubkey if recipient else envelope.recipient.pubkey,
            task_id=envelope.id,
        )
        permit = capabilities.require(caller, request, journal.now)
        permit.use(journal.now)
        if recipient is None:
            raise UnknownAgentError(f'no agent "{envelope.recipient}" is registered here', agent=envelope.recipient)
        if earlier:
            raise TaskConflictError(task_id=envelope.id)
        task = Task.from_envelope(envelope, sender=sender, recipient=recipient, now=journal.now)
        task.save(force_insert=True)
        journal.beside(permit.draft)
        journal.life(task, Kind.TASK_SENT, sender=sender.display, recipient=recipient.display)
        return task


def cancel(caller: Caller, task_id: UUID, *, reason: str = "") -> Task:
    """Resolve the caller's own task as ``cancelled``, queued or in flight; cancelling twice changes nothing.

    A live lease ends with it; its holder learns at its next call. The sender finds an error result that
    says so. Raises `UnknownTaskError`, `AlreadyResolvedError`. Journals ``a2a_task_cancelled``.
    """
    reason = check_reason(reason) if reason else ""
    with audit.decision(caller) as journal:
        sent = Task.objects.filter(sender=caller.agent) if caller.agent else Task.objects.none()
        task = sent.with_parties().locked().filter(uuid=task_id).first()
        if task is None:
            raise UnknownTaskError.of(task_id)
        if task.outcome == Task.Outcome.CANCELLED:
            return task
        if task.state == Task.State.RESOLVED:
            raise AlreadyResolvedError(f"task {task_id} is already resolved as {task.outcome}", task_id=task_id)
        task.resolve(
            Task.Outcome.CANCELLED,
            journal.now,
            lease=task.live_lease(),
            end=Lease.End.CANCEL,
            error_message=f"cancelled by the sender: {reason}" if reason else "cancelled by the sender",
        )
        journal.life(task, Kind.TASK_CANCELLED, reason=reason)
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
    data = {"peer_display": caller.agent.display, "claimed_sender_display": str(claimed)}
    raise SenderMismatchError(
        f'task.sender "{claimed}" is not the authenticated caller "{caller.agent}"; leave it out to send as yourself',
        draft=Draft(kind=Kind.SENDER_MISMATCH, task_id=envelope.id, data=data),
    )


def _recipient(ref: AgentRef) -> Agent | None:
    try:
        return Agent.objects.named(ref)
    except UnknownAgentError:
        return None
