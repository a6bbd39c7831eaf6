"""Batches of large tasks and results end before the answer would exceed the budget, and lose nothing."""

from __future__ import annotations

from uuid import uuid4

import pytest

from mailbox.database import paging
from mailbox.models import Result, Task
from mailbox.verbs.life import batches
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)

THIRD = "x" * (paging.BUDGET // 3 - 1_000)
LARGE = "x" * (paging.BUDGET + 1)


def test_a_lease_ends_before_the_task_that_exceeds_the_budget(alice, bob):
    tasks = [factories.sent_task(alice, bob, intent_text=text) for text in (*[THIRD] * 4, LARGE, "small", "small")]

    batch_sizes = []
    leased = []
    while leases := batches.lease_tasks(bob, most=100).leases:
        batch_sizes.append(len(leases))
        leased += [lease.task for lease in leases]

    assert batch_sizes == [3, 1, 1, 2]
    assert leased == tasks
    assert set(Task.objects.values_list("attempt", flat=True)) == {1}


def test_a_repeated_lease_returns_what_the_budget_left_room_for(alice, bob):
    for _ in range(4):
        factories.sent_task(alice, bob, intent_text=THIRD)
    attempt_id = uuid4()

    first = batches.lease_tasks(bob, most=100, attempt_id=attempt_id).leases

    assert batches.lease_tasks(bob, most=100, attempt_id=attempt_id).leases == first
    assert (len(first), Task.objects.filter(state=Task.State.QUEUED).count()) == (3, 1)


def test_a_drain_ends_before_the_result_that_exceeds_the_budget(alice, bob):
    for text in (*[THIRD] * 4, LARGE, "small", "small"):
        factories.resolved_task(alice, bob, content=[{"type": "text", "text": text}])

    batch_sizes = []
    drained: list[Result] = []
    while results := batches.drain_results(alice, most=100).results:
        batch_sizes.append(len(results))
        drained += results

    assert batch_sizes == [3, 1, 1, 2]
    assert drained == list(Result.objects.order_by("pk"))
