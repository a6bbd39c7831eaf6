"""The verbs of a recipient: lease and release a task, send a heartbeat."""

from datetime import datetime, timedelta
from uuid import UUID

from mailbox.access import audit
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.access.capabilities import visible_tasks
from mailbox.access.credentials import authentication
from mailbox.access.limits import waits
from mailbox.database.paging import AT_ONCE, BUDGET
from mailbox.journal import task_entries
from mailbox.life import expiry
from mailbox.life.fast_path import plain
from mailbox.models import Lease, Task
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import (
    AlreadyResolvedError,
    LeaseMismatchError,
    MailboxError,
    NotInFlightError,
)


def lease_tasks(caller: Caller, *, limit: int = 1, attempt_id: UUID | None = None) -> list[Lease]:
    """Lease the caller's oldest queued tasks, at most ``limit``; return an empty list if it has none.

    Fewer tasks are leased if one more would exceed `paging.BUDGET` bytes of payload. A larger task is leased alone.
    On PostgreSQL the list is also empty if other calls took or locked every task that this call saw.

    ``attempt_id`` names this receive call. The same id returns the same leases, without those that have ended, and
    takes no other task. So the id is spent once all its leases have ended: it returns an empty list. An empty answer
    spends no id. A lease ends by itself only at the task's work timeout. A task past its deadline is resolved as
    expired and not leased. A paused recipient gets no task. A trusted caller without an agent receives for every
    recipient.

    Raises `WrongPartyError` for people, and `UnauthenticatedError` if the caller's key was revoked or has expired
    since it was presented. Locks each task row, and skips rows that another transaction has locked.
    Journals ``a2a_task_leased``. Source: Covenant A2A, "Mailbox"; receive attempt ids: Amazon SQS FIFO.
    """
    caller.must_be_party()
    leases = plain.lease_task(caller, attempt_id) if limit == 1 else None
    return _whole_lease(caller, limit, attempt_id) if leases is None else leases


def _whole_lease(caller: Caller, limit: int, attempt_id: UUID | None) -> list[Lease]:
    """Lease tasks in every case. `plain.lease_task` handles only the common case."""
    # An empty receive takes no lock. In this order the reads miss no lease that a request of the same id just commits.
    if not _leasable(caller).exists() and not _received(caller, attempt_id).exists():
        return []
    return audit.again_on_conflict(lambda: _lease(caller, limit, attempt_id))


def _lease(caller: Caller, limit: int, attempt_id: UUID | None) -> list[Lease]:
    with audit.decision(caller) as journal:
        authentication.require_live(caller)
        if earlier := list(_received(caller, attempt_id).with_task()):
            return [lease for lease in earlier if lease.ended_at is None]
        return begin_in_turn(caller, journal, limit=limit, attempt_id=attempt_id)


def next_task(caller: Caller, *, attempt_id: UUID | None = None, wait: timedelta | None) -> Lease | None:
    """Lease one task as `lease_tasks` does, and wait up to ``wait`` for it; return None if no task arrives.

    ``wait`` None has no limit, but every wait ends when the process stops. A spent attempt id does not wait. Also
    raises as `waits.until`.
    """
    leased: list[Lease] = []

    def look() -> bool:
        leased[:] = lease_tasks(caller, attempt_id=attempt_id)
        return bool(leased) or is_spent(caller, attempt_id)

    waits.for_task(caller, look, wait)
    return leased[0] if leased else None


def is_spent(caller: Caller, attempt_id: UUID | None) -> bool:
    """Whether ``attempt_id`` leased tasks of the caller and all those leases have ended. None is never spent."""
    ends = list(_received(caller, attempt_id).values_list("ended_at", flat=True))
    return bool(ends) and None not in ends


def _received(caller: Caller, attempt_id: UUID | None) -> LeaseQuerySet:
    """Return the leases of one receive attempt; none for None."""
    leases = Lease.objects.all()
    return leases.none() if attempt_id is None else leases.received_by(attempt_id, caller.agent)


def begin_in_turn(caller: Caller, journal: Journal, *, limit: int, attempt_id: UUID | None = None) -> list[Lease]:
    """Lease the caller's oldest queued tasks, within the decision of ``journal``, which commits the leases.

    The caller of this function has looked for earlier leases of ``attempt_id``.
    """
    leases: list[Lease] = []
    budget = BUDGET
    while len(leases) < limit:
        waiting = _leasable(caller).with_parties().in_order()
        locked = waiting.select_for_update(skip_locked=True, no_key=True, of=("self",))
        batch = list(locked[: min(limit - len(leases), AT_ONCE)])
        for task in batch:
            if task.is_overdue(journal.now):
                expiry.expire_overdue(task, journal)
                continue
            if leases and task.size > budget:
                return leases
            budget -= task.size
            leases.append(begin(task, journal, attempt_id=attempt_id, index=len(leases)))
        if not batch:
            break
    return leases


def lease_task(caller: Caller, task_id: UUID, *, attempt_id: UUID | None = None) -> Lease:
    """Lease one queued or interrupted task that is addressed to the caller, before older tasks.

    A lease of an interrupted task withdraws its question: so a holder goes on once it needs no answer any more.

    ``attempt_id`` works as for `lease_tasks`: the same id returns the same lease while the lease is live. An id belongs
    to one call of either verb.

    Raises, in this order: `WrongPartyError` for people and by a public route; `UnknownTaskError`; `LeaseMismatchError`
    for an ``attempt_id`` that leased another task; `AlreadyResolvedError`, also for a task past its deadline;
    `NotInFlightError` for a spent ``attempt_id``, and for a task that is leased already, waits on another, or has a
    paused recipient. Locks the task row; journals ``a2a_task_leased``, or ``a2a_task_expired``. Source: Marianne,
    ``mark_accepted``.
    """
    caller.must_be_party()
    expiry.expire_if_due(caller, task_id)
    return audit.again_on_conflict(lambda: _lease_named(caller, task_id, attempt_id))


def _lease_named(caller: Caller, task_id: UUID, attempt_id: UUID | None) -> Lease:
    with audit.decision(caller) as journal:
        task = Task.objects.addressed_to(caller.agent).with_parties().locked().by_id(task_id)
        earlier = None if attempt_id is None else _leased_by(attempt_id, caller, task)
        if earlier is None:
            return begin_out_of_turn(task, journal, attempt_id=attempt_id)
        if earlier.ended_at is not None:
            _must_be_unresolved(task)
            raise NotInFlightError(
                f"Task {task.uuid} cannot be leased: this attempt_id is spent, as its lease has ended.",
                task_id=task.uuid,
            )
        return earlier


def _leased_by(attempt_id: UUID, caller: Caller, task: Task) -> Lease | None:
    """Return the attempt's lease of ``task``, live or ended; None if the attempt has leased nothing.

    Raises `LeaseMismatchError` if the attempt has leased other tasks only.
    """
    earlier = list(Lease.objects.with_task().received_by(attempt_id, caller.agent))
    for lease in earlier:
        if lease.task == task:
            return lease
    if earlier:
        raise LeaseMismatchError(f"This attempt_id leased task {earlier[0].task.uuid} before.", task_id=task.uuid)
    return None


def begin_out_of_turn(task: Task, journal: Journal, *, attempt_id: UUID | None = None) -> Lease:
    """Start a lease of a task whose row is locked.

    Raises `AlreadyResolvedError`, and `NotInFlightError` with the reason why the task cannot be leased.
    """
    _must_be_unresolved(task)
    if (hindrance := _hindrance(task, journal)) is not None:
        raise NotInFlightError(f"Task {task.uuid} cannot be leased: {hindrance}.", task_id=task.uuid)
    return begin(task, journal, attempt_id=attempt_id)


def _must_be_unresolved(task: Task) -> None:
    if task.state == Task.State.RESOLVED:
        raise AlreadyResolvedError(f"Task {task.uuid} is already resolved as {task.outcome}.", task_id=task.uuid)


def _hindrance(task: Task, journal: Journal) -> str | None:
    if task.state == Task.State.IN_FLIGHT:
        return "it is already leased"
    if task.waits_on_id is not None:
        return "it waits for the result of another task that does the same work"
    if task.recipient.paused_at is not None:
        return f"{task.recipient} is paused: {task.recipient.paused_reason}"
    return "its deadline has passed" if task.is_overdue(journal.now) else None


def begin(task: Task, journal: Journal, *, attempt_id: UUID | None = None, index: int = 0) -> Lease:
    """Start a lease for the recipient of a queued or interrupted task whose row is locked, and journal it."""
    lease = task.start_lease(task.recipient, journal.now, attempt_id=attempt_id, index=index)
    journal.life(task, task_entries.TaskLeasedEntry(lease.lease_id, lease.attempt, lease.holder.display))
    return lease


def release(caller: Caller, task_id: UUID, *, reason: str, lease_id: UUID | None = None) -> Lease:
    """End the caller's live lease and return it. The task goes to the back of the queue.

    The task's count of attempts stays, and its next lease adds one.

    ``lease_id`` guards against the release of a newer lease. A repeated release with the same ``lease_id`` changes
    nothing. Raises `InvalidRequestError` for a blank reason, `WrongPartyError` by a public route, `UnknownTaskError`,
    `NotInFlightError`, `LeaseMismatchError`. Locks the task row; journals ``a2a_task_released`` with the reason.
    """
    reason = check_reason(reason)
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        try:
            task, lease = own_lease(caller, task_id, lease_id, journal.now)
        except MailboxError:
            # This look comes after the wait for the task's lock. An earlier release may have held the lock until now.
            if (released := _released(caller, task_id, lease_id)) is None:
                raise
            return released
        task.return_to_queue(lease, Lease.End.RELEASE, journal.now)
        journal.life(task, task_entries.TaskReleasedEntry(lease.lease_id, lease.attempt, reason))
    return lease


def _released(caller: Caller, task_id: UUID, lease_id: UUID | None) -> Lease | None:
    """Return the lease of this id if the caller has released it before; else None."""
    if lease_id is None or caller.agent is None:
        return None
    named = Lease.objects.with_task().filter(task__uuid=task_id, lease_id=lease_id)
    return named.filter(holder=caller.agent, end=Lease.End.RELEASE).first()


def heartbeat(caller: Caller, task_id: UUID, *, lease_id: UUID | None = None) -> Lease:
    """Set ``last_seen_at`` of the caller's live lease to now, and change nothing else. Journals nothing.

    Raises `WrongPartyError` by a public route, `UnknownTaskError`, `NotInFlightError`, `LeaseMismatchError`.
    """
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        _, lease = own_lease(caller, task_id, lease_id, journal.now)
        lease.last_seen_at = journal.now
        lease.save(update_fields=["last_seen_at"])
    return lease


def _leasable(caller: Caller) -> TaskQuerySet:
    return Task.objects.leasable().filter(recipient__paused_at=None).addressed_to(caller.agent)


def own_lease(caller: Caller, task_id: UUID, lease_id: UUID | None, now: datetime) -> tuple[Task, Lease]:
    """Lock the task and return it with the caller's live lease. ``lease_id`` None accepts any lease of the caller.

    Raises as `visible_locked` and `judged_lease` do.
    """
    task = visible_locked(caller, task_id)
    return task, judged_lease(caller, task, lease_id, now)


def visible_locked(caller: Caller, task_id: UUID) -> Task:
    """Lock and return a task that the caller may see, with its parties. Raises `UnknownTaskError`, also for people."""
    # Only agents hold leases. A person reads the same error here as an agent that may not see the task.
    visible = visible_tasks(caller) if caller.agent else Task.objects.none()
    return visible.with_parties().locked().by_id(task_id)


def judged_lease(caller: Caller, task: Task, lease_id: UUID | None, now: datetime) -> Lease:
    """Return the caller's live lease of a locked task. ``lease_id`` None accepts any lease of the caller.

    Raises `NotInFlightError`, `LeaseMismatchError`. A lease that outlasted the task's ``work_timeout`` counts as ended,
    even if the task has not been expired yet.
    """
    lease = task.live_lease()
    if lease is None:
        raise NotInFlightError(f"Task {task.uuid} is not leased: it is {task.state}.", task_id=task.uuid)
    if lease.holder != caller.agent:
        raise LeaseMismatchError(f"You do not hold the lease of task {task.uuid}.", task_id=task.uuid)
    if lease.has_timed_out(now):
        raise NotInFlightError(f"Task {task.uuid} is not leased any more: it has timed out.", task_id=task.uuid)
    return require_lease(task, lease, lease_id)


def require_lease(task: Task, lease: Lease | None, lease_id: UUID | None) -> Lease:
    """Return the live lease. Raise `LeaseMismatchError` if there is no lease, or ``lease_id`` names another lease."""
    actual = lease.lease_id if lease else None
    if lease is None or (lease_id is not None and lease_id != actual):
        raise LeaseMismatchError(
            f"lease mismatch for task {task.uuid}: expected {lease_id}, actual {actual}",
            task_id=task.uuid,
            expected_lease_id=lease_id,
            actual_lease_id=actual,
        )
    return lease
