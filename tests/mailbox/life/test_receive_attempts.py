import sqlite3
from collections.abc import Callable
from contextlib import closing
from uuid import uuid4

import pytest
from django.db import connection

from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.life import batches, leasing, results, sending
from mailbox.models import Lease, Result, Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.errors import AlreadyResolvedError, LeaseMismatchError, NotInFlightError
from tests.support import factories

pytestmark = pytest.mark.django_db

FAST_AND_WHOLE = [1, 2]  # only a receive of one task or result has a fast form


def requeue(_: Caller, __: Caller, olga: Caller, task: Task) -> None:
    repair.requeue(olga, task.uuid, reason="stuck", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)


ENDS: dict[str, Callable[[Caller, Caller, Caller, Task], object]] = {
    "result": lambda _, bob, __, task: results.post_result(bob, factories.result_envelope(task)),
    "release": lambda _, bob, __, task: leasing.release(bob, task.uuid, reason="later"),
    "cancel": lambda alice, _, __, task: sending.cancel(alice, task.uuid),
    "requeue": requeue,
}


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


@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_an_attempt_whose_lease_ended_is_spent(alice, bob, olga, end, limit):
    attempt = uuid4()
    task = factories.sent_task(alice, bob)
    leasing.lease_tasks(bob, limit=limit, attempt_id=attempt)
    end(alice, bob, olga, task)
    for _ in range(2):
        factories.sent_task(alice, bob)
    rows = factories.journal_length()

    assert [leasing.lease_tasks(bob, limit=number, attempt_id=attempt) for number in (1, 2)] == [[], []]
    assert factories.journal_length() == rows
    assert not Lease.objects.live().exists()
    assert len(leasing.lease_tasks(bob, limit=3, attempt_id=uuid4())) >= 2


def test_an_attempt_gets_those_of_its_leases_that_are_live(alice, bob):
    attempt = uuid4()
    for _ in range(4):
        factories.sent_task(alice, bob)
    first, second, third = leasing.lease_tasks(bob, limit=3, attempt_id=attempt)
    leasing.release(bob, first.task.uuid, reason="later")
    leasing.release(bob, third.task.uuid, reason="later")

    assert leasing.lease_tasks(bob, limit=3, attempt_id=attempt) == [second]
    assert leasing.lease_tasks(bob, attempt_id=attempt) == [second]


def test_a_task_leased_by_name_under_an_attempt_is_its_only_task(alice, bob):
    attempt = uuid4()
    first, second = factories.sent_task(alice, bob), factories.sent_task(alice, bob)
    lease = leasing.lease_task(bob, second.uuid, attempt_id=attempt)

    assert leasing.lease_task(bob, second.uuid, attempt_id=attempt) == lease
    assert leasing.lease_tasks(bob, attempt_id=attempt) == [lease]
    with pytest.raises(LeaseMismatchError):
        leasing.lease_task(bob, first.uuid, attempt_id=attempt)
    leasing.release(bob, second.uuid, reason="later")

    assert leasing.lease_tasks(bob, attempt_id=attempt) == []
    with pytest.raises(LeaseMismatchError):
        leasing.lease_task(bob, first.uuid, attempt_id=attempt)
    with pytest.raises(NotInFlightError, match="this attempt_id is spent"):
        leasing.lease_task(bob, second.uuid, attempt_id=attempt)
    assert not Lease.objects.live().exists()


def test_a_task_of_a_batch_is_leased_again_by_name_under_the_same_attempt(alice, bob):
    attempt = uuid4()
    sent = [factories.sent_task(alice, bob) for _ in range(3)]
    leases = leasing.lease_tasks(bob, limit=2, attempt_id=attempt)

    assert leasing.lease_task(bob, sent[1].uuid, attempt_id=attempt) == leases[1]
    with pytest.raises(LeaseMismatchError):
        leasing.lease_task(bob, sent[2].uuid, attempt_id=attempt)


def test_a_resolved_task_is_reported_as_resolved_to_its_spent_attempt(alice, bob):
    attempt = uuid4()
    task = factories.sent_task(alice, bob)
    leasing.lease_task(bob, task.uuid, attempt_id=attempt)
    results.post_result(bob, factories.result_envelope(task))

    with pytest.raises(AlreadyResolvedError):
        leasing.lease_task(bob, task.uuid, attempt_id=attempt)


def test_an_attempt_id_belongs_to_its_caller(alice, bob, mallory):
    attempt = uuid4()
    factories.sent_task(alice, bob)
    theirs = factories.sent_task(alice, mallory)
    leasing.lease_tasks(bob, attempt_id=attempt)

    (lease,) = leasing.lease_tasks(mallory, attempt_id=attempt)

    assert lease.task == theirs


def test_the_same_attempt_gets_the_same_result_until_it_is_acked(alice, bob):
    attempt = uuid4()
    first, *others = [factories.resolved_task(alice, bob) for _ in range(3)]
    assert results.drain_results(alice, attempt_id=attempt) == [first]
    rows = factories.journal_length()

    assert results.drain_results(alice, attempt_id=attempt) == [first]
    assert factories.journal_length() == rows

    results.ack_results(alice, [first.task.uuid])
    assert [results.drain_results(alice, limit=limit, attempt_id=attempt) for limit in (1, 2)] == [[], []]
    assert results.drain_results(alice, limit=2, attempt_id=uuid4()) == others


def test_an_attempt_without_a_result_can_drain_a_later_result(alice, bob):
    attempt = uuid4()
    assert results.drain_results(alice, attempt_id=attempt) == []
    result = factories.resolved_task(alice, bob)

    assert results.drain_results(alice, attempt_id=attempt) == [result]


def test_a_spent_drain_still_acknowledges(alice, bob):
    attempt = uuid4()
    first, second = factories.resolved_task(alice, bob), factories.resolved_task(alice, bob)
    results.drain_results(alice, attempt_id=attempt)

    assert results.drain_results(alice, attempt_id=attempt, ack=[first.task.uuid]) == []
    assert [result.delivery for result in Result.objects.order_by("pk")] == ["acked", "pending"]
    assert results.drain_results(alice, attempt_id=uuid4()) == [second]


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


def test_a_result_drained_without_an_attempt_is_not_drained_again(alice, bob):
    factories.resolved_task(alice, bob)

    assert len(results.drain_results(alice)) == 1
    assert results.drain_results(alice) == []
    assert Result.objects.get().delivery == Result.Delivery.DELIVERED


RECEIVES: dict[str, Callable[..., object]] = {
    "lease": lambda caller, attempt, limit: leasing.lease_tasks(caller, limit=limit, attempt_id=attempt),
    "drain": lambda caller, attempt, limit: results.drain_results(caller, limit=limit, attempt_id=attempt),
    "batch": lambda caller, attempt, limit: batches.lease_tasks(caller, most=limit, attempt_id=attempt).leases,
    "batch of results": lambda caller, attempt, limit: (
        batches.drain_results(caller, most=limit, attempt_id=attempt).results
    ),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="the write lock of SQLite")
@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
@pytest.mark.parametrize("attempt", [None, uuid4()], ids=["no id", "an id"])
@pytest.mark.parametrize("receive", RECEIVES.values(), ids=RECEIVES)
@pytest.mark.parametrize("is_paused", [False, True], ids=["no task", "paused"])
def test_an_empty_receive_takes_no_write_lock(alice, bob, olga, receive, attempt, limit, is_paused):
    if is_paused:
        factories.sent_task(alice, bob)
        registration.pause_agent(olga, bob.agent, reason="rest")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 0")
    try:
        with closing(sqlite3.connect(str(connection.settings_dict["NAME"]), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert receive(bob, attempt, limit) == []
    finally:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout = 10000")
