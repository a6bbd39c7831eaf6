"""The verbs of a sender: send and cancel a task."""

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError

from mailbox.access import audit, capabilities
from mailbox.access.agents import directory
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.access.requests import Request
from mailbox.journal import compacted_tasks, task_entries
from mailbox.life import expiry, push_configs, replay
from mailbox.life.fast_path import plain
from mailbox.life.resolution import resolve
from mailbox.models import Agent, AuditEvent, Lease, Task
from mailbox.words.envelopes import A2A, TaskEnvelope, check_reason
from mailbox.words.errors import (
    AlreadyResolvedError,
    QuotaExceededError,
    SenderMismatchError,
    TaskConflictError,
    WrongPartyError,
)


def send_task(caller: Caller, envelope: TaskEnvelope) -> Task:
    """Store a task for its recipient; return it once it is durable.

    A repeat names an earlier task of the caller with the same content, callback and webhook. It stores no second row,
    counts no use of a grant, and returns the earlier task with its result. If that task is past its deadline or work
    timeout, it is resolved as expired first. If it was compacted, the repeat returns it from the journal, as an object
    without a row. Its result then has no content, and its error message says that the result was deleted. The earlier
    task has ``was_sent_before``.

    An idempotent task whose result is cached is resolved at once. An idempotent task whose work is under way waits on
    the task that does the work.

    Raises, in this order: `InvalidRequestError`, `WrongPartyError` for callers without an agent, `SenderMismatchError`,
    a capability error for ``a2a.send.<recipient>``, `UnknownAgentError`, `TaskConflictError`, `QuotaExceededError`. The
    conflict has ``is_forgotten`` if an earlier version compacted the task of that id. Locks the task that it waits on,
    then the stocks that `quotas.take` locks.

    Journals ``capability_check``, ``a2a_task_sent``, and for a cached result ``a2a_result_replayed``. Source: Covenant
    A2A, "Daemon-mediated flow", "Capability gating"; idempotency policy.
    """
    check(envelope)
    quotas.store_grown()
    if caller.is_anonymous and caller.agent:
        _check_site(caller, caller.agent, envelope)
    return plain.send_task(caller, envelope) or _whole_send(caller, envelope)


def check(envelope: TaskEnvelope) -> None:
    """Raise `InvalidRequestError` for a task that no caller may send.

    `send_task` checks its task too. A batch checks all of its tasks before it sends the first.
    """
    envelope.check()
    push_configs.judge(envelope.callback_url)
    push_configs.check(envelope.push, prefix="push.")


def _check_site(caller: Caller, sender: Agent, envelope: TaskEnvelope) -> None:
    """Raise `QuotaExceededError` for a stranger whose network has its share of the queue, and journal the refusal."""
    try:
        quotas.check_site(sender.pk, envelope.recipient, caller.address, of=sender.display)
    except QuotaExceededError as refusal:
        if refusal.entry is not None:
            audit.refuse(caller, refusal.entry)
        raise


def _whole_send(caller: Caller, envelope: TaskEnvelope) -> Task:
    """Send any task. `plain.send_task` handles only the common case."""
    try:
        return audit.again_on_conflict(lambda: _send(caller, envelope))
    except IntegrityError as error:
        # Another task of this id was compacted. Its life stays in the journal, so its numbers are taken.
        if envelope.id is None or not AuditEvent.objects.of_task(envelope.id).exists():
            raise
        raise TaskConflictError(task_id=envelope.id, is_forgotten=_is_forgotten(envelope.id)) from error


def _is_forgotten(task_id: UUID) -> bool:
    """Whether an earlier version compacted the task, and so kept no digest of its request."""
    return not Task.objects.filter(uuid=task_id).exists() and compacted_tasks.find(task_id) is None


def _send(caller: Caller, envelope: TaskEnvelope) -> Task:
    with audit.decision(caller) as journal:
        sender = _sender(caller, envelope)
        fitting = Agent.objects.fitting(envelope.recipient)
        known = fitting[0] if len(fitting) == 1 else None
        earlier = Task.objects.whole().filter(uuid=envelope.id).first() if envelope.id else None
        if known and envelope.id and (again := _sent_before(sender, known, earlier, envelope, journal)):
            again.was_sent_before = True
            return again
        journal.admit(Request.to_send(known or envelope.recipient, envelope.id))
        recipient = directory.only_match(caller, envelope.recipient, fitting)
        if earlier:
            raise TaskConflictError(task_id=envelope.id)
        task = Task.from_envelope(envelope, sender=sender, recipient=recipient, now=journal.now)
        return _insert(task, envelope, journal)


def _sent_before(
    sender: Agent, recipient: Agent, earlier: Task | None, envelope: TaskEnvelope, journal: Journal
) -> Task | None:
    """Return the task that ``envelope`` repeats, also a compacted one; None if it repeats none.

    ``earlier`` is the task of this id. The journal is read after it, since a compaction may delete its rows meanwhile.
    """
    repeat = Task.from_envelope(envelope, sender=sender, recipient=recipient, now=journal.now)
    if earlier and earlier.says(repeat) and _has_same_targets(earlier, envelope):
        expired = expiry.expire_within(journal, earlier)
        return Task.objects.whole().get(pk=earlier.pk) if expired else earlier
    gone = compacted_tasks.find(repeat.uuid)
    if gone and gone.was_sent_as(repeat, (envelope.callback_url, envelope.callback_secret)):
        return gone.as_task(repeat) if _has_same_webhook(gone.task_id, gone.sent_at, envelope) else None
    return None


def _has_same_targets(earlier: Task, envelope: TaskEnvelope) -> bool:
    """Whether ``envelope`` names the callback and the webhook that ``earlier`` was sent with."""
    has_same = push_configs.has_same_callback(earlier, envelope)
    return has_same and _has_same_webhook(earlier.uuid, earlier.sent_at, envelope)


def _has_same_webhook(task_id: UUID, sent_at: datetime, envelope: TaskEnvelope) -> bool:
    return envelope.dialect != A2A or push_configs.has_same_webhook(task_id, sent_at, envelope.push)


def _insert(task: Task, envelope: TaskEnvelope, journal: Journal) -> Task:
    """Store a new task. It is resolved from the cache, waits on the task that does its work, or can be leased."""
    entry = leader = None
    task.cache_key = replay.cache_key(task)
    if task.cache_key is not None:
        # The leader is locked before the cache is read: otherwise its result could be cached in between.
        leader = replay.leader(task.cache_key)
        entry = replay.find(task.cache_key, journal.now)
        task.waits_on = None if entry else leader
    if entry is not None:
        task.cache_key = None
    task.save(force_insert=True)
    quotas.take(task)
    push_configs.remember_callback(task, envelope)
    waits_on = leader.uuid if task.waits_on and leader else None
    parties = task.sender.display, task.recipient.display
    journal.life(task, task_entries.TaskSentEntry(*parties, waits_on=waits_on, copy_of=envelope.copy_of))
    if envelope.push is not None:
        push_configs.remember_webhook(task, envelope.push, journal, after=task.journal_seq)
    if entry is not None:
        replay.answer(task, entry, journal)
    return task


def cancel(caller: Caller, task_id: UUID, *, reason: str = "") -> Task:
    """Resolve an unresolved task of the caller as ``cancelled``. A second call changes nothing.

    A live lease ends; its holder is refused at its next call. The task gets an error result for the sender. Raises
    `InvalidRequestError` for a bad reason, `WrongPartyError` by a public route, `UnknownTaskError`, also for people,
    and `AlreadyResolvedError`. Locks the task row; journals ``a2a_task_cancelled``.
    """
    reason = check_reason(reason) if reason else ""
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        own = Task.objects.filter(sender=caller.agent)  # a caller without an agent has no task
        task = own.with_parties().locked().filter(uuid=task_id).first()
        if task is None:
            raise capabilities.not_theirs(
                caller, task_id, only="only its sender can cancel it; its holder can release it"
            )
        if task.outcome == Task.Outcome.CANCELLED:
            return task
        if task.state == Task.State.RESOLVED:
            raise AlreadyResolvedError(f"Task {task_id} is already resolved as {task.outcome}.", task_id=task_id)
        resolve(
            task,
            Task.Outcome.CANCELLED,
            journal,
            task_entries.TaskCancelledEntry(reason),
            end=Lease.End.CANCEL,
            lease=task.live_lease(),
            error_message=f"cancelled by the sender: {reason}" if reason else "cancelled by the sender",
        )
    return task


def _sender(caller: Caller, envelope: TaskEnvelope) -> Agent:
    """Return the sender. If the envelope names a sender, it must be the caller's agent."""
    claimed, own = envelope.sender, agent_of(caller)
    if claimed is None or claimed.pubkey == own.pubkey:
        return own
    if claimed.pubkey is None and claimed.display in (own.display, own.display.partition("@")[0]):
        return own
    raise SenderMismatchError(
        f'task.sender "{claimed}" is not the caller "{own}". Leave it out to send as yourself.',
        entry=task_entries.SenderMismatchEntry(own.display, str(claimed), task_id=envelope.id),
    )


def agent_of(caller: Caller) -> Agent:
    """Return the agent that sends; raise `WrongPartyError` for a caller without an agent."""
    if caller.agent is None:
        raise WrongPartyError("Only agents send tasks. Use the API key of an agent.")
    return caller.agent
