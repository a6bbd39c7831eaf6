from __future__ import annotations

from uuid import uuid4

import pytest

from mailbox.models import Lease, Result
from mailbox.verbs.life import leasing, results, sending
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_the_same_attempt_gets_the_same_lease_again(alice, bob):
    attempt = uuid4()
    task, _ = factories.sent_task(alice, bob), factories.sent_task(alice, bob)
    (first,) = leasing.lease_tasks(bob, attempt_id=attempt)
    rows = factories.journal_length()

    (again,) = leasing.lease_tasks(bob, attempt_id=attempt)

    assert (again.lease_id, again.attempt, again.task) == (first.lease_id, 1, task)
    assert Lease.objects.count() == 1
    assert factories.journal_length() == rows


def test_the_same_attempt_gets_all_its_leases_in_the_same_order(alice, bob):
    attempt = uuid4()
    for _ in range(3):
        factories.sent_task(alice, bob)

    first = leasing.lease_tasks(bob, limit=3, attempt_id=attempt)

    assert leasing.lease_tasks(bob, limit=3, attempt_id=attempt) == first
    assert [lease.receive_index for lease in first] == [0, 1, 2]


def test_another_attempt_gets_the_next_task(alice, bob):
    sent = [factories.sent_task(alice, bob) for _ in range(2)]

    leased = [leasing.lease_tasks(bob, attempt_id=uuid4())[0].task for _ in sent]

    assert leased == sent


def test_an_attempt_without_a_task_can_lease_a_later_task(alice, bob):
    attempt = uuid4()
    assert leasing.lease_tasks(bob, attempt_id=attempt) == []
    task = factories.sent_task(alice, bob)

    assert [lease.task for lease in leasing.lease_tasks(bob, attempt_id=attempt)] == [task]


def test_an_attempt_whose_lease_ended_leases_the_next_task(alice, bob):
    attempt = uuid4()
    factories.sent_task(alice, bob)
    (first,) = leasing.lease_tasks(bob, attempt_id=attempt)
    leasing.release(bob, first.task.uuid, reason="later")

    (second,) = leasing.lease_tasks(bob, attempt_id=attempt)

    assert (second.task, second.attempt) == (first.task, 2)
    assert second.lease_id != first.lease_id


def test_an_attempt_id_belongs_to_its_caller(alice, bob, mallory):
    attempt = uuid4()
    factories.sent_task(alice, bob)
    theirs = factories.sent_task(alice, mallory)
    leasing.lease_tasks(bob, attempt_id=attempt)

    (lease,) = leasing.lease_tasks(mallory, attempt_id=attempt)

    assert lease.task == theirs


def test_the_same_attempt_gets_the_same_result_until_it_is_acked(alice, bob):
    attempt = uuid4()
    first = factories.resolved_task(alice, bob)
    second = factories.resolved_task(alice, bob)
    assert results.drain_results(alice, attempt_id=attempt) == [first]
    rows = factories.journal_length()

    assert results.drain_results(alice, attempt_id=attempt) == [first]
    assert factories.journal_length() == rows

    results.ack_results(alice, [first.task.uuid])
    assert results.drain_results(alice, attempt_id=attempt) == [second]


def test_the_same_attempt_gets_all_its_results_in_the_same_order(alice, bob):
    attempt = uuid4()
    for _ in range(3):
        factories.resolved_task(alice, bob)

    first = results.drain_results(alice, limit=3, attempt_id=attempt)

    assert results.drain_results(alice, limit=3, attempt_id=attempt) == first
    assert len(first) == 3
    assert factories.last_event().fields == {"attempt_id": str(attempt)}


def test_a_drain_attempt_id_belongs_to_its_caller(alice, bob):
    attempt = uuid4()
    carol = factories.agent("carol", "a2a.send.*")
    factories.resolved_task(alice, bob)
    hers = factories.resolved_task(carol, bob)
    results.drain_results(alice, attempt_id=attempt)

    assert results.drain_results(carol, attempt_id=attempt) == [hers]


def test_a_cancelled_lease_frees_its_attempt(alice, bob):
    attempt = uuid4()
    task = factories.sent_task(alice, bob)
    leasing.lease_tasks(bob, attempt_id=attempt)
    sending.cancel(alice, task.uuid)
    following = factories.sent_task(alice, bob)

    assert [lease.task for lease in leasing.lease_tasks(bob, attempt_id=attempt)] == [following]


def test_a_result_drained_without_an_attempt_is_not_drained_again(alice, bob):
    factories.resolved_task(alice, bob)

    assert len(results.drain_results(alice)) == 1
    assert results.drain_results(alice) == []
    assert Result.objects.get().delivery == Result.Delivery.DELIVERED
