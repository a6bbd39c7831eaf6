"""The verdicts of the retry gate about leases, in the order of a pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mailbox.models import Lease
from mailbox.repairs.retry import RetryReport, SkipReason

WOULD_REQUEUE = "would requeue"
WORDS = {
    SkipReason.LEASE_TOO_YOUNG: "too young",
    SkipReason.MISSING_IDEMPOTENCY: "no key",
    SkipReason.UNSAFE_DUPLICATE_SAFETY: "unsafe",
    SkipReason.MAX_ATTEMPTS_REACHED: "max attempts",
    SkipReason.LIMIT_REACHED: "max requeues",
    SkipReason.CAPABILITY_SCOPE_MISMATCH: "no capability",
    SkipReason.LEASE_CHANGED: "lease changed",
}
ALL = (WOULD_REQUEUE, *WORDS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    lease: Lease
    verdict: str


def of(report: RetryReport) -> Sequence[Verdict]:
    """Return a verdict for each lease of a dry run, oldest first."""
    found = [Verdict(lease=lease, verdict=WOULD_REQUEUE) for lease in report.would_requeue]
    found += [Verdict(lease=skip.lease, verdict=WORDS[skip.reason]) for skip in report.skipped]
    return sorted(found, key=lambda one: (one.lease.leased_at, one.lease.pk))
