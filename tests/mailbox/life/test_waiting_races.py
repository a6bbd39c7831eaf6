"""Waiting receivers against the verbs that bring them something, in real threads."""

from functools import partial

import pytest

from mailbox.life import batches, conversation, leasing, results, sending, updates
from mailbox.models import Lease, Result, Task
from mailbox.words.conversation import Update, UpdateStatus, Words
from tests.support import factories
from tests.support.races import ROUNDS, answers

pytestmark = pytest.mark.django_db(transaction=True)

WAIT = None  # without a limit
WORKERS = 3


@pytest.fixture(autouse=True, params=ROUNDS, ids=lambda number: f"round {number + 1}")
def tries_again(request):
    """Run each race more than once, since the winner differs."""


def wait_for_task(bob):
    (lease,) = batches.next_tasks(bob, most=1, wait=WAIT).leases
    return lease


def test_each_waiting_worker_gets_one_of_the_tasks(alice, bob):
    waiting = [partial(wait_for_task, bob)] * WORKERS
    sending_ = [partial(sending.send_task, alice, factories.task_envelope(bob)) for _ in range(WORKERS)]

    leases = answers(*waiting, *sending_)[:WORKERS]

    assert {lease.task.uuid for lease in leases} == set(Task.objects.values_list("uuid", flat=True))
    assert Lease.objects.live().count() == WORKERS


def test_a_waiting_sender_gets_each_result(alice, bob):
    tasks = [factories.leased_task(alice, bob).task for _ in range(WORKERS)]
    waiting = [partial(results.next_result, alice, wait=WAIT)] * WORKERS
    posting = [partial(results.post_result, bob, factories.result_envelope(task)) for task in tasks]

    drained = answers(*waiting, *posting)[:WORKERS]

    assert {result.task.uuid for result in drained} == {task.uuid for task in tasks}
    assert Result.objects.pending().count() == 0


def test_a_worker_that_waits_gets_the_task_whose_question_is_answered(alice, bob):
    lease = factories.leased_task(alice, bob)
    updates.post_updates(
        bob, lease.task.uuid, [Update(status=UpdateStatus.INPUT_REQUIRED, message=factories.text("which?"))]
    )

    again, sent = answers(
        partial(wait_for_task, bob),
        partial(conversation.say, alice, lease.task.uuid, Words(content=factories.text("this"))),
    )

    assert (again.task.uuid, again.attempt, sent.turn) == (lease.task.uuid, 2, 2)


def test_a_worker_that_waits_gets_the_task_that_another_releases(alice, bob):
    lease = factories.leased_task(alice, bob)

    again, released = answers(
        partial(wait_for_task, bob), partial(leasing.release, bob, lease.task.uuid, reason="not now")
    )

    assert (again.task.uuid, again.attempt, released.end) == (lease.task.uuid, 2, Lease.End.RELEASE)
