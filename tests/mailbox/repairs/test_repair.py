from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine

from mailbox.access.callers import Role
from mailbox.life import leasing, results, sending
from mailbox.models import Lease, Result, Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.errors import (
    AlreadyResolvedError,
    CapabilityMissingError,
    DuplicateRiskMismatchError,
    InvalidRequestError,
    LeaseMismatchError,
    MailboxError,
    NotInFlightError,
    UnknownTaskError,
)
from tests.support import factories

pytestmark = pytest.mark.django_db

ACCEPTED = DuplicateRisk.OPERATOR_ACCEPTED


def requeue(caller, task, **fields):
    return repair.requeue(caller, task.uuid, **{"reason": "worker lost", "duplicate_risk": ACCEPTED, **fields})


def force_error(caller, task, **fields):
    return repair.force_error(caller, task.uuid, **{"reason": "worker lost", "message": "gave up", **fields})


both_verbs = pytest.mark.parametrize("repairs", [requeue, force_error])


def test_a_requeued_task_keeps_its_id_and_attempt_and_goes_to_the_back(alice, bob, olga):
    lease = factories.leased_task(alice, bob)
    other = factories.sent_task(alice, bob)

    requeue(olga, lease.task, lease_id=lease.lease_id)

    task = Task.objects.get(pk=lease.task.pk)
    lease.refresh_from_db()
    assert (task.state, task.attempt) == (Task.State.QUEUED, 1)
    assert (lease.end, lease.ended_at) == (Lease.End.REQUEUE, task.queued_at)
    again = leasing.lease_tasks(bob, limit=2)
    assert [(one.task, one.attempt) for one in again] == [(other, 1), (task, 2)]


def test_a_requeue_is_journalled_with_its_reason_and_risk(alice, bob, olga):
    lease = factories.leased_task(alice, bob)

    requeue(olga, lease.task, lease_id=lease.lease_id)

    assert factories.life_of(lease.task) == ["a2a_task_sent", "a2a_task_leased", "a2a_repair_applied"]
    applied, check = factories.journal("a2a_repair_applied")[0], factories.journal("capability_check")[-1]
    assert applied.actor == "user:olga"
    assert applied.fields == {
        "task_id": str(lease.task.uuid),
        "action": "requeue",
        "reason": "worker lost",
        "lease_id": str(lease.lease_id),
        "duplicate_risk": "operator_accepted",
        "attempt": 1,
    }
    assert (check.fields["agent_id"], check.fields["passed"]) == (f"a2a-repair:{lease.task.uuid}", True)
    assert check.fields["authorized_by"] == [{"action": "a2a.repair.requeue", "granted_by_display": "role:operator"}]


def test_a_forced_error_resolves_the_task_with_the_message(alice, bob, olga):
    lease = factories.leased_task(alice, bob)

    force_error(olga, lease.task)

    lease.refresh_from_db()
    task, result = Task.objects.get(), Result.objects.get()
    assert (task.state, task.outcome) == (Task.State.RESOLVED, Task.Outcome.ERROR)
    assert lease.end == Lease.End.FORCE_ERROR
    assert (result.status, result.error_message, result.posted_by) == ("error", "gave up", None)
    assert factories.life_of(task)[-1] == "a2a_repair_applied"
    assert factories.last_event().fields == {
        "task_id": str(task.uuid),
        "action": "force_error",
        "reason": "worker lost",
        "lease_id": None,
        "duplicate_risk": None,
        "attempt": 1,
    }
    assert results.drain_results(alice) == [result]


def test_a_requeue_as_idempotent_is_accepted_for_an_idempotent_task(alice, bob, olga):
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent())

    requeue(olga, lease.task, duplicate_risk=DuplicateRisk.IDEMPOTENT)

    assert Task.objects.get().state == Task.State.QUEUED
    assert factories.last_event().fields["duplicate_risk"] == "idempotent"


@pytest.mark.parametrize("idempotency", [None, factories.unsafe()])
def test_a_requeue_as_idempotent_is_refused_for_other_tasks(alice, bob, olga, idempotency):
    lease = factories.leased_task(alice, bob, idempotency=idempotency)

    with pytest.raises(DuplicateRiskMismatchError):
        requeue(olga, lease.task, duplicate_risk=DuplicateRisk.IDEMPOTENT)

    assert Lease.objects.get().ended_at is None
    assert factories.last_event().kind == "a2a_repair_refused"
    assert factories.last_event().fields == {
        "action": "requeue",
        "reason": "duplicate_risk_mismatch",
        "given_reason": "worker lost",
    }


@both_verbs
def test_a_stale_lease_id_changes_nothing_and_names_both_leases(alice, bob, olga, repairs):
    stale = factories.leased_task(alice, bob)
    leasing.release(bob, stale.task.uuid, reason="again")
    (live,) = leasing.lease_tasks(bob)
    before = Task.objects.values().get()

    with pytest.raises(LeaseMismatchError) as refusal:
        repairs(olga, stale.task, lease_id=stale.lease_id)

    assert str(stale.lease_id) in refusal.value.message
    assert str(live.lease_id) in refusal.value.message
    assert Task.objects.values().get() == before
    assert Lease.objects.get(pk=live.pk).ended_at is None
    assert factories.last_event().kind == "a2a_repair_refused"
    assert factories.last_event().fields["reason"] == "lease_mismatch"


@both_verbs
def test_a_queued_task_cannot_be_repaired(alice, bob, olga, repairs):
    task = factories.sent_task(alice, bob)

    with pytest.raises(NotInFlightError):
        repairs(olga, task)

    assert factories.last_event().fields["reason"] == "not_in_flight"


@both_verbs
def test_a_resolved_task_cannot_be_repaired(alice, bob, olga, repairs):
    result = factories.resolved_task(alice, bob)

    with pytest.raises(AlreadyResolvedError):
        repairs(olga, result.task)

    assert Result.objects.get() == result
    assert factories.last_event().fields["reason"] == "already_resolved"


@both_verbs
def test_an_unknown_task_is_refused_and_journalled(olga, repairs):
    with pytest.raises(UnknownTaskError):
        repairs(olga, Task(uuid=uuid4()))

    assert factories.last_event().kind == "a2a_repair_refused"
    assert factories.last_event().fields["reason"] == "unknown_task"


@both_verbs
@pytest.mark.parametrize("reason", ["", " \n ", "x" * 501, "nul \x00"])
def test_a_repair_needs_a_reason(alice, bob, olga, repairs, reason):
    lease = factories.leased_task(alice, bob)

    with pytest.raises(InvalidRequestError) as refusal:
        repairs(olga, lease.task, reason=reason)

    assert list(refusal.value.fields) == ["reason"]
    assert Lease.objects.get().ended_at is None


def test_a_reason_of_500_characters_is_accepted(alice, bob, olga):
    lease = factories.leased_task(alice, bob)

    requeue(olga, lease.task, reason=f" {'x' * 500} ")

    assert factories.last_event().fields["reason"] == "x" * 500


@pytest.mark.parametrize("message", ["", " ", "x" * 10_001])
def test_a_forced_error_needs_a_message(alice, bob, olga, message):
    lease = factories.leased_task(alice, bob)

    with pytest.raises(InvalidRequestError) as refusal:
        force_error(olga, lease.task, message=message)

    assert list(refusal.value.fields) == ["message"]


@both_verbs
def test_viewers_and_agents_without_a_grant_cannot_repair(alice, bob, repairs):
    viewer = factories.person("vera", Role.VIEWER)
    lease = factories.leased_task(alice, bob)

    for caller in (viewer, alice, bob):
        with pytest.raises(CapabilityMissingError):
            repairs(caller, lease.task)
        assert factories.last_event().kind == "capability_check"
        assert factories.last_event().fields["passed"] is False

    assert Lease.objects.get().ended_at is None


def test_each_action_needs_its_own_grant(alice, bob):
    factories.grant(alice, "a2a.repair.requeue")
    lease = factories.leased_task(alice, bob)

    with pytest.raises(CapabilityMissingError, match="force_error"):
        force_error(alice, lease.task)
    requeue(alice, lease.task)

    assert Task.objects.get().state == Task.State.QUEUED


@both_verbs
def test_an_agent_can_repair_only_tasks_of_its_own(alice, bob, mallory, repairs):
    for action in ("a2a.repair.requeue", "a2a.repair.force_error"):
        factories.grant(mallory, action)
    lease = factories.leased_task(alice, bob)

    with pytest.raises(UnknownTaskError):
        repairs(mallory, lease.task)

    assert Lease.objects.get().ended_at is None


def test_a_refused_repair_counts_no_use(alice, bob):
    grant = factories.grant(alice, "a2a.repair.requeue", max_uses=1)
    task = factories.sent_task(alice, bob)
    with pytest.raises(NotInFlightError):
        requeue(alice, task)
    leasing.lease_tasks(bob)

    requeue(alice, task)

    grant.refresh_from_db()
    assert grant.uses == 1


def test_attempts_are_counted_over_releases_and_requeues(alice, bob, olga):
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as clock:
        lease = factories.leased_task(alice, bob)
        for attempt in (2, 3):
            requeue(olga, lease.task)
            clock.shift(timedelta(hours=1))
            (again,) = leasing.lease_tasks(bob)
            assert (again.task, again.attempt) == (lease.task, attempt)

    assert sorted(Lease.objects.values_list("attempt", flat=True)) == [1, 2, 3]
    assert Lease.objects.live().count() == 1


@pytest.mark.parametrize("end", ["result", "cancel"])
@both_verbs
def test_a_lease_ends_once(alice, bob, olga, repairs, end):
    lease = factories.leased_task(alice, bob)
    if end == "result":
        results.post_result(bob, factories.result_envelope(lease.task))
    else:
        sending.cancel(alice, lease.task.uuid)

    with pytest.raises(MailboxError):
        repairs(olga, lease.task, lease_id=lease.lease_id)

    lease.refresh_from_db()
    assert lease.end == end
