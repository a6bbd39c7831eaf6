"""Batches at the same instant, in real threads with connections of their own."""

from dataclasses import replace
from uuid import uuid4

import pytest

from mailbox.access.callers import Caller
from mailbox.life import batches, leasing, results, sending
from mailbox.models import Lease, Result, Task
from mailbox.words.envelopes import TaskEnvelope
from tests.support import factories
from tests.support.races import ROUNDS, answers, assert_journal_is_whole

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True, params=ROUNDS, ids=lambda number: f"round {number + 1}")
def tries_again(request):
    """Run each race more than once, since the winner differs."""


def tasks_for(*recipients: Caller) -> list[TaskEnvelope]:
    return [factories.task_envelope(recipient, id=uuid4()) for recipient in recipients]


def answered(leases):
    return [factories.result_envelope(lease.task, lease_id=lease.lease_id) for lease in leases]


def test_two_workers_share_no_task_and_each_gets_the_oldest_first(alice, bob):
    sent = batches.send_tasks(alice, tasks_for(*[bob] * 24)).posted

    one, other = answers(*[lambda: batches.lease_tasks(bob, most=12, attempt_id=uuid4()).leases] * 2)

    for leases in (one, other):
        assert [lease.task.pk for lease in leases] == sorted(lease.task.pk for lease in leases)
        assert [lease.receive_index for lease in leases] == list(range(len(leases)))
    leased = {lease.task.pk for lease in [*one, *other]}
    assert len(leased) == len(one) + len(other)
    rest = batches.lease_tasks(bob, most=24).leases
    assert leased | {lease.task.pk for lease in rest} == {task.pk for task in sent}
    assert_journal_is_whole()


def test_one_attempt_at_once_gets_one_batch(alice, bob):
    batches.send_tasks(alice, tasks_for(*[bob] * 8))
    attempt = uuid4()

    one, other = answers(*[lambda: batches.lease_tasks(bob, most=4, attempt_id=attempt).leases] * 2)

    # The loser may have locked a task for a moment, which the winner then skips.
    assert list(one) == list(other)
    assert 0 < len(one) == Lease.objects.count() <= 4


def test_a_cancelled_task_spoils_no_other_result_of_its_batch(alice, bob):
    batches.send_tasks(alice, tasks_for(*[bob] * 6))
    leases = batches.lease_tasks(bob, most=6).leases
    third = leases[2].task.uuid

    outcomes, cancelled = answers(
        lambda: batches.post_results(bob, answered(leases)), lambda: sending.cancel(alice, third)
    )

    refused = [one.error.code for one in outcomes.refused]
    if isinstance(cancelled, Task):
        assert refused == ["already_resolved"]
    else:
        assert (refused, cancelled.code) == ([], "already_resolved")
    assert Result.objects.count() == 6
    assert_journal_is_whole()


def test_the_same_results_in_another_order_are_posted_once(alice, bob):
    batches.send_tasks(alice, tasks_for(*[bob] * 16))
    posts = answered(batches.lease_tasks(bob, most=16).leases)

    both = answers(
        lambda: batches.post_results(bob, posts),
        lambda: batches.lease_tasks(bob, most=4, answers=posts[::-1]).results,
    )

    for outcomes in both:
        assert {result.task.uuid for result in outcomes.posted} == {post.task_id for post in posts}
    assert Result.objects.count() == 16
    assert len(factories.journal("a2a_result_posted")) == 16
    assert_journal_is_whole()


def test_the_same_tasks_in_another_order_are_sent_once(alice, bob):
    envelopes = tasks_for(*[bob] * 12)

    both = answers(lambda: batches.send_tasks(alice, envelopes), lambda: batches.send_tasks(alice, envelopes[::-1]))

    for outcomes in both:
        assert {task.uuid for task in outcomes.posted} == {envelope.id for envelope in envelopes}
    assert len(factories.journal("a2a_task_sent")) == 12


def test_sends_to_several_recipients_wait_for_each_other_without_a_deadlock(alice, bob, mallory):
    there, back = tasks_for(*[bob, mallory] * 4), tasks_for(*[mallory, bob] * 4)
    (single,) = tasks_for(mallory)

    answers(
        lambda: batches.send_tasks(alice, there),
        lambda: batches.send_tasks(alice, back),
        lambda: sending.send_task(alice, single),
    )

    assert Task.objects.count() == 17
    assert_journal_is_whole()


def test_two_drains_share_no_result_and_acknowledge_each_once(alice, bob):
    batches.send_tasks(alice, tasks_for(*[bob] * 12))
    batches.post_results(bob, answered(batches.lease_tasks(bob, most=12).leases))
    first = [result.task.uuid for result in batches.drain_results(alice, most=4).results]

    one, other = answers(
        lambda: batches.drain_results(alice, most=4, attempt_id=uuid4(), ack=first),
        lambda: batches.drain_results(alice, most=4, attempt_id=uuid4(), ack=first[::-1]),
    )

    assert set(one.acks.acked) == set(other.acks.acked) == set(first)
    drained = [result.task.uuid for result in [*one.results, *other.results]]
    assert len(drained) == len(set(drained))
    assert len(factories.journal("a2a_result_acked")) == 4
    assert len(factories.journal("a2a_result_delivered")) == 4 + len(drained)
    assert_journal_is_whole()


def test_a_release_beside_a_result_leaves_one_outcome(alice, bob):
    batches.send_tasks(alice, tasks_for(*[bob] * 4))
    leases = batches.lease_tasks(bob, most=4).leases
    posts = [replace(post, lease_id=lease.lease_id) for post, lease in zip(answered(leases), leases, strict=True)]

    outcomes, released = answers(
        lambda: batches.lease_tasks(bob, most=4, answers=posts).results,
        lambda: leasing.release(bob, leases[0].task.uuid, reason="later", lease_id=leases[0].lease_id),
    )

    refused = [one.error.code for one in outcomes.refused]
    assert refused == (["lease_mismatch"] if isinstance(released, Lease) else [])
    assert Result.objects.count() == 4 - len(refused)
    assert results.drain_results(alice, limit=4)
    assert_journal_is_whole()
