"""Calls that reach one task at once. No effect happens twice or is lost, and only refusals are raised."""

from datetime import timedelta
from functools import partial
from uuid import UUID, uuid4

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.agents import grants
from mailbox.access.callers import Caller, Role
from mailbox.life import leasing, results, sending
from mailbox.models import CapabilityGrant, Lease, ReplayEntry, Result, Task
from mailbox.repairs import repair, retry
from mailbox.repairs.repair import DuplicateRisk
from mailbox.repairs.retry import RetryPolicy
from tests.support import factories, tables
from tests.support.races import ROUNDS, race

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)


@pytest.fixture
def ada() -> Caller:
    return factories.person("ada", Role.ADMIN)


@pytest.fixture(autouse=True)
def the_tables_are_sound_after_it():
    yield
    tables.Watch().assert_sound()


def requeue(caller: Caller, task: Task, lease_id: UUID | None = None) -> Task:
    risk = DuplicateRisk.OPERATOR_ACCEPTED
    return repair.requeue(caller, task.uuid, reason="stuck", duplicate_risk=risk, lease_id=lease_id)


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_repair_against_the_result_of_the_lease_it_saw(alice, bob, olga, _round):
    lease = factories.leased_task(alice, bob)
    envelope = factories.result_envelope(lease.task, lease_id=lease.lease_id)

    repaired, posted = race(
        partial(requeue, olga, lease.task, lease.lease_id), partial(results.post_result, bob, envelope)
    )

    task, lease = Task.objects.get(), Lease.objects.get()
    if repaired.refusal:
        assert (repaired.code, task.outcome, lease.end) == ("already_resolved", "ok", "result")
    else:
        assert (posted.code, task.state, lease.end) == ("lease_mismatch", "queued", "requeue")
    assert Result.objects.count() == (0 if posted.refusal else 1)


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_forced_error_against_the_result(alice, bob, olga, _round):
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent())
    waiter = factories.sent_task(
        alice, bob, idempotency=factories.idempotent(lease.task.idempotency_key), task_kind=lease.task.task_kind
    )

    forced, posted = race(
        partial(repair.force_error, olga, lease.task.uuid, reason="stuck", message="gave up"),
        partial(results.post_result, bob, factories.result_envelope(lease.task)),
    )

    assert sorted([str(forced.code), str(posted.code)]) == ["None", "already_resolved"]
    waiter.refresh_from_db()
    assert (waiter.state, waiter.waits_on) == ("queued" if posted.refusal else "resolved", None)
    assert ReplayEntry.objects.count() == (0 if posted.refusal else 1)


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_requeue_against_the_next_leases(alice, bob, olga, _round):
    lease = factories.leased_task(alice, bob)

    requeued, *leased = race(
        partial(requeue, olga, lease.task, lease.lease_id), *[partial(leasing.lease_tasks, bob)] * 3
    )

    assert requeued.refusal is None
    taken = [one for outcome in leased for one in outcome.value]
    assert [one.attempt for one in taken] in ([], [2])
    assert Task.objects.get().attempt == 1 + len(taken)
    assert [one.attempt for one in taken + leasing.lease_tasks(bob)] == [2]


@pytest.mark.parametrize("_round", ROUNDS)
def test_an_acknowledgement_against_a_drain_of_the_same_attempt(alice, bob, _round):
    factories.resolved_task(alice, bob)
    attempt_id = uuid4()
    (result,) = results.drain_results(alice, attempt_id=attempt_id)
    other = factories.resolved_task(alice, bob)

    redelivered, acked = race(
        partial(results.drain_results, alice, attempt_id=attempt_id),
        partial(results.ack_results, alice, [result.task.uuid]),
    )

    assert acked.value.acked == [result.task.uuid]
    assert redelivered.value in ([result], [])
    assert factories.life_of(result.task)[-2:] == ["a2a_result_delivered", "a2a_result_acked"]
    assert results.drain_results(alice, limit=10, attempt_id=attempt_id) == []
    assert results.drain_results(alice, limit=10, attempt_id=uuid4()) == [other]


@pytest.mark.parametrize("_round", ROUNDS)
def test_acknowledgements_of_the_same_results_in_any_order(alice, bob, _round):
    drained = [factories.drained_task(alice, bob).task for _ in range(4)]
    ids = [task.uuid for task in drained]

    race(
        partial(results.ack_results, alice, ids),
        partial(results.ack_results, alice, ids[::-1]),
        partial(results.drain_results, alice, ack=ids[2:] + ids[:2]),
    )

    assert all(factories.life_of(task).count("a2a_result_acked") == 1 for task in drained)


@pytest.mark.parametrize("_round", ROUNDS)
def test_acknowledgements_against_the_drain_of_the_same_results(alice, bob, _round):
    posted = [factories.resolved_task(alice, bob).task for _ in range(6)]

    drained, _ = race(
        partial(results.drain_results, alice, limit=6),
        partial(results.ack_results, alice, [task.uuid for task in posted]),
    )

    assert {result.delivery for result in Result.objects.all()} == {"acked"}
    delivered = {result.task_id for result in drained.value}
    for task in posted:
        assert factories.life_of(task).count("a2a_result_acked") == 1
        assert factories.life_of(task).count("a2a_result_delivered") == (task.pk in delivered)


@pytest.mark.parametrize("_round", ROUNDS)
def test_two_retry_passes(alice, bob, olga, _round):
    with time_machine.travel(timezone.now() - HOUR):
        stale = [factories.leased_task(alice, bob, idempotency=factories.idempotent()) for _ in range(4)]

    reports = [
        outcome.value
        for outcome in race(*[partial(retry.retry_stale, olga, RetryPolicy(enabled=True, max_requeues=10))] * 2)
    ]

    requeued = [lease.pk for report in reports for lease in report.requeued]
    assert sorted(requeued) == sorted(lease.pk for lease in stale)
    assert {str(skip.reason) for report in reports for skip in report.skipped} <= {"lease_changed"}
    assert len(factories.journal("a2a_repair_applied")) == len(stale)
    assert [lease.attempt for lease in leasing.lease_tasks(bob, limit=10)] == [2] * len(stale)


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_retry_pass_against_the_results_of_its_leases(alice, bob, olga, _round):
    with time_machine.travel(timezone.now() - HOUR):
        stale = [factories.leased_task(alice, bob, idempotency=factories.idempotent()) for _ in range(3)]

    retried, *posted = race(
        partial(retry.retry_stale, olga, RetryPolicy(enabled=True, max_requeues=10)),
        *[
            partial(results.post_result, bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
            for lease in stale
        ],
    )

    requeued = {lease.pk for lease in retried.value.requeued}
    for lease, outcome in zip(stale, posted, strict=True):
        assert outcome.code == ("lease_mismatch" if lease.pk in requeued else None)


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_revocation_against_counted_sends(alice, bob, ada, _round):
    carol = factories.agent("carol")
    grant = factories.grant(carol, "a2a.send.bob@local", max_uses=3)

    *sent, revoked = race(
        *[partial(sending.send_task, carol, factories.task_envelope(bob)) for _ in range(4)],
        partial(grants.revoke, ada, grant.grant_id),
    )

    assert revoked.refusal is None
    assert {outcome.code for outcome in sent} <= {None, "capability_missing"}
    passed = [outcome for outcome in sent if outcome.refusal is None]
    assert Task.objects.count() == len(passed) == CapabilityGrant.objects.get(pk=grant.pk).uses <= 3
    checks = [event.fields["passed"] for event in factories.journal("capability_check") if event.actor == "carol@local"]
    assert checks.count(True) == len(passed)
