"""How many statements the hot verbs may take; fewer is always welcome."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection

from mailbox.inspection import lists
from mailbox.life import expiry, leasing, results, sending
from tests.support import factories

pytestmark = pytest.mark.django_db

# In tests each transaction is a savepoint inside another, which adds two statements that production lacks.
SAVEPOINT = 2
# A send first tries the plain case: its grants and one statement, on SQLite within a savepoint.
COUNTED = 0 if connection.vendor == "postgresql" else 2  # for the quotas; within the one statement on PostgreSQL
TRIED_AS_PLAIN = 2 if connection.vendor == "postgresql" else 2 + SAVEPOINT


@pytest.fixture
def at_most(django_assert_max_num_queries):
    return lambda number: django_assert_max_num_queries(number + SAVEPOINT)


def test_sending(alice, bob, at_most):
    with at_most(3 + COUNTED):
        sending.send_task(alice, factories.task_envelope(bob, id=uuid4()))


def test_sending_again(alice, bob, at_most):
    envelope = factories.task_envelope(bob, id=uuid4())
    sending.send_task(alice, envelope)

    with at_most(2 + TRIED_AS_PLAIN):
        sending.send_task(alice, envelope)


def test_leasing_nothing(alice, bob, django_assert_max_num_queries):
    with django_assert_max_num_queries(1):
        leasing.lease_tasks(bob)


@pytest.mark.parametrize("count", [1, 10])
def test_leasing(alice, bob, at_most, count):
    for _ in range(count):
        factories.sent_task(alice, bob)

    with at_most(3 + 2 * count):
        assert len(leasing.lease_tasks(bob, limit=count)) == count


def test_posting_a_result(alice, bob, at_most):
    lease = factories.leased_task(alice, bob)

    with at_most(6):
        results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))


def test_draining_nothing(alice, django_assert_max_num_queries):
    with django_assert_max_num_queries(3):
        results.drain_results(alice)


@pytest.mark.parametrize("count", [1, 10])
def test_draining(alice, bob, at_most, count):
    for _ in range(count):
        factories.resolved_task(alice, bob)

    with at_most(5 + 3 * count):
        assert len(results.drain_results(alice, limit=count)) == count


@pytest.mark.parametrize(("work_timeout", "most"), [(None, 1), (timedelta(minutes=1), 2)])
def test_reading_a_task_as_it_is_now(alice, bob, django_assert_num_queries, work_timeout, most):
    lease = factories.leased_task(alice, bob, work_timeout=work_timeout)
    with django_assert_num_queries(most):
        assert expiry.current(alice, lease.task.uuid).result_or_none is None

    results.post_result(bob, factories.result_envelope(lease.task))
    with django_assert_num_queries(1):
        task = expiry.current(alice, lease.task.uuid)
        assert (task.sender, task.recipient, task.waits_on) == (alice.agent, bob.agent, None)
        assert task.result.task is task


def test_a_page_of_a_list_takes_no_query_per_row(alice, bob, django_assert_max_num_queries):
    for _ in range(20):
        factories.sent_task(alice, bob)
    leasing.lease_tasks(bob, limit=10)

    with django_assert_max_num_queries(3):
        entries = lists.queue(alice, limit=100).items
        assert {(entry.task.sender.display, entry.task.recipient.display) for entry in entries} == {
            ("alice@local", "bob@local")
        }
