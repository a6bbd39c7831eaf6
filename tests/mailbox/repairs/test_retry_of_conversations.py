"""The retry gate, plans and pages do not count leases that ended with a question as attempts."""

import uuid
from datetime import timedelta

import pytest

from mailbox.life import leasing
from mailbox.models import Lease
from mailbox.repairs import retry
from mailbox.repairs.retry import RetryPolicy
from tests.support import factories, plans, talking

pytestmark = pytest.mark.django_db
AT_ONCE = RetryPolicy(min_lease_age=timedelta(0), max_requeues=9)


def after_questions(alice, bob, questions, **fields):
    """Return the live lease of idempotent work after this many questions of its holder, each with an answer."""
    key = factories.idempotent(str(uuid.uuid4()))
    lease = factories.leased_task(alice, bob, idempotency=key, **fields)
    for _ in range(questions):
        task = talking.said(alice, talking.asked(bob, lease, "which?"), "that")
        lease = leasing.lease_task(bob, task.uuid)
    return lease


def released(bob, lease):
    leasing.release(bob, lease.task.uuid, reason="later")
    return leasing.lease_task(bob, lease.task.uuid)


@pytest.mark.parametrize("scan_limit", [1, 100])
def test_questions_do_not_use_up_the_attempts_of_the_policy(alice, bob, olga, scan_limit):
    lease = after_questions(alice, bob, 3)

    report = retry.retry_stale(olga, RetryPolicy(min_lease_age=timedelta(0), scan_limit=scan_limit))

    assert (lease.attempt, lease.tries) == (4, 1)
    assert report.would_requeue == [lease]


def test_attempts_that_failed_still_use_them_up(alice, bob, olga):
    lease = released(bob, released(bob, after_questions(alice, bob, 2)))

    report = retry.retry_stale(olga, AT_ONCE)

    assert (lease.attempt, lease.tries) == (5, 3)
    assert report.skipped_by_reason == {"max_attempts_reached": 1}


def test_a_pass_requeues_a_conversation_as_often_as_other_work(alice, bob, olga):
    lease = after_questions(alice, bob, 3)
    policy = RetryPolicy(enabled=True, min_lease_age=timedelta(0))
    requeued = 0
    while retry.retry_stale(olga, policy).requeued:
        requeued += 1
        leasing.lease_task(bob, lease.task.uuid)

    assert requeued == 2  # the third attempt stays


def test_used_up_conversations_leave_the_scan_to_others(alice, bob, olga):
    for _ in range(2):
        released(bob, released(bob, after_questions(alice, bob, 1)))
    fresh = after_questions(alice, bob, 3)

    report = retry.retry_stale(olga, RetryPolicy(min_lease_age=timedelta(0), scan_limit=1))

    assert report.would_requeue == [fresh]


def test_a_plan_is_ready_for_a_long_conversation_and_skips_used_up_attempts(alice, bob, olga):
    talked = after_questions(alice, bob, 3)
    failed = released(bob, released(bob, after_questions(alice, bob, 1)))

    plan = plans.planned(olga, [talked, failed])

    verdicts = {row.lease_id: row.verdict for row in plan.rows.all()}
    assert verdicts == {talked.lease_id: "ready", failed.lease_id: "skipped"}


def test_a_lease_knows_its_tries_alone_and_in_a_list(alice, bob, django_assert_num_queries):
    lease = after_questions(alice, bob, 2)

    with django_assert_num_queries(1):
        assert [read.tries for read in Lease.objects.live().with_tries()] == [1]
    with django_assert_num_queries(2):
        assert Lease.objects.get(pk=lease.pk).tries == 1
