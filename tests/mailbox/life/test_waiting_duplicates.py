from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine

from mailbox.access.callers import Caller
from mailbox.inspection import lists, tasks, trees
from mailbox.life import expiry, leasing, results, sending
from mailbox.models import Lease, ReplayEntry, Result, Task
from mailbox.repairs import repair
from mailbox.words.envelopes import Idempotency, ResultStatus
from mailbox.words.times import epoch_ms
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def promise() -> Idempotency:
    return factories.idempotent()


@pytest.fixture
def lease(alice, bob, promise):
    """Return the live lease of a task whose duplicates wait on it."""
    return factories.leased_task(alice, bob, idempotency=promise)


def test_a_duplicate_of_queued_work_waits_on_it(alice, bob, promise):
    leader = factories.sent_task(alice, bob, idempotency=promise)

    waiter = factories.sent_task(alice, bob, idempotency=promise)

    assert (waiter.state, waiter.waits_on) == ("queued", leader)
    assert factories.last_event().fields["waits_on"] == str(leader.uuid)
    assert [one.task for one in leasing.lease_tasks(bob, limit=10)] == [leader]


def test_a_duplicate_of_running_work_waits_on_it_and_is_never_leased(alice, bob, promise, lease):
    waiter = factories.sent_task(alice, bob, idempotency=promise)

    assert (waiter.state, waiter.waits_on) == ("queued", lease.task)
    assert leasing.lease_tasks(bob) == []


def test_a_waiting_duplicate_names_its_leader_in_the_queue_and_the_tree(alice, bob, promise, lease):
    parent = uuid4()
    waiter = factories.sent_task(alice, bob, idempotency=promise, parent=parent)

    (queued, _) = lists.queue(bob).items
    (node,) = trees.tree(alice, parent).items

    assert queued.task.waits_on == lease.task
    assert tasks.task(alice, waiter.uuid).task.waits_on == lease.task
    assert node.task.waits_on == lease.task


def test_each_waiter_takes_the_ok_result_under_its_own_id(alice, bob, promise, lease):
    waiters = [factories.sent_task(alice, bob, idempotency=promise) for _ in range(2)]

    results.post_result(bob, factories.result_envelope(lease.task))

    drained = results.drain_results(alice, limit=10)
    assert [result.task for result in drained] == [lease.task, *waiters]
    assert [result.replayed_from for result in drained] == [None, lease.task.uuid, lease.task.uuid]
    assert ReplayEntry.objects.get().hits == 2
    assert Lease.objects.count() == 1
    for waiter in waiters:
        assert factories.life_of(waiter) == ["a2a_task_sent", "a2a_result_replayed", "a2a_result_delivered"]


def fail(lease: Lease, alice: Caller, bob: Caller, olga: Caller) -> None:
    results.post_result(bob, factories.result_envelope(lease.task, status=ResultStatus.ERROR))


def leave_half_done(lease: Lease, alice: Caller, bob: Caller, olga: Caller) -> None:
    results.post_result(bob, factories.result_envelope(lease.task, status=ResultStatus.PARTIAL))


def force(lease: Lease, alice: Caller, bob: Caller, olga: Caller) -> None:
    repair.force_error(olga, lease.task.uuid, reason="stuck", message="gave up")


def cancel(lease: Lease, alice: Caller, bob: Caller, olga: Caller) -> None:
    sending.cancel(alice, lease.task.uuid)


@pytest.mark.parametrize("end", [fail, leave_half_done, force, cancel])
def test_the_oldest_waiter_becomes_leasable_when_the_first_ends_otherwise(alice, bob, olga, promise, lease, end):
    oldest, younger = (factories.sent_task(alice, bob, idempotency=promise) for _ in range(2))

    end(lease, alice, bob, olga)

    oldest.refresh_from_db()
    younger.refresh_from_db()
    assert (oldest.waits_on, younger.waits_on) == (None, oldest)
    assert factories.life_of(oldest) == ["a2a_task_sent", "a2a_task_woken"]
    assert factories.journal("a2a_task_woken")[0].fields == {"waited_on": str(lease.task.uuid)}
    assert [one.task for one in leasing.lease_tasks(bob, limit=10)] == [oldest]


def test_a_woken_task_keeps_its_place_in_the_queue(alice, bob, promise, lease):
    waiter = factories.sent_task(alice, bob, idempotency=promise)
    later = factories.sent_task(alice, bob)

    fail(lease, alice, bob, alice)

    assert [one.task for one in leasing.lease_tasks(bob, limit=10)] == [waiter, later]


def test_waiters_still_wait_after_the_first_is_requeued(alice, bob, olga, promise, lease):
    waiter = factories.sent_task(alice, bob, idempotency=promise)

    repair.requeue(olga, lease.task.uuid, reason="slow", duplicate_risk=repair.DuplicateRisk.IDEMPOTENT)
    again = leasing.lease_tasks(bob, limit=10)

    waiter.refresh_from_db()
    assert [one.task for one in again] == [lease.task]
    assert waiter.waits_on == lease.task


def test_a_cancelled_waiter_leaves_the_others_waiting(alice, bob, promise, lease):
    cancelled, other = (factories.sent_task(alice, bob, idempotency=promise) for _ in range(2))

    sending.cancel(alice, cancelled.uuid)

    other.refresh_from_db()
    assert other.waits_on == lease.task
    results.post_result(bob, factories.result_envelope(lease.task))
    assert Result.objects.get(task=cancelled).error_message == "cancelled by the sender"
    assert Result.objects.get(task=other).replayed_from == lease.task.uuid


def test_an_identical_repeat_of_a_waiting_send_is_acknowledged_again(alice, bob, promise, lease):
    envelope = factories.task_envelope(bob, id=uuid4(), idempotency=promise)

    first, second = sending.send_task(alice, envelope), sending.send_task(alice, envelope)

    assert first == second
    assert Task.objects.count() == 2


def test_a_waiter_past_its_deadline_expires_before_the_first_ends(alice, bob, promise):
    with time_machine.travel(datetime(2035, 1, 1, tzinfo=UTC), tick=False) as clock:
        lease = factories.leased_task(alice, bob, idempotency=promise)
        deadline = epoch_ms(datetime(2035, 1, 1, 0, 1, tzinfo=UTC))
        waiter = factories.sent_task(alice, bob, idempotency=promise, deadline_ms=deadline)
        clock.shift(timedelta(minutes=1))

        ended = expiry.sweep(Caller.command_line())

    waiter.refresh_from_db()
    lease.task.refresh_from_db()
    assert (ended, waiter.outcome, lease.task.state) == (1, "expired", "in_flight")


def test_a_chain_of_overdue_duplicates_expires_in_one_sweep(alice, bob, promise):
    with time_machine.travel(datetime(2035, 1, 1, tzinfo=UTC), tick=False) as clock:
        deadline = epoch_ms(datetime(2035, 1, 1, 0, 1, tzinfo=UTC))
        sent = [factories.sent_task(alice, bob, idempotency=promise, deadline_ms=deadline) for _ in range(3)]
        clock.shift(timedelta(minutes=1))

        expiry.sweep(Caller.command_line())

    assert [task.outcome for task in Task.objects.order_by("pk")] == ["expired"] * 3
    assert factories.life_of(sent[0]) == ["a2a_task_sent", "a2a_task_expired"]
    assert not Task.objects.exclude(waits_on=None).exists()


def test_a_waiters_own_result_resolves_the_other_waiters_but_not_the_first(alice, bob, promise, lease):
    waiter, other = (factories.sent_task(alice, bob, idempotency=promise) for _ in range(2))

    results.post_result(bob, factories.result_envelope(waiter))

    lease.task.refresh_from_db()
    other.refresh_from_db()
    assert (lease.task.state, other.state) == ("in_flight", "resolved")
    assert Result.objects.get(task=other).replayed_from == waiter.uuid
    assert factories.sent_task(alice, bob, idempotency=promise).state == "resolved"
    assert results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id)).status == "ok"
    assert Task.objects.exclude(state="resolved").count() == 0


@pytest.mark.parametrize("end", [fail, leave_half_done, force, cancel])
def test_no_waiter_is_woken_once_the_result_is_cached(alice, bob, olga, promise, lease, end, monkeypatch):
    waiter, other = (factories.sent_task(alice, bob, idempotency=promise) for _ in range(2))
    monkeypatch.setattr("mailbox.life.replay._waiting_on_another", lambda key: [])  # it was in other hands just then
    results.post_result(bob, factories.result_envelope(waiter))

    end(lease, alice, bob, olga)

    assert factories.life_of(other) == ["a2a_task_sent", "a2a_result_replayed"]
    assert Result.objects.get(task=other).replayed_from == waiter.uuid
    assert leasing.lease_tasks(bob) == []


def test_an_expired_cached_result_keeps_no_waiter_waiting(alice, bob, promise, lease, monkeypatch):
    waiter, other = (factories.sent_task(alice, bob, idempotency=promise) for _ in range(2))
    monkeypatch.setattr("mailbox.life.replay._waiting_on_another", lambda key: [])
    results.post_result(bob, factories.result_envelope(waiter))
    ReplayEntry.objects.update(expires_at=datetime(2020, 1, 1, tzinfo=UTC))

    fail(lease, alice, bob, alice)

    assert [one.task for one in leasing.lease_tasks(bob)] == [other]


def test_a_renewed_cached_result_counts_its_hits_from_zero(alice, bob, promise, lease):
    waiter = factories.sent_task(alice, bob, idempotency=promise)
    results.post_result(bob, factories.result_envelope(waiter))
    factories.sent_task(alice, bob, idempotency=promise)
    earlier = ReplayEntry.objects.get()

    results.post_result(bob, factories.result_envelope(lease.task))

    entry = ReplayEntry.objects.get()
    assert (earlier.source_task_id, earlier.hits) == (waiter.uuid, 1)
    assert (entry.source_task_id, entry.hits, entry.first_hit_at, entry.last_hit_at) == (lease.task.uuid, 0, None, None)
