from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailbox.models import Lease, Task
from mailbox.repairs import retry
from mailbox.repairs.retry import RetryPolicy, SkipReason
from mailbox.words.envelopes import DuplicateSafety, Idempotency
from tests.support import factories

NOW = datetime(2035, 1, 1, tzinfo=UTC)


PROMISE = factories.idempotent("k")


def seen(
    *, age: timedelta = timedelta(hours=1), idempotency: Idempotency | None = PROMISE, attempt: int = 1, asked: int = 0
) -> Lease:
    """Return an unsaved lease as `decide` sees it."""
    declared = (idempotency.duplicate_safety, idempotency.key) if idempotency else (None, None)
    task = Task(duplicate_safety=declared[0], idempotency_key=declared[1])
    lease = Lease(task=task, attempt=attempt, leased_at=NOW - age)
    lease.questions_before = asked  # type: ignore[attr-defined]
    return lease


def test_the_defaults_are_those_of_covenant():
    assert RetryPolicy() == RetryPolicy(
        enabled=False, min_lease_age=timedelta(milliseconds=300_000), max_attempts=3, max_requeues=1, scan_limit=100
    )


@pytest.mark.parametrize(
    ("lease", "requeued", "reason"),
    [
        (seen(), 0, None),
        (seen(age=timedelta(minutes=5)), 0, None),
        (seen(attempt=2), 0, None),
        (seen(age=timedelta(minutes=5, microseconds=-1)), 0, SkipReason.LEASE_TOO_YOUNG),
        (seen(age=timedelta(seconds=-1)), 0, SkipReason.LEASE_TOO_YOUNG),
        (seen(idempotency=None), 0, SkipReason.MISSING_IDEMPOTENCY),
        (seen(idempotency=factories.idempotent("  ")), 0, SkipReason.MISSING_IDEMPOTENCY),
        (seen(idempotency=factories.unsafe()), 0, SkipReason.UNSAFE_DUPLICATE_SAFETY),
        (seen(attempt=3), 0, SkipReason.MAX_ATTEMPTS_REACHED),
        (seen(attempt=4), 0, SkipReason.MAX_ATTEMPTS_REACHED),
        (seen(attempt=9, asked=7), 0, None),
        (seen(attempt=9, asked=6), 0, SkipReason.MAX_ATTEMPTS_REACHED),
        (seen(), 1, SkipReason.LIMIT_REACHED),
        # Several reasons at once: the first in their order is the reported reason.
        (seen(age=timedelta(0), idempotency=None, attempt=9), 9, SkipReason.LEASE_TOO_YOUNG),
        (seen(idempotency=None, attempt=9), 9, SkipReason.MISSING_IDEMPOTENCY),
        (seen(idempotency=factories.unsafe(" "), attempt=9), 9, SkipReason.MISSING_IDEMPOTENCY),
        (seen(idempotency=factories.unsafe(), attempt=9), 9, SkipReason.UNSAFE_DUPLICATE_SAFETY),
        (seen(attempt=9), 9, SkipReason.MAX_ATTEMPTS_REACHED),
    ],
)
def test_a_lease_is_skipped_for_the_first_reason_that_holds(lease, requeued, reason):
    assert retry.decide(lease, RetryPolicy(), now=NOW, requeued=requeued) == reason


@given(
    age=st.timedeltas(timedelta(0), timedelta(days=1)),
    safety=st.sampled_from([None, *DuplicateSafety]),
    key=st.sampled_from(["", " ", "k"]),
    attempt=st.integers(1, 9),
    requeued=st.integers(0, 3),
)
def test_only_old_idempotent_leases_within_the_bounds_are_ever_requeued(age, safety, key, attempt, requeued):
    idempotency = safety and Idempotency(duplicate_safety=safety, key=key)
    policy = RetryPolicy()

    reason = retry.decide(seen(age=age, idempotency=idempotency, attempt=attempt), policy, now=NOW, requeued=requeued)

    safe = safety == DuplicateSafety.IDEMPOTENT and bool(key.strip())
    bounded = age >= policy.min_lease_age and attempt < policy.max_attempts and requeued < policy.max_requeues
    assert (reason is None) == (safe and bounded)


def test_the_reasons_have_covenants_spelling():
    assert [str(reason) for reason in SkipReason] == [
        "lease_too_young",
        "missing_idempotency",
        "unsafe_duplicate_safety",
        "max_attempts_reached",
        "limit_reached",
        "capability_scope_mismatch",
        "lease_changed",
    ]
