"""The retry gate: requeues stale leases of idempotent tasks, within bounds.

Source: Covenant idempotency policy, "Explicit retry gate".
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from django.utils import timezone

from mailbox.access import audit, capabilities
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.models import Lease, Task
from mailbox.repairs.repair import DuplicateRisk, applied
from mailbox.words.errors import CapabilityMissingError, CapabilityScopeMismatchError, InvalidRequestError

REASON = "automatic retry policy requeued stale idempotent lease"

# The smallest and largest value of each bound. A value outside of these would make every pass a no-op.
BOUNDS: Mapping[str, tuple[int, int]] = {
    "min_lease_age_ms": (0, timedelta(days=3650) // timedelta(milliseconds=1)),
    "max_attempts": (1, 1_000_000),
    "max_requeues": (0, 10_000),  # 0: a report without requeues
    "scan_limit": (1, 10_000),
}


class SkipReason(StrEnum):
    """Why a live lease was not requeued, in the order in which the reasons are checked."""

    LEASE_TOO_YOUNG = "lease_too_young"
    MISSING_IDEMPOTENCY = "missing_idempotency"
    UNSAFE_DUPLICATE_SAFETY = "unsafe_duplicate_safety"
    MAX_ATTEMPTS_REACHED = "max_attempts_reached"
    LIMIT_REACHED = "limit_reached"
    CAPABILITY_SCOPE_MISMATCH = "capability_scope_mismatch"
    LEASE_CHANGED = "lease_changed"  # another decision ended the lease meanwhile


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """The bounds of one pass.

    A pass that is not ``enabled`` is a dry run, which reports the same and changes nothing.
    """

    enabled: bool = False
    min_lease_age: timedelta = timedelta(minutes=5)
    max_attempts: int = 3  # a task with this many leases is not requeued; see `Lease.tries`
    max_requeues: int = 1  # per pass
    scan_limit: int = 100  # live leases examined: leases that may be requeued first, then the others, each oldest first

    @property
    def bounds(self) -> Mapping[str, int]:
        """The values of the bounds, by the names of `BOUNDS`."""
        return {
            "min_lease_age_ms": self.min_lease_age // timedelta(milliseconds=1),
            "max_attempts": self.max_attempts,
            "max_requeues": self.max_requeues,
            "scan_limit": self.scan_limit,
        }

    def check(self) -> None:
        """Raise `InvalidRequestError` with every value that is not within `BOUNDS`."""
        values = self.bounds
        problems = {
            name: f"must be {least} to {most}"
            for name, (least, most) in BOUNDS.items()
            if not least <= values[name] <= most
        }
        if problems:
            raise InvalidRequestError(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A lease that was not requeued. ``age`` is its age at the time of the pass."""

    lease: Lease
    reason: SkipReason
    age: timedelta


@dataclass(slots=True, kw_only=True)
class RetryReport:
    """The report of one pass: each lease that it considered, as it was read."""

    policy: RetryPolicy
    considered: int = 0
    requeued: list[Lease] = field(default_factory=list)
    would_requeue: list[Lease] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def skipped_by_reason(self) -> dict[str, int]:
        return dict(Counter(str(skip.reason) for skip in self.skipped))


def retry_stale(caller: Caller, policy: RetryPolicy) -> RetryReport:
    """Requeue stale leases of idempotent tasks, oldest first, within ``policy``. Needs ``a2a.repair.requeue``.

    A requeued task keeps its id. Each requeue is a decision of its own, which locks the task, decides again, and
    journals ``a2a_repair_applied`` with the action ``auto_requeue``. So two passes at once do no harm. Agents scan the
    tasks that they are party to, also tasks outside of their grants' scopes. Raises `InvalidRequestError`,
    `CapabilityMissingError`.
    """
    policy.check()
    with audit.decision(caller) as journal:
        capabilities.require_in_some_scope(caller, Request.to_scan(), journal.now)
    now = timezone.now()
    report = RetryReport(policy=policy)
    for lease in _candidates(caller, policy, now):
        report.considered += 1
        done = len(report.requeued) + len(report.would_requeue)
        reason = decide(lease, policy, now=now, requeued=done)
        if reason is None:
            reason = _retry(caller, lease, policy) if policy.enabled else _would_refuse(caller, lease, now)
        if reason is not None:
            report.skipped.append(Skipped(lease=lease, reason=reason, age=now - lease.leased_at))
        else:
            (report.requeued if policy.enabled else report.would_requeue).append(lease)
    return report


def foresee(caller: Caller, policy: RetryPolicy) -> RetryReport:
    """Report what a pass within ``policy`` would do by a person who may requeue every lease. Changes nothing.

    It needs no capability, because it only reads: it has the leases that the caller may see. Raises
    `InvalidRequestError`.
    """
    policy.check()
    now = timezone.now()
    report = RetryReport(policy=policy)
    for lease in _candidates(caller, policy, now):
        report.considered += 1
        reason = decide(lease, policy, now=now, requeued=len(report.would_requeue))
        if reason is None:
            report.would_requeue.append(lease)
        else:
            report.skipped.append(Skipped(lease=lease, reason=reason, age=now - lease.leased_at))
    return report


def decide(lease: Lease, policy: RetryPolicy, *, now: datetime, requeued: int) -> SkipReason | None:
    """Return why this live lease must not be requeued; None if it may be.

    Reads no other row for a lease of `LeaseQuerySet.with_tries`.
    """
    task = lease.task
    if now - lease.leased_at < policy.min_lease_age:
        return SkipReason.LEASE_TOO_YOUNG
    if not (task.idempotency_key or "").strip():
        return SkipReason.MISSING_IDEMPOTENCY
    if not task.is_idempotent:
        return SkipReason.UNSAFE_DUPLICATE_SAFETY
    if lease.attempt >= policy.max_attempts and lease.tries >= policy.max_attempts:
        return SkipReason.MAX_ATTEMPTS_REACHED
    if requeued >= policy.max_requeues:
        return SkipReason.LIMIT_REACHED
    return None


def _candidates(caller: Caller, policy: RetryPolicy, now: datetime) -> Sequence[Lease]:
    """Return the leases to examine, oldest first.

    Leases of unsafe work or used-up attempts are never requeued, and stay the oldest. If there are more leases than
    the limit, such leases only fill the places that others leave.
    """
    live = capabilities.visible_leases(caller).live().with_task_opening().with_tries().oldest_first()
    oldest = list(live[: policy.scan_limit])
    if len(oldest) < policy.scan_limit:
        return oldest
    safe = list(live.stale(now, policy.min_lease_age).safe_to_repeat().tried_below(policy.max_attempts)[: len(oldest)])
    taken = {lease.pk for lease in safe}
    others = [lease for lease in oldest if lease.pk not in taken]
    return sorted(safe + others[: len(oldest) - len(safe)], key=lambda lease: (lease.leased_at, lease.task.uuid))


def _retry(caller: Caller, lease: Lease, policy: RetryPolicy) -> SkipReason | None:
    """Requeue with the same checks as a person's repair; return why the lease was skipped, None if it was requeued."""
    try:
        with audit.decision(caller) as journal:
            task = Task.objects.with_parties().locked().get(pk=lease.task_id)
            current = task.live_lease()
            if current is None or current.lease_id != lease.lease_id:
                return SkipReason.LEASE_CHANGED
            current.task = task
            if (changed := decide(current, policy, now=journal.now, requeued=0)) is not None:
                return changed
            journal.admit(_request(caller, current))
            task.return_to_queue(current, Lease.End.AUTO_REQUEUE, journal.now)
            entry = applied(task, "auto_requeue", REASON, lease.lease_id, DuplicateRisk.IDEMPOTENT)
            journal.life(task, entry)
    except Task.DoesNotExist:
        return SkipReason.LEASE_CHANGED
    except (CapabilityMissingError, CapabilityScopeMismatchError):
        return SkipReason.CAPABILITY_SCOPE_MISMATCH
    return None


def _would_refuse(caller: Caller, lease: Lease, now: datetime) -> SkipReason | None:
    try:
        capabilities.require(caller, _request(caller, lease), now)
    except (CapabilityMissingError, CapabilityScopeMismatchError):
        return SkipReason.CAPABILITY_SCOPE_MISMATCH
    return None


def _request(caller: Caller, lease: Lease) -> Request:
    task = lease.task
    peer = task.sender if caller.agent == task.recipient else task.recipient
    return Request.to_auto_requeue(lease, peer)
