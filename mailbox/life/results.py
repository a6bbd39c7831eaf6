"""The verbs of results: post, drain and acknowledge them. A drain delivers results to the sender of their tasks."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from mailbox.access import audit, capabilities
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.access.credentials import authentication
from mailbox.access.limits import quotas, waits
from mailbox.access.requests import Request
from mailbox.database import outages, write_turns
from mailbox.database.paging import AT_ONCE, BUDGET
from mailbox.journal import compacted_tasks, task_entries
from mailbox.journal.compacted_tasks import RememberedTask
from mailbox.life import expiry, task_limits
from mailbox.life.fast_path import plain
from mailbox.life.leasing import begin_out_of_turn, require_lease
from mailbox.life.resolution import resolve
from mailbox.models import Artifact, AuditEvent, Lease, Message, Result, Task
from mailbox.models.result import ResultQuerySet
from mailbox.words.envelopes import ResultEnvelope
from mailbox.words.errors import (
    AlreadyResolvedError,
    InvalidRequestError,
    MailboxError,
    ResultConflictError,
    UnknownTaskError,
)


def deliver(
    free: QuerySet[Result], delivered: list[Result], limit: int, attempt_id: UUID | None, journal: Journal
) -> bool:
    """Deliver results of ``free`` until ``delivered`` has ``limit``, or one more would exceed `paging.BUDGET` bytes.

    Return whether ``delivered`` may take more. A first result beyond the budget is delivered alone. ``free`` locks
    the task of each result. Journals ``a2a_result_delivered``.
    """
    budget = BUDGET - sum(result.size for result in delivered)
    while len(delivered) < limit:
        wanted = min(limit - len(delivered), AT_ONCE)
        rows = list(free[:wanted])
        for result in rows:
            if delivered and result.size > budget:
                return False
            if _mark(result, len(delivered), attempt_id, journal):
                delivered.append(result)
                budget -= result.size
        if len(rows) < wanted:
            return True
    return False


def _mark(result: Result, index: int, attempt_id: UUID | None, journal: Journal) -> bool:
    """Mark a result as delivered. Return whether it was still pending.

    Only the task is locked. The filter skips a result that was delivered between the snapshot and the lock.
    """
    how = {"delivered_at": journal.now, "receive_attempt_id": attempt_id, "receive_index": index}
    pending = Result.objects.pending().filter(pk=result.pk)
    if not pending.update(delivery=Result.Delivery.DELIVERED, **how):
        return False
    result.refresh_from_db(fields=["delivery", *how])
    result.task.change()
    journal.life(result.task, task_entries.ResultDeliveredEntry(attempt_id))
    return True


def post_result(caller: Caller, envelope: ResultEnvelope, *, lease_first: bool = False) -> Result:
    """Resolve a task with a result of its recipient; return the stored result. An identical repeat changes nothing.

    A repeat for a compacted task is known by the journal. It returns the result as an object without a row, whose task
    has no content.

    ``envelope.lease_id`` must be the live lease. Without it any unresolved task is accepted, also a queued or an
    interrupted task. The status ``rejected`` resolves the task as rejected, with an error as its result. Closing words
    are stored as a message of the holder. A direct answer needs a task without messages and artifacts.
    ``lease_first`` leases a queued task in the same transaction, for dialects whose agents answer tasks that they
    never leased. It raises as `leasing.begin_out_of_turn` does. A result is rejected once the task's ``work_timeout``
    has passed, even if the sweep has not run; the task is then expired first.

    Raises, in this order: `InvalidRequestError`; `WrongPartyError` by a public route; `UnknownTaskError` for an absent
    task or another recipient's task; a capability error for ``a2a.respond.<sender>``; `ResultConflictError` for a task
    with another result; `AlreadyResolvedError` for a task that was cancelled, expired or forced to an error;
    `LeaseMismatchError`; `InvalidRequestError` for a direct answer about a task with messages or artifacts;
    `TaskTooLargeError` for closing words beyond ``A2A_TASK_MAX_BYTES``.

    Locks the task row. Journals ``capability_check`` and ``a2a_result_posted``, or ``a2a_result_rejected``, and with
    ``lease_first`` also ``a2a_task_leased``.
    Source: Covenant A2A.
    """
    envelope.check()
    caller.must_do_more_than_send()
    quotas.store_grown()
    posted = plain.post_result(caller, envelope) if envelope.is_plain else None
    return posted or _whole_post(caller, envelope, lease_first)


def _whole_post(caller: Caller, envelope: ResultEnvelope, lease_first: bool) -> Result:
    """Post any result. `plain.post_result` handles only the common case."""
    due = expiry.expire_if_due if lease_first else expiry.expire_if_timed_out
    due(caller, envelope.task_id)
    with audit.decision(caller) as journal:
        task = Task.objects.addressed_to(caller.agent).with_parties().locked().filter(uuid=envelope.task_id).first()
        if task is None:
            gone = compacted_tasks.find(envelope.task_id)
            if gone and caller.agent in (None, gone.recipient):
                return _post_again(gone, envelope, journal)
            entry = task_entries.ResultRejectedEntry(UnknownTaskError.code, task_id=envelope.task_id)
            raise capabilities.not_theirs(
                caller, envelope.task_id, only="only its recipient can post its result", entry=entry
            )
        earlier = Result.objects.filter(task=task).first()
        if earlier is not None and _is_repeat(task, earlier, envelope):
            return earlier
        journal.admit(Request.to_respond(task.sender, task.uuid, envelope.lease_id))
        try:
            lease = _resolvable(task, earlier, envelope, journal.now)
            _must_fit(task, envelope)
            if lease is None and lease_first:
                lease = begin_out_of_turn(task, journal)
        except MailboxError as refusal:
            refusal.entry = task_entries.ResultRejectedEntry(refusal.code, task_id=envelope.task_id)
            raise
        return _resolve(task, lease, envelope, journal)


def _post_again(gone: RememberedTask, envelope: ResultEnvelope, journal: Journal) -> Result:
    """Return the repeated result of a compacted task, without a row; raise as for a resolved task with another one."""
    if gone.was_answered_with(envelope):
        return gone.as_result(envelope)
    journal.admit(Request.to_respond(gone.sender, gone.task_id, envelope.lease_id))
    refusal = _conflict(gone.task_id, gone.outcome, was_posted=gone.has_posted_result())
    refusal.entry = task_entries.ResultRejectedEntry(refusal.code, task_id=gone.task_id)
    raise refusal


def _is_repeat(task: Task, earlier: Result, envelope: ResultEnvelope) -> bool:
    earlier.task = task
    closing = Message.objects.filter(task=task).closing().first()
    return earlier.says(envelope, closing.blocks if closing else ())


def _must_fit(task: Task, envelope: ResultEnvelope) -> None:
    """Raise for a direct answer that is not the only word about its task, and for closing words beyond its limits."""
    if envelope.direct:
        stored = (Message.objects.filter(task=task), Artifact.objects.filter(task=task))
        if task.turn > 1 or any(rows.exists() for rows in stored):
            raise InvalidRequestError({"direct": "the task has messages or artifacts; post a result without direct"})
    if envelope.message or envelope.details:
        task_limits.check(task, [task_limits.size_of_closing(envelope.message, envelope.details)], path="message")


def _resolvable(task: Task, earlier: Result | None, envelope: ResultEnvelope, now: datetime) -> Lease | None:
    """Return the live lease that the result ends, None for a queued task; raise if the task takes no result."""
    if earlier is not None:
        raise _conflict(task.uuid, task.outcome, was_posted=earlier.posted_by is not None)
    lease = task.live_lease()
    if lease is not None and lease.has_timed_out(now):
        raise AlreadyResolvedError(f"Task {task.uuid} has timed out.", task_id=task.uuid)
    if envelope.lease_id is None:
        return lease
    return require_lease(task, lease, envelope.lease_id)


def _conflict(task_id: UUID, outcome: str | None, *, was_posted: bool) -> MailboxError:
    """Return the error for another result of a resolved task. ``was_posted``: the recipient posted its result."""
    if was_posted:
        return ResultConflictError(f"Task {task_id} already has a different result.", task_id=task_id)
    return AlreadyResolvedError(f"Task {task_id} is already resolved as {outcome}.", task_id=task_id)


def _resolve(task: Task, lease: Lease | None, envelope: ResultEnvelope, journal: Journal) -> Result:
    return resolve(
        task,
        Task.Outcome(envelope.status),
        journal,
        task_entries.ResultPostedEntry(
            envelope.status, lease_id=lease.lease_id if lease else None, attempt=task.attempt
        ),
        end=Lease.End.RESULT,
        lease=lease,
        content=envelope.content,
        error_message=envelope.error_message,
        posted_by=task.recipient,
        closing=envelope.message,
        is_direct=envelope.direct,
        details=envelope.details,
    )


def drain_results(
    caller: Caller, *, limit: int = 1, attempt_id: UUID | None = None, ack: Collection[UUID] = ()
) -> Sequence[Result]:
    """Return the caller's oldest pending results, at most ``limit``, and mark them delivered. No result is deleted.

    Fewer results are delivered if one more would exceed `paging.BUDGET` bytes. A larger result is delivered alone.

    ``attempt_id`` names this receive call. The same id returns the same results, without those acknowledged since, and
    delivers no other result. So the id is spent once all its results are acknowledged: it returns an empty list. An
    empty answer spends no id.
    ``ack`` acknowledges earlier results, by task id, in the same transaction. A trusted caller without an agent drains
    for every sender. If fewer than ``limit`` results are pending, the caller's tasks past their deadline or work
    timeout are expired, and their results are returned, too.

    Raises `WrongPartyError` for people. Raises `UnknownTaskError` for an id in ``ack`` that `ack_results` would report
    as unknown, and then neither acknowledges nor delivers a result. Locks the task rows, and skips rows that another
    transaction has locked. Journals ``a2a_result_delivered``, ``a2a_result_acked`` and ``a2a_task_expired``.
    Source: Covenant A2A, ``GET /a2a/results/next``; receive attempt ids: Amazon SQS FIFO.
    """
    caller.must_be_party()
    drained = plain.drain_result(caller, attempt_id) if limit == 1 and not ack else None
    return _whole_drain(caller, limit, attempt_id, ack) if drained is None else drained


def next_result(
    caller: Caller, *, attempt_id: UUID | None = None, ack: UUID | None = None, wait: timedelta | None
) -> Result | None:
    """Drain one result as `drain_results` does, and wait up to ``wait`` for it; return None if no result arrives.

    ``wait`` None has no limit, but every wait ends when the process stops. A spent attempt id does not wait. ``ack``
    acknowledges an earlier result in the first transaction. If that is refused, the error is raised and no result is
    drained. Also raises as `waits.until`.
    """
    acks = [] if ack is None else [ack]
    drained: list[Result] = []

    def look() -> bool:
        drained[:] = drain_results(caller, attempt_id=attempt_id, ack=[acks.pop()] if acks else ())
        return bool(drained) or is_spent(caller, attempt_id)

    waits.for_result(caller, look, wait)
    return drained[0] if drained else None


def is_spent(caller: Caller, attempt_id: UUID | None) -> bool:
    """Whether ``attempt_id`` drained results of the caller and all are acknowledged. None is never spent."""
    deliveries = set(_drained(caller, attempt_id).values_list("delivery", flat=True))
    return deliveries == {Result.Delivery.ACKED}


def _drained(caller: Caller, attempt_id: UUID | None) -> ResultQuerySet:
    """Return the results of one receive attempt; none for None."""
    results = Result.objects.all()
    return results.none() if attempt_id is None else results.drained_by(attempt_id, caller.agent)


def _whole_drain(caller: Caller, limit: int, attempt_id: UUID | None, ack: Collection[UUID]) -> list[Result]:
    """Drain results in every case. `plain.drain_result` handles only the common case."""
    # An empty receive takes no lock. In this order the reads miss no result that a request of the same id just drains.
    if not ack and not _something_to_drain(caller) and not _drained(caller, attempt_id).exists():
        return []
    return audit.again_on_conflict(lambda: _drain(caller, limit, attempt_id, ack))


def _drain(caller: Caller, limit: int, attempt_id: UUID | None, ack: Collection[UUID]) -> list[Result]:
    with audit.decision(caller) as journal:
        authentication.require_live(caller)
        if ack and (unknown := _acknowledge(caller, ack, journal)):
            raise UnknownTaskError.of(unknown[0])
        if earlier := list(_drained(caller, attempt_id).select_related("task")):
            return [result for result in earlier if result.delivery == Result.Delivery.DELIVERED]
        pending = Result.objects.addressed_to(caller.agent).pending().in_order().select_related("task")
        free = pending.select_for_update(skip_locked=True, no_key=True, of=("task",))
        delivered: list[Result] = []
        if deliver(free, delivered, limit, attempt_id, journal):
            # Expired tasks come after pending results, because their results are posted only now.
            expiry.expire_due(Task.objects.sent_by(caller.agent), Lease.objects.of_tasks_from(caller.agent), journal)
            deliver(free, delivered, limit, attempt_id, journal)
        return delivered


def mark_shown(caller: Caller, result: Result) -> None:
    """Record that a poll shows ``result`` to the caller, if the caller is the task's sender. Journals nothing.

    The result stays pending: only a drain delivers it. The time of the first poll stays.
    """
    if caller.agent is None or caller.agent.pk != result.sender_id or result.shown_at is not None:
        return
    with write_turns.turn():
        Result.objects.filter(pk=result.pk, shown_at=None).update(shown_at=timezone.now())


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """The outcome of an acknowledgement, as task ids in the order of the request.

    ``acked`` have an acknowledged result now. ``unknown`` have no result for the caller, and nothing changed for them.
    """

    acked: Sequence[UUID]
    unknown: Sequence[UUID]


def ack_results(caller: Caller, task_ids: Collection[UUID]) -> Acknowledgement:
    """Acknowledge results by task id. An acknowledged result is never drained again.

    Acknowledging a result twice changes nothing, for ever. The id of a compacted task counts as acknowledged if the
    journal shows that this caller received its result. An unknown id keeps no other id from being acknowledged.

    Raises `UnknownTaskError` for the first id if all ids are unknown. Raises `WrongPartyError` for people. Locks the
    task rows in order; journals ``a2a_result_acked``.
    """
    caller.must_be_party()
    with audit.decision(caller) as journal:
        unknown = _acknowledge(caller, task_ids, journal)
    if unknown:
        outages.confirm_reads()
    absent = frozenset(unknown)
    acked = [task_id for task_id in task_ids if task_id not in absent]
    if unknown and not acked:
        raise UnknownTaskError.of(unknown[0])
    return Acknowledgement(acked=acked, unknown=unknown)


def _acknowledge(caller: Caller, task_ids: Collection[UUID], journal: Journal) -> list[UUID]:
    """Acknowledge results, and return the unknown ids, in their order."""
    # The task's lock also guards its result, as in a drain and a compaction. Only resolved tasks are locked: a
    # transaction that locked a waiting task must not wait for the lock of another task.
    named = Task.objects.sent_by(caller.agent).filter(uuid__in=task_ids, state=Task.State.RESOLVED)
    locked = {task.pk: task for task in named.locked().order_by("pk")}
    by_task = {result.task_id: result for result in Result.objects.filter(task__in=locked)}
    for pk, task in locked.items():
        if by_task[pk].delivery != Result.Delivery.ACKED:
            Result.objects.filter(pk=by_task[pk].pk).update(delivery=Result.Delivery.ACKED, acked_at=journal.now)
            task.change()
            journal.life(task, task_entries.ResultAckedEntry())
    known = {task.uuid for task in locked.values()}
    if gone := [task_id for task_id in task_ids if task_id not in known]:
        known.update(AuditEvent.objects.received_among(gone, caller.agent))
    return [task_id for task_id in task_ids if task_id not in known]


def _something_to_drain(caller: Caller) -> bool:
    now = timezone.now()
    return (
        Result.objects.addressed_to(caller.agent).pending().exists()
        or Task.objects.sent_by(caller.agent).overdue(now).exists()
        or Lease.objects.of_tasks_from(caller.agent).timed_out(now).exists()
    )
