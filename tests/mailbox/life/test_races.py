"""Two callers at the same instant, in real threads with connections of their own."""

from collections import Counter
from functools import partial
from uuid import uuid4

import pytest
from django.utils import timezone

from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.access.credentials.keys import NewKey, add_key
from mailbox.life import leasing, results, sending
from mailbox.models import ApiKey, AuditEvent, CapabilityGrant, Lease, Result, Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.envelopes import ResultStatus
from mailbox.words.errors import (
    AlreadyResolvedError,
    CapabilityMissingError,
    KeyLimitError,
    LeaseMismatchError,
    MailboxError,
    NotInFlightError,
    ResultConflictError,
    TaskConflictError,
)
from tests.support import factories
from tests.support.races import ROUNDS, answers, assert_journal_is_whole

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True, params=ROUNDS, ids=lambda number: f"round {number + 1}")
def tries_again(request):
    """Run each race more than once, since the winner differs."""


def kinds_of(outcomes):
    return Counter(type(outcome) for outcome in outcomes)


def test_one_task_sent_twice_at_once_is_one_row(alice, bob):
    envelope = factories.task_envelope(bob, id=uuid4())

    first, second = answers(*[lambda: sending.send_task(alice, envelope)] * 2)

    assert first == second == Task.objects.get()
    assert factories.life_of(first) == ["a2a_task_sent"]
    assert len(factories.journal("capability_check")) == 1


def test_two_tasks_sent_at_once_under_one_id_are_one_and_a_conflict(alice, bob):
    task_id = uuid4()

    outcomes = answers(
        *[
            lambda text=text: sending.send_task(alice, factories.task_envelope(bob, id=task_id, intent_text=text))
            for text in ("one", "other")
        ]
    )

    assert kinds_of(outcomes) == {Task: 1, TaskConflictError: 1}
    (winner,) = [outcome for outcome in outcomes if isinstance(outcome, Task)]
    assert Task.objects.get().intent_text == winner.intent_text
    assert len(factories.journal("a2a_task_sent")) == 1


def test_receivers_at_once_never_lease_one_task_twice(alice, bob):
    sent = [factories.sent_task(alice, bob) for _ in range(6)]

    outcomes = answers(*[lambda: leasing.lease_tasks(bob, limit=2)] * 4)

    leased = [lease.task for leases in outcomes for lease in leases]
    assert len(leased) == len(set(leased))
    assert Lease.objects.live().count() == len(leased)
    rest = [lease.task for lease in leasing.lease_tasks(bob, limit=10)]
    assert sorted(task.pk for task in [*leased, *rest]) == [task.pk for task in sent]
    assert_journal_is_whole()


def test_one_receive_attempt_twice_at_once_gets_one_lease(alice, bob):
    attempt = uuid4()
    for _ in range(3):
        factories.sent_task(alice, bob)

    first, second = answers(*[lambda: leasing.lease_tasks(bob, attempt_id=attempt)] * 2)

    given = {lease.lease_id for leases in (first, second) for lease in leases}
    assert given == {Lease.objects.get().lease_id}
    assert Lease.objects.get().attempt == 1


def test_one_drain_attempt_twice_at_once_gets_one_result(alice, bob):
    attempt = uuid4()
    for _ in range(3):
        factories.resolved_task(alice, bob)

    outcomes = answers(*[lambda: results.drain_results(alice, attempt_id=attempt)] * 2)

    given = {result for found in outcomes for result in found}
    assert given == {Result.objects.get(delivery="delivered")}
    assert len(factories.journal("a2a_result_delivered")) == 1


def test_drains_at_once_never_give_one_result_twice(alice, bob):
    for _ in range(6):
        factories.resolved_task(alice, bob)

    outcomes = answers(*[lambda: results.drain_results(alice, limit=2)] * 4)

    given = [result for found in outcomes for result in found]
    assert len(given) == len(set(given)) == Result.objects.filter(delivery="delivered").count()
    assert len(factories.journal("a2a_result_delivered")) == len(given)
    assert_journal_is_whole()


def test_one_release_twice_at_once_is_one_release(alice, bob):
    lease = factories.leased_task(alice, bob)
    release = partial(leasing.release, bob, lease.task.uuid, reason="later", lease_id=lease.lease_id)

    assert answers(release, release) == [lease, lease]
    assert len(factories.journal("a2a_task_released")) == 1
    assert Task.objects.get().state == Task.State.QUEUED
    assert_journal_is_whole()


def test_one_result_posted_twice_at_once_is_one_row(alice, bob):
    lease = factories.leased_task(alice, bob)
    envelope = factories.result_envelope(lease.task, lease_id=lease.lease_id)

    first, second = answers(*[lambda: results.post_result(bob, envelope)] * 2)

    assert first == second == Result.objects.get()
    assert len(factories.journal("a2a_result_posted")) == 1
    assert_journal_is_whole()


def test_two_results_posted_at_once_are_one_and_a_conflict(alice, bob):
    lease = factories.leased_task(alice, bob)

    outcomes = answers(
        *[
            lambda status=status: results.post_result(
                bob, factories.result_envelope(lease.task, lease_id=lease.lease_id, status=status)
            )
            for status in (ResultStatus.OK, ResultStatus.PARTIAL)
        ]
    )

    refusals = [outcome for outcome in outcomes if isinstance(outcome, MailboxError)]
    assert [type(refusal) for refusal in refusals] == [ResultConflictError]
    (winner,) = [outcome for outcome in outcomes if isinstance(outcome, Result)]
    assert Task.objects.get().outcome == winner.status == Result.objects.get().status
    assert len(factories.journal("a2a_result_rejected")) == 1
    assert_journal_is_whole()


def test_a_cancellation_and_a_result_at_once_leave_one_end(alice, bob):
    lease = factories.leased_task(alice, bob)

    outcomes = answers(
        lambda: sending.cancel(alice, lease.task.uuid),
        lambda: results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id)),
    )

    assert kinds_of(outcomes)[AlreadyResolvedError] == 1
    task = Task.objects.get()
    lease.refresh_from_db()
    assert (task.outcome, lease.end) in {("cancelled", "cancel"), ("ok", "result")}
    assert Result.objects.count() == 1
    assert len(factories.life_of(task)) == 3


def test_a_requeue_and_a_result_at_once_leave_one_end_of_the_lease(alice, bob):
    lease = factories.leased_task(alice, bob)
    operator = Caller.command_line()

    repaired, posted = answers(
        lambda: repair.requeue(
            operator,
            lease.task.uuid,
            reason="r",
            duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED,
            lease_id=lease.lease_id,
        ),
        lambda: results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id)),
    )

    lease.refresh_from_db()
    if lease.end == Lease.End.REQUEUE:
        assert isinstance(posted, LeaseMismatchError)
        assert not Result.objects.exists()
    else:
        assert isinstance(repaired, AlreadyResolvedError)
        assert Result.objects.get() == posted
    assert_journal_is_whole()


def test_one_of_two_repairs_at_once_succeeds(alice, bob):
    lease = factories.leased_task(alice, bob)
    operator = Caller.command_line()

    outcomes = answers(
        *[lambda: repair.requeue(operator, lease.task.uuid, reason="r", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)]
        * 2
    )

    assert kinds_of(outcomes) == {Task: 1, NotInFlightError: 1}
    assert len(factories.journal("a2a_repair_applied")) == 1
    assert len(factories.journal("a2a_repair_refused")) == 1


def test_the_last_use_of_a_grant_is_used_once(mallory, bob):
    grant = factories.grant(mallory, "a2a.send.*", max_uses=1)

    outcomes = answers(*[lambda: factories.sent_task(mallory, bob)] * 3)

    assert kinds_of(outcomes) == {Task: 1, CapabilityMissingError: 2}
    grant.refresh_from_db()
    assert grant.uses == 1
    assert Task.objects.count() == 1
    checks = Counter(check.fields["passed"] for check in factories.journal("capability_check"))
    assert checks == {True: 1, False: 2}


def test_a_send_during_the_revocation_of_its_grant_is_whole_or_absent(alice, bob):
    grant = CapabilityGrant.objects.get(subject=alice.agent)
    operator = Caller.command_line()

    sent, revoked = answers(lambda: factories.sent_task(alice, bob), lambda: grants.revoke(operator, grant.grant_id))

    assert revoked.revoked_at is not None
    if isinstance(sent, Task):
        assert factories.life_of(sent) == ["a2a_task_sent"]
    else:
        assert isinstance(sent, CapabilityMissingError)
        assert not Task.objects.exists()
    with pytest.raises(CapabilityMissingError):
        factories.sent_task(alice, bob)
    assert [check.fields["passed"] for check in factories.journal("capability_check")].count(True) == 1 + isinstance(
        sent, Task
    )


def test_an_owner_with_one_free_key_gets_no_two_keys_at_once(alice):
    factories.key_of(alice, created_at=timezone.now())

    outcomes = answers(*[lambda: add_key(alice, agent=alice.agent)] * 3)

    assert kinds_of(outcomes) == {NewKey: 1, KeyLimitError: 2}
    assert ApiKey.objects.count() == 2


def test_one_ack_twice_at_once_is_journalled_once(alice, bob):
    drained = factories.drained_task(alice, bob)

    answers(*[lambda: results.ack_results(alice, [drained.task.uuid])] * 2)

    assert len(factories.journal("a2a_result_acked")) == 1
    assert Result.objects.get().delivery == Result.Delivery.ACKED
    assert AuditEvent.objects.of_task(drained.task.uuid).count() == 5
