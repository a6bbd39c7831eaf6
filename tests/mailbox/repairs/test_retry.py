from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.callers import Role
from mailbox.life import leasing
from mailbox.models import AuditEvent, Lease, Task
from mailbox.repairs import retry
from mailbox.repairs.retry import RetryPolicy, SkipReason
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError
from tests.support import factories

pytestmark = pytest.mark.django_db

NOW = datetime(2035, 1, 1, tzinfo=UTC)
OLD = timedelta(hours=1)
DRY, ENABLED = RetryPolicy(max_requeues=100), RetryPolicy(enabled=True, max_requeues=100)


@pytest.fixture
def clock():
    with time_machine.travel(NOW, tick=False) as coordinates:
        yield coordinates


@pytest.fixture
def stale(alice, bob, clock):
    """Return three stale idempotent leases, the oldest first."""
    leases = []
    for _ in range(3):
        leases.append(factories.leased_task(alice, bob, idempotency=factories.idempotent()))
        clock.shift(timedelta(minutes=1))
    clock.shift(OLD)
    return leases


def test_a_pass_requeues_stale_leases_oldest_first_under_their_own_ids(olga, bob, stale):
    report = retry.retry_stale(olga, ENABLED)

    assert [lease.pk for lease in report.requeued] == [lease.pk for lease in stale]
    assert (report.considered, report.would_requeue, report.skipped) == (3, [], [])
    assert {lease.end for lease in Lease.objects.all()} == {Lease.End.AUTO_REQUEUE}
    assert [(one.task_id, one.attempt) for one in leasing.lease_tasks(bob, limit=10)] == [
        (lease.task_id, 2) for lease in stale
    ]


def test_each_automatic_requeue_is_journalled_with_its_check(olga, stale):
    retry.retry_stale(olga, RetryPolicy(enabled=True))

    lease = stale[0]
    check, applied = AuditEvent.objects.filter(task_id=lease.task.uuid).order_by("pk")[2:]
    assert (check.kind, check.fields["agent_id"], check.fields["passed"]) == (
        "capability_check",
        "a2a-auto-retry",
        True,
    )
    assert (applied.kind, applied.actor, applied.seq) == ("a2a_repair_applied", "user:olga", 3)
    assert applied.fields == {
        "task_id": str(lease.task.uuid),
        "action": "auto_requeue",
        "reason": "automatic retry policy requeued stale idempotent lease",
        "lease_id": str(lease.lease_id),
        "duplicate_risk": "idempotent",
        "attempt": 1,
    }
    assert factories.journal("a2a_repair_applied") == [applied]


def test_a_dry_run_reports_the_same_and_changes_nothing(olga, stale):
    before = list(Lease.objects.values()), list(Task.objects.values()), factories.journal_length()

    dry = retry.retry_stale(olga, DRY)

    assert (list(Lease.objects.values()), list(Task.objects.values()), factories.journal_length()) == before
    assert (dry.requeued, dry.skipped) == ([], [])
    assert dry.would_requeue == retry.retry_stale(olga, ENABLED).requeued == stale


def test_a_dry_run_respects_every_bound(olga, alice, bob, stale, clock):
    young = factories.leased_task(alice, bob, idempotency=factories.idempotent())

    dry, real = (retry.retry_stale(olga, RetryPolicy(enabled=enabled)) for enabled in (False, True))

    skips = [(stale[1], "limit_reached"), (stale[2], "limit_reached"), (young, "lease_too_young")]
    assert [(skip.lease, skip.reason) for skip in dry.skipped] == skips
    assert [(skip.lease, skip.reason) for skip in real.skipped] == skips
    assert dry.would_requeue == real.requeued == stale[:1]
    assert dry.skipped_by_reason == {"limit_reached": 2, "lease_too_young": 1}


def test_a_skipped_lease_is_reported_with_its_age(olga, stale):
    (skip, *_) = retry.retry_stale(olga, RetryPolicy(min_lease_age=timedelta(days=1))).skipped

    assert (skip.lease, skip.age) == (stale[0], OLD + timedelta(minutes=3))


def test_queued_tasks_do_not_starve_the_scan(alice, bob, olga, stale):
    for _ in range(5):
        factories.sent_task(alice, bob)

    report = retry.retry_stale(olga, RetryPolicy(scan_limit=2))

    assert (report.considered, report.would_requeue) == (2, stale[:1])


def test_leases_that_are_never_requeued_do_not_starve_the_scan(alice, bob, olga, clock):
    for _ in range(2):
        factories.leased_task(alice, bob, idempotency=factories.unsafe())
        clock.shift(timedelta(minutes=1))
        used_up = factories.leased_task(alice, bob, idempotency=factories.idempotent())
        Lease.objects.filter(pk=used_up.pk).update(attempt=3)
        clock.shift(timedelta(minutes=1))
    safe = [factories.leased_task(alice, bob, idempotency=factories.idempotent()) for _ in range(2)]
    clock.shift(OLD)

    report = retry.retry_stale(olga, RetryPolicy(scan_limit=3, max_requeues=2))

    assert {lease.pk for lease in report.would_requeue} == {lease.pk for lease in safe}
    assert (report.considered, report.skipped_by_reason) == (3, {"unsafe_duplicate_safety": 1})
    assert retry.retry_stale(olga, RetryPolicy(scan_limit=5)).skipped_by_reason == {
        "unsafe_duplicate_safety": 2,
        "max_attempts_reached": 1,
        "limit_reached": 1,
    }


@pytest.mark.parametrize("scan_limit", [3, 100])
def test_the_oldest_lease_is_requeued_first(olga, stale, scan_limit):
    Lease.objects.filter(pk=stale[0].pk).update(leased_at=NOW + timedelta(minutes=10))
    Lease.objects.filter(pk=stale[2].pk).update(leased_at=NOW - timedelta(minutes=10))

    report = retry.retry_stale(olga, RetryPolicy(max_requeues=2, scan_limit=scan_limit))

    assert [lease.pk for lease in report.would_requeue] == [stale[2].pk, stale[1].pk]
    assert [(skip.lease.pk, skip.reason) for skip in report.skipped] == [(stale[0].pk, "limit_reached")]


def test_a_task_is_requeued_until_its_attempts_are_used_up(alice, bob, olga, clock):
    factories.leased_task(alice, bob, idempotency=factories.idempotent())
    for _ in range(2):
        clock.shift(OLD)
        assert len(retry.retry_stale(olga, ENABLED).requeued) == 1
        leasing.lease_tasks(bob)
    clock.shift(OLD)

    report = retry.retry_stale(olga, ENABLED)

    assert [skip.reason for skip in report.skipped] == [SkipReason.MAX_ATTEMPTS_REACHED]
    assert Lease.objects.live().get().attempt == 3


def test_unsafe_work_is_requeued_under_no_bound(alice, bob, olga, clock):
    factories.leased_task(alice, bob, idempotency=factories.unsafe())
    factories.leased_task(alice, bob)

    everything = RetryPolicy(
        enabled=True, min_lease_age=timedelta(0), max_attempts=10**6, max_requeues=10**4, scan_limit=10**4
    )
    report = retry.retry_stale(olga, everything)

    assert report.skipped_by_reason == {"unsafe_duplicate_safety": 1, "missing_idempotency": 1}
    assert Lease.objects.live().count() == 2


@pytest.mark.parametrize("enabled", [False, True])
def test_a_dry_run_needs_the_capability(bob, stale, enabled):
    with pytest.raises(CapabilityMissingError, match="requires capability"):
        retry.retry_stale(bob, RetryPolicy(enabled=enabled))

    assert Lease.objects.live().count() == 3
    check = factories.last_event()
    assert (check.fields["agent_id"], check.fields["passed"]) == ("a2a-auto-retry", False)


def test_a_viewer_cannot_run_a_pass(stale):
    with pytest.raises(CapabilityMissingError):
        retry.retry_stale(factories.person("vera", Role.VIEWER), DRY)


@pytest.mark.parametrize("policy", [DRY, ENABLED])
def test_leases_beyond_the_scope_of_every_grant_are_skipped(bob, stale, policy):
    scope = {"version": 1, "task_id": str(stale[1].task.uuid), "duplicate_risk": "idempotent"}
    factories.grant(bob, "a2a.repair.requeue", scope=scope)

    report = retry.retry_stale(bob, policy)

    assert (report.requeued or report.would_requeue) == [stale[1]]
    assert [(skip.lease, skip.reason) for skip in report.skipped] == [
        (stale[0], "capability_scope_mismatch"),
        (stale[2], "capability_scope_mismatch"),
    ]
    rejected = [event.task_id for event in factories.journal("capability_scope_rejected")]
    assert rejected == ([stale[0].task.uuid, stale[2].task.uuid] if policy.enabled else [])


def test_a_grant_pinned_to_a_sender_covers_its_leases(alice, bob, stale):
    factories.grant(bob, "a2a.repair.requeue", scope={"version": 1, "peer_pubkey_b58": factories.row_of(alice).pubkey})

    assert len(retry.retry_stale(bob, DRY).would_requeue) == 3


def test_leases_outside_the_scope_do_not_count_towards_the_limit(bob, stale):
    factories.grant(bob, "a2a.repair.requeue", scope={"version": 1, "task_id": str(stale[2].task.uuid)})

    assert retry.retry_stale(bob, RetryPolicy(enabled=True)).requeued == [stale[2]]


def test_a_counted_grant_bounds_the_requeues(bob, stale):
    grant = factories.grant(bob, "a2a.repair.requeue", max_uses=2)

    report = retry.retry_stale(bob, ENABLED)

    grant.refresh_from_db()
    assert (len(report.requeued), grant.uses) == (2, 2)
    assert [skip.reason for skip in report.skipped] == [SkipReason.CAPABILITY_SCOPE_MISMATCH]


def test_an_agent_scans_only_tasks_of_its_own(mallory, stale):
    factories.grant(mallory, "a2a.repair.requeue")

    assert retry.retry_stale(mallory, ENABLED).considered == 0


def test_a_lease_that_another_pass_ended_is_skipped_as_changed(olga, stale):
    lost = stale[0]
    retry.retry_stale(olga, RetryPolicy(enabled=True))

    assert retry._retry(olga, lost, ENABLED) == SkipReason.LEASE_CHANGED


def test_a_new_lease_of_a_scanned_task_is_not_requeued(bob, olga, stale, clock):
    seen = stale[0]
    retry.retry_stale(olga, RetryPolicy(enabled=True))
    (current,) = leasing.lease_tasks(bob)
    clock.shift(OLD)

    assert retry._retry(olga, seen, ENABLED) == SkipReason.LEASE_CHANGED
    assert current.task_id == seen.task_id
    assert Lease.objects.live().get(task=seen.task_id).pk == current.pk


def test_a_second_pass_requeues_nothing(olga, stale):
    retry.retry_stale(olga, ENABLED)

    assert retry.retry_stale(olga, ENABLED).considered == 0


@pytest.mark.parametrize(
    ("bound", "value", "told"),
    [
        ("min_lease_age", timedelta(microseconds=-1), "must be 0 to 315360000000"),
        ("min_lease_age", timedelta(days=3650, milliseconds=1), "must be 0 to 315360000000"),
        ("max_attempts", 0, "must be 1 to 1000000"),
        ("max_attempts", 1_000_001, "must be 1 to 1000000"),
        ("max_requeues", -1, "must be 0 to 10000"),
        ("max_requeues", 10_001, "must be 0 to 10000"),
        ("scan_limit", 0, "must be 1 to 10000"),
        ("scan_limit", 10_001, "must be 1 to 10000"),
    ],
)
def test_a_bound_out_of_range_is_refused_with_its_range(olga, bound, value, told):
    with pytest.raises(InvalidRequestError) as refusal:
        retry.retry_stale(olga, RetryPolicy(**{bound: value}))

    assert {name.removesuffix("_ms"): text for name, text in refusal.value.fields.items()} == {bound: told}


@pytest.mark.parametrize(
    "policy",
    [
        RetryPolicy(min_lease_age=timedelta(0), max_attempts=1, max_requeues=0, scan_limit=1),
        RetryPolicy(min_lease_age=timedelta(days=3650), max_attempts=1_000_000, max_requeues=10_000, scan_limit=10_000),
    ],
)
def test_the_ends_of_each_range_are_accepted(olga, stale, policy):
    assert retry.retry_stale(olga, policy).would_requeue == []


def test_a_pass_with_a_limit_of_zero_skips_every_lease(olga, stale):
    report = retry.retry_stale(olga, RetryPolicy(enabled=True, max_requeues=0))

    assert report.skipped_by_reason == {"limit_reached": 3}


def test_heartbeats_do_not_make_a_lease_younger(bob, olga, stale):
    leasing.heartbeat(bob, stale[0].task.uuid)

    assert retry.retry_stale(olga, DRY).would_requeue == stale
    assert Lease.objects.get(pk=stale[0].pk).last_seen_at == timezone.now()
