"""Repairs of leased tasks by operators, and by agents that hold the capability."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Self
from uuid import UUID

from mailbox.access import audit, requests
from mailbox.access.callers import Caller
from mailbox.access.capabilities import visible_tasks
from mailbox.journal import task_entries
from mailbox.life.leasing import require_lease
from mailbox.life.resolution import resolve
from mailbox.models import Lease, Result, Task
from mailbox.words import errors
from mailbox.words.envelopes import check_reason
from mailbox.words.kinds import LifeEntry

MESSAGE_MAX_LENGTH = 10_000


class DuplicateRisk(StrEnum):
    """Why a requeue may repeat work. Source: Covenant A2A, "Lease repair"."""

    IDEMPOTENT = "idempotent"  # the task declares that doing it twice is safe
    OPERATOR_ACCEPTED = "operator_accepted"  # the caller accepts that the work may be done twice

    @classmethod
    def read(cls, value: object) -> Self:
        """Return the risk of this name; raise `InvalidRequestError` for any other value."""
        # `cls(given)` would put repr(given) into its error, and the repr() of a value that is no text may fail.
        risk = next((risk for risk in cls if isinstance(value, str) and risk.value == value), None)
        if risk is None:
            known = " or ".join(repr(risk.value) for risk in cls)
            raise errors.InvalidRequestError({"duplicate_risk": f"must be {known}"})
        return risk


def requeue(caller: Caller, task_id: UUID, *, reason: str, duplicate_risk: str, lease_id: UUID | None = None) -> Task:
    """Return a leased task to the back of the queue. It keeps its id and attempt. Needs ``a2a.repair.requeue``.

    ``duplicate_risk`` is the value of a `DuplicateRisk`. ``lease_id`` guards against the repair of a newer lease.

    Raises `InvalidRequestError` for a blank reason or another risk; a capability error; `UnknownTaskError`,
    `AlreadyResolvedError`, `NotInFlightError`, `LeaseMismatchError`; `DuplicateRiskMismatchError` if the risk is
    ``idempotent`` and the task does not declare that. Locks the task row. Journals ``a2a_repair_applied``, or
    ``a2a_repair_refused`` with the code. Source: Covenant A2A, "Lease repair".
    """
    reason, risk = check_reason(reason), DuplicateRisk.read(duplicate_risk)
    with deciding(caller, task_id, "requeue", reason=reason, lease_id=lease_id) as journal:
        return requeue_within(journal, caller, task_id, reason=reason, duplicate_risk=risk, lease_id=lease_id)


def requeue_within(
    journal: audit.Journal,
    caller: Caller,
    task_id: UUID,
    *,
    reason: str,
    duplicate_risk: DuplicateRisk,
    lease_id: UUID | None,
) -> Task:
    """Requeue as `requeue` does, with a checked reason, within the decision of ``journal`` from `deciding`."""
    task = _unresolved(caller, task_id, lease_id, journal, verb=requests.REQUEUE, duplicate_risk=duplicate_risk)
    lease = _repairable(task, lease_id)
    if duplicate_risk is DuplicateRisk.IDEMPOTENT and not task.is_idempotent:
        raise errors.DuplicateRiskMismatchError(task_id=task_id)
    task.return_to_queue(lease, Lease.End.REQUEUE, journal.now)
    journal.life(task, applied(task, "requeue", reason, lease_id, duplicate_risk))
    return task


def force_error(
    caller: Caller,
    task_id: UUID,
    *,
    reason: str,
    message: str,
    lease_id: UUID | None = None,
    asking_lease_id: UUID | None = None,
) -> Result:
    """End the lease and resolve the task as an error with ``message``. Needs ``a2a.repair.force_error``.

    An interrupted task is resolved, too; it has no lease, so a ``lease_id`` is refused as another lease. Its guard is
    ``asking_lease_id``, the lease that ended with its open question. Guards, raises and journals as `requeue` does.
    The result is never cached.
    Source: Covenant A2A, "Lease repair".
    """
    reason = check_reason(reason)
    message = check_reason(message, path="message", limit=MESSAGE_MAX_LENGTH)
    with deciding(caller, task_id, "force_error", reason=reason, lease_id=asking_lease_id or lease_id) as journal:
        return force_error_within(
            journal, caller, task_id, reason=reason, message=message, lease_id=lease_id, asking_lease_id=asking_lease_id
        )


def force_error_within(
    journal: audit.Journal,
    caller: Caller,
    task_id: UUID,
    *,
    reason: str,
    message: str,
    lease_id: UUID | None,
    asking_lease_id: UUID | None = None,
) -> Result:
    """Force an error as `force_error` does, with checked texts, within the decision of ``journal`` from `deciding`."""
    task = _unresolved(caller, task_id, lease_id, journal, verb=requests.FORCE_ERROR)
    if asking_lease_id is not None:
        require_lease(task, task.asking_lease() or task.live_lease(), asking_lease_id)
    is_held = task.state != Task.State.INTERRUPTED or lease_id is not None
    lease = _repairable(task, lease_id) if is_held else None
    return resolve(
        task,
        Task.Outcome.ERROR,
        journal,
        applied(task, "force_error", reason, asking_lease_id or lease_id, None),
        end=Lease.End.FORCE_ERROR,
        lease=lease,
        error_message=message,
    )


@contextmanager
def deciding(
    caller: Caller, task_id: UUID, action: str, *, reason: str, lease_id: UUID | None
) -> Iterator[audit.Journal]:
    """Open the decision to repair a task. A refusal is journalled as ``a2a_repair_refused``, with the reason given."""
    with audit.decision(caller) as journal, _refusals_journalled(task_id, action, reason, lease_id):
        yield journal


def _unresolved(
    caller: Caller,
    task_id: UUID,
    lease_id: UUID | None,
    journal: audit.Journal,
    *,
    verb: str,
    duplicate_risk: DuplicateRisk | None = None,
) -> Task:
    """Lock the task, check the capability, and return the task. Raises for an unknown or resolved task."""
    task = visible_tasks(caller).with_parties().locked().filter(uuid=task_id).first()
    peer = None
    if task is not None:
        peer = task.recipient if caller.agent == task.sender else task.sender
    journal.admit(
        requests.Request.to_repair(verb, task_id, lease_id=lease_id, peer=peer, duplicate_risk=duplicate_risk)
    )
    if task is None:
        raise errors.UnknownTaskError.of(task_id)
    if task.state == Task.State.RESOLVED:
        raise errors.AlreadyResolvedError(f"Task {task_id} is already resolved as {task.outcome}.", task_id=task_id)
    return task


def _repairable(task: Task, lease_id: UUID | None) -> Lease:
    """Return the live lease of a task whose row is locked. ``lease_id`` must be the id of that lease, or None.

    Raises `NotInFlightError`, and `LeaseMismatchError` also for an interrupted task and a ``lease_id``.
    """
    lease = task.live_lease()
    is_guarded = lease_id is not None and task.state == Task.State.INTERRUPTED
    if lease is None and not is_guarded:
        raise errors.NotInFlightError(f"Task {task.uuid} is {task.state}, not leased.", task_id=task.uuid)
    return require_lease(task, lease, lease_id)


@contextmanager
def _refusals_journalled(task_id: UUID, action: str, reason: str, lease_id: UUID | None) -> Iterator[None]:
    try:
        yield
    except errors.MailboxError as refusal:
        if refusal.entry is None:
            refusal.entry = task_entries.RepairRefusedEntry(
                action, refusal.code, given_reason=reason, lease_id=lease_id, task_id=task_id
            )
        raise


def applied(task: Task, action: str, reason: str, lease_id: UUID | None, risk: DuplicateRisk | None) -> LifeEntry:
    """Return the journal row of a repair. ``lease_id`` is the lease that the request names, None without one."""
    return task_entries.RepairAppliedEntry(
        task.uuid, action, reason=reason, lease_id=lease_id, duplicate_risk=risk, attempt=task.attempt
    )
