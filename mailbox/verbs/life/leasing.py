"""What a recipient does with its tasks: lease, release, heartbeat."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mailbox.gate import audit, entries
from mailbox.gate.audit import Journal
from mailbox.gate.callers import Caller
from mailbox.gate.visibility import visible_tasks
from mailbox.models import Lease, Task
from mailbox.models.task import TaskQuerySet
from mailbox.verbs.hot import plain
from mailbox.verbs.life import expiry
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import AlreadyResolvedError, LeaseMismatchError, NotInFlightError, UnknownTaskError


def lease_tasks(caller: Caller, *, limit: int = 1, attempt_id: UUID | None = None) -> list[Lease]:
    """Lease the caller's oldest queued tasks, at most ``limit``; an empty list when nothing waits.

    ``attempt_id`` names this receive call: while leases taken under it live, the same id returns those
    same leases, attempt unchanged. Leases have no expiry. Tasks past their deadline are resolved as
    expired instead, and a paused recipient gets nothing. A local caller without an agent receives for
    every recipient; people raise `WrongPartyError`. Locks each task row, skipping locked ones; journals ``a2a_task_leased``.
    Source: Covenant A2A, "Mailbox"; receive attempt ids: Amazon SQS FIFO.
    """
    caller.must_be_party()
    leases = plain.lease_task(caller, attempt_id) if limit == 1 else None
    return _whole_lease(caller, limit, attempt_id) if leases is None else leases


def _whole_lease(caller: Caller, limit: int, attempt_id: UUID | None) -> list[Lease]:
    """Lease in every case, also those that `plain.lease_task` leaves alone."""
    if attempt_id is None and not _leasable(caller).exists():
        return []
    return audit.once_more_on_conflict(lambda: _lease(caller, limit, attempt_id))


def _lease(caller: Caller, limit: int, attempt_id: UUID | None) -> list[Lease]:
    with audit.decision(caller) as journal:
        if attempt_id is not None:
            earlier = list(Lease.objects.with_task().received_by(attempt_id, caller.agent))
            if earlier:
                return earlier
        return begin_in_turn(caller, journal, limit=limit, attempt_id=attempt_id)


def begin_in_turn(caller: Caller, journal: Journal, *, limit: int, attempt_id: UUID | None = None) -> list[Lease]:
    """Lease as `lease_tasks` does, within a decision that is under way: what else it changes commits with the leases."""
    leases: list[Lease] = []
    while len(leases) < limit:
        waiting = _leasable(caller).with_parties().in_order()
        batch = list(waiting.select_for_update(skip_locked=True, no_key=True, of=("self",))[: limit - len(leases)])
        for task in batch:
            if task.is_overdue(journal.now):
                expiry.expire_queued(task, journal)
                continue
            leases.append(begin(task, journal, attempt_id=attempt_id, index=len(leases)))
        if not batch:
            break
    return leases


def lease_task(caller: Caller, task_id: UUID, *, attempt_id: UUID | None = None) -> Lease:
    """Lease this one task of the caller's, out of turn.

    ``attempt_id`` is as for `lease_tasks`: the same id returns the same lease while that lives. Raises
    `UnknownTaskError`, `AlreadyResolvedError`, also for a task past its deadline, `NotInFlightError` for one that is
    leased already or must wait, `LeaseMismatchError` for an ``attempt_id`` that leased another task. Locks the task
    row; journals ``a2a_task_leased``. Source: Marianne, ``mark_accepted``.
    """
    caller.must_be_party()
    expiry.expire_if_due(caller, task_id)
    with audit.decision(caller) as journal:
        task = Task.objects.addressed_to(caller.agent).with_parties().locked().filter(uuid=task_id).first()
        if task is None:
            raise UnknownTaskError.of(task_id)
        if attempt_id is not None:
            earlier = Lease.objects.with_task().received_by(attempt_id, caller.agent).first()
            if earlier is not None and earlier.task != task:
                raise LeaseMismatchError(f"attempt_id leased task {earlier.task.uuid} before", task_id=task_id)
            if earlier is not None:
                return earlier
        return begin_out_of_turn(task, journal, attempt_id=attempt_id)


def begin_out_of_turn(task: Task, journal: Journal, *, attempt_id: UUID | None = None) -> Lease:
    """Start a lease of a task whose row is locked, whatever its state; raise what keeps it from being leased.

    That is `AlreadyResolvedError`, or `NotInFlightError` with the reason.
    """
    if task.state == Task.State.RESOLVED:
        raise AlreadyResolvedError(f"task {task.uuid} is already resolved as {task.outcome}", task_id=task.uuid)
    if (hindrance := _hindrance(task, journal)) is not None:
        raise NotInFlightError(f"task {task.uuid} cannot be leased: {hindrance}", task_id=task.uuid)
    return begin(task, journal, attempt_id=attempt_id)


def _hindrance(task: Task, journal: Journal) -> str | None:
    if task.state == Task.State.IN_FLIGHT:
        return "it is leased already"
    if task.waits_on_id is not None:
        return "it waits for the result of another task, which does the same work"
    if task.recipient.paused_at is not None:
        return f"{task.recipient} is paused: {task.recipient.paused_reason}"
    return "its deadline has passed" if task.is_overdue(journal.now) else None


def begin(task: Task, journal: Journal, *, attempt_id: UUID | None = None, index: int = 0) -> Lease:
    """Start a lease of the recipient's on a queued task whose row is locked, and journal it."""
    lease = task.start_lease(task.recipient, journal.now, attempt_id=attempt_id, index=index)
    journal.life(task, entries.task_leased(lease.lease_id, lease.attempt, lease.holder.display))
    return lease


def release(caller: Caller, task_id: UUID, *, reason: str, lease_id: UUID | None = None) -> Lease:
    """Hand the caller's live lease back, and return it as it ended: the task goes to the back of the queue, attempt kept.

    ``lease_id`` guards against releasing a newer lease; naming one that the caller has released already
    changes nothing, so that a release may be repeated. Raises `UnknownTaskError`, `NotInFlightError`,
    `LeaseMismatchError`. Journals ``a2a_task_released`` with the reason.
    """
    reason = check_reason(reason)
    with audit.decision(caller) as journal:
        if (released := _released(caller, task_id, lease_id)) is not None:
            return released
        task, lease = own_lease(caller, task_id, lease_id, journal.now)
        task.return_to_queue(lease, Lease.End.RELEASE, journal.now)
        journal.life(task, entries.task_released(lease.lease_id, lease.attempt, reason))
    return lease


def _released(caller: Caller, task_id: UUID, lease_id: UUID | None) -> Lease | None:
    """Return the named lease if the caller has given it back before."""
    if lease_id is None or caller.agent is None:
        return None
    named = Lease.objects.with_task().filter(task__uuid=task_id, lease_id=lease_id)
    return named.filter(holder=caller.agent, end=Lease.End.RELEASE).first()


def heartbeat(caller: Caller, task_id: UUID, *, lease_id: UUID | None = None) -> Lease:
    """Move ``last_seen_at`` of the caller's live lease to now, and nothing else; not journalled.

    Raises `UnknownTaskError`, `NotInFlightError`, `LeaseMismatchError`.
    """
    with audit.decision(caller) as journal:
        _, lease = own_lease(caller, task_id, lease_id, journal.now)
        lease.last_seen_at = journal.now
        lease.save(update_fields=["last_seen_at"])
    return lease


def _leasable(caller: Caller) -> TaskQuerySet:
    return Task.objects.leasable().filter(recipient__paused_at=None).addressed_to(caller.agent)


def own_lease(caller: Caller, task_id: UUID, lease_id: UUID | None, now: datetime) -> tuple[Task, Lease]:
    """Lock the task and return it with its live lease, which must be the caller's and, if named, ``lease_id``.

    A lease that outlasted the task's ``work_timeout`` is one no more, also before the task expires by it.
    """
    # Only agents hold leases. To a person each task is unknown here, as a foreign one is to an agent.
    visible = visible_tasks(caller) if caller.agent else Task.objects.none()
    task = visible.with_parties().locked().filter(uuid=task_id).first()
    if task is None:
        raise UnknownTaskError.of(task_id)
    lease = task.live_lease()
    if lease is None:
        raise NotInFlightError(f"task {task_id} is not leased: it is {task.state}", task_id=task_id)
    if lease.holder != caller.agent:
        raise LeaseMismatchError(f"you do not hold the lease of task {task_id}", task_id=task_id)
    if lease.has_timed_out(now):
        raise NotInFlightError(f"task {task_id} is not leased any more: it has timed out", task_id=task_id)
    return task, require_lease(task, lease, lease_id)


def require_lease(task: Task, lease: Lease | None, lease_id: UUID | None) -> Lease:
    """Return the live lease if ``lease_id`` is None or names it; raise `LeaseMismatchError` with both ids."""
    actual = lease.lease_id if lease else None
    if lease is None or (lease_id is not None and lease_id != actual):
        raise LeaseMismatchError(
            f"lease mismatch for task {task.uuid}: expected {lease_id}, actual {actual}",
            task_id=task.uuid,
            expected_lease_id=lease_id,
            actual_lease_id=actual,
        )
    return lease
