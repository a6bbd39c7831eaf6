"""Batches of large tasks and results end before the answer would exceed the budget, and lose nothing."""

from dataclasses import replace
from uuid import uuid4

import pytest

from mailbox.database import paging
from mailbox.life import batches
from mailbox.models import Result, Task
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


@pytest.fixture(params=["together", "one by one"])
def way(request, monkeypatch):
    if request.param == "one by one":
        monkeypatch.setattr(batches, "earlier_tasks", lambda _, envelopes: [None] * len(envelopes))
    return request.param


@pytest.mark.usefixtures("way")
def test_a_repeated_batch_holds_no_content_of_results(alice, bob):
    batch = [factories.task_envelope(bob, id=uuid4()) for _ in range(3)]
    batches.send_tasks(alice, batch)
    leases = batches.lease_tasks(bob, most=3).leases
    content = factories.text("large")
    batches.post_results(bob, [factories.result_envelope(lease.task, content=content) for lease in leases])

    outcomes = batches.send_tasks(alice, batch)

    results = [task.result for task in outcomes.posted]
    assert [result.get_deferred_fields() >= {"content", "error_message"} for result in results] == [True] * 3
    assert [(result.status, result.blocks[0]["text"]) for result in results] == [("ok", "large")] * 3


def test_a_task_far_larger_than_the_envelope_is_not_read_for_the_comparison(alice, bob, monkeypatch):
    batch = [factories.task_envelope(bob, id=uuid4(), intent_text=text) for text in ("x" * 1_000, "small")]
    batches.send_tasks(alice, batch)
    compared = []
    monkeypatch.setattr(batches, "_is_repeated", lambda task, *_: compared.append(task.uuid))

    again = [replace(batch[0], intent_text="small"), batch[1]]

    assert [refused.error.code for refused in batches.send_tasks(alice, again).refused] == ["task_conflict"]
    assert compared == [batch[1].id]
