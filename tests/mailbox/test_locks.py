"""A row that another decision holds is passed over, so that receivers do not queue behind each other."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connection, transaction

from mailbox.access.callers import Caller
from mailbox.life import expiry, leasing, results, sending
from mailbox.models import Result, Task
from tests.support import factories
from tests.support.pauses import until
from tests.support.races import is_lock_awaited

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite locks the whole database"),
]

FAST_AND_WHOLE = [1, 2]  # only a lease or a drain of one task has a fast form


@contextmanager
def held(task):
    """Hold the task's row in a transaction of another thread until the block ends."""
    locked, done = threading.Event(), threading.Event()

    def hold():
        try:
            with transaction.atomic():
                Task.objects.locked().get(pk=task.pk)
                locked.set()
                done.wait()
        finally:
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert locked.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
def test_a_lease_skips_a_locked_task(alice, bob, limit):
    first, second = factories.sent_task(alice, bob), factories.sent_task(alice, bob)

    with held(first):
        taken = [lease.task for lease in leasing.lease_tasks(bob, limit=limit)]

    assert taken == [second]
    assert [lease.task for lease in leasing.lease_tasks(bob, limit=limit)] == [first]


@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
def test_a_drain_skips_a_locked_result(alice, bob, limit):
    first, second = factories.resolved_task(alice, bob), factories.resolved_task(alice, bob)

    with held(first.task):
        given = results.drain_results(alice, limit=limit)

    assert given == [second]
    assert results.drain_results(alice, limit=limit) == [first]


def test_a_send_waits_for_no_lock_of_another_task(alice, bob):
    with held(factories.sent_task(alice, bob)):
        factories.sent_task(alice, bob)

    assert Task.objects.count() == 2


def test_a_cancellation_waits_for_the_lock_and_reads_the_row_again(alice, bob):
    lease = factories.leased_task(alice, bob)
    outcomes = []

    def cancel():
        try:
            outcomes.append(sending.cancel(alice, lease.task.uuid))
        finally:
            connection.close()

    with held(lease.task):
        thread = threading.Thread(target=cancel)
        thread.start()
        until(is_lock_awaited)
        assert not Result.objects.exists()
    thread.join()

    assert [task.outcome for task in outcomes] == [Task.Outcome.CANCELLED]


def test_a_sweep_that_waits_for_a_duplicate_holds_no_lock_of_other_work(alice, bob):
    at_work, expired = factories.idempotent(), factories.idempotent()
    factories.leased_task(alice, bob, idempotency=at_work)
    other = factories.sent_task(alice, bob, idempotency=at_work, deadline_ms=1)
    factories.sent_task(alice, bob, idempotency=expired, deadline_ms=1)
    waiter = factories.sent_task(alice, bob, idempotency=expired)

    def sweep():
        try:
            expiry.sweep(Caller.command_line())
        finally:
            connection.close()

    thread = threading.Thread(target=sweep)
    with held(waiter):
        thread.start()
        until(is_lock_awaited)
        with transaction.atomic():
            assert Task.objects.select_for_update(nowait=True, no_key=True).get(pk=other.pk) == other
    thread.join()

    assert Task.objects.filter(outcome="expired").count() == 2
