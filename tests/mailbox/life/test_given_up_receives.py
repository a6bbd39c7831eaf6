"""A receive that its client has given up goes on in the hub, and takes nothing after its repeat was answered."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.database import waiting
from mailbox.life import leasing, results
from mailbox.models import Lease, Result, Task
from mailbox.words.errors import LeaseMismatchError
from tests.support import factories
from tests.support.pauses import act_in_pauses, until
from tests.support.races import ROUNDS, answers, is_lock_awaited

pytestmark = pytest.mark.django_db(transaction=True)
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks the whole database")

FAST_AND_WHOLE = [1, 2]  # only a receive of one task or result has a fast form


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that takes steps. A waiting receive runs one step in each of its pauses."""

    return partial(act_in_pauses, monkeypatch)


def end(bob: Caller, attempt: UUID, *, limit: int = 1) -> list[Task]:
    """Lease under the attempt and post results."""
    leases = leasing.lease_tasks(bob, limit=limit, attempt_id=attempt)
    for lease in leases:
        results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    return [lease.task for lease in leases]


@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
def test_a_waiting_lease_takes_nothing_after_its_repeat_has_ended_its_lease(alice, bob, meanwhile, limit):
    attempt = uuid4()

    def repeat() -> None:
        factories.sent_task(alice, bob)
        end(bob, attempt, limit=limit)

    meanwhile(repeat, lambda: factories.sent_task(alice, bob))

    leases = waiting.until(lambda: leasing.lease_tasks(bob, limit=limit, attempt_id=attempt), timedelta(minutes=1), [])

    assert leases == []
    assert [task.state for task in Task.objects.order_by("pk")] == ["resolved", "queued"]


@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
def test_a_waiting_drain_takes_nothing_after_its_repeat_was_acknowledged(alice, bob, meanwhile, limit):
    attempt = uuid4()

    def repeat() -> None:
        factories.resolved_task(alice, bob)
        given = results.drain_results(alice, limit=limit, attempt_id=attempt)
        results.ack_results(alice, [result.task.uuid for result in given])

    meanwhile(repeat, lambda: factories.resolved_task(alice, bob))

    found = waiting.until(
        lambda: results.drain_results(alice, limit=limit, attempt_id=attempt), timedelta(minutes=1), []
    )

    assert found == []
    assert [result.delivery for result in Result.objects.order_by("pk")] == ["acked", "pending"]


def in_another_thread(work: Callable[[], Any]) -> Any:
    """Run the work to its end on a connection of its own; return what it returns."""
    (answer,) = answers(work)
    return answer


@on_postgresql
@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
def test_a_lease_that_looked_before_its_repeat_ended_takes_nothing(alice, bob, monkeypatch, limit):
    attempt, begin = uuid4(), leasing.begin
    sent = [factories.sent_task(alice, bob) for _ in range(4)]
    ended: list[Task] = []

    def end_the_repeat_then_begin(*given: Any, **named: Any) -> Lease:
        if not ended:
            monkeypatch.setattr(leasing, "begin", begin)
            ended.extend(in_another_thread(lambda: end(bob, attempt, limit=limit)))
        return begin(*given, **named)

    monkeypatch.setattr(leasing, "begin", end_the_repeat_then_begin)

    assert leasing._whole_lease(bob, limit, attempt) == []
    assert len(ended) == limit
    assert not Lease.objects.live().exists()
    assert Task.objects.queued().count() == len(sent) - limit


@on_postgresql
def test_a_named_lease_that_looked_before_another_receive_of_its_attempt_takes_nothing(alice, bob, monkeypatch):
    attempt, begin = uuid4(), leasing.begin
    named, other = factories.sent_task(alice, bob), factories.sent_task(alice, bob)

    def end_the_other_then_begin(*given: Any, **fields: Any) -> Lease:
        monkeypatch.setattr(leasing, "begin", begin)
        assert in_another_thread(lambda: end(bob, attempt)) == [other]
        return begin(*given, **fields)

    monkeypatch.setattr(leasing, "begin", end_the_other_then_begin)

    with pytest.raises(LeaseMismatchError):
        leasing.lease_task(bob, named.uuid, attempt_id=attempt)
    assert Task.objects.get(pk=named.pk).state == Task.State.QUEUED


@contextmanager
def uncommitted(change: Callable[[], object]) -> Iterator[None]:
    """Hold a change of another thread in the block, and commit it once a statement waits for it."""
    changed, failed = threading.Event(), []

    def hold() -> None:
        try:
            with transaction.atomic():
                change()
                changed.set()
                until(is_lock_awaited)
        except BaseException as failure:  # noqa: BLE001 it is raised again below
            failed.append(failure)
        finally:
            connections.close_all()

    thread = threading.Thread(target=hold)
    thread.start()
    assert changed.wait()
    yield
    thread.join()
    if failed:
        raise failed[0]


@on_postgresql
@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
def test_a_lease_inserted_before_its_repeat_commits_its_end_takes_nothing(alice, bob, limit):
    attempt, now = uuid4(), timezone.now()
    first, second = factories.sent_task(alice, bob), factories.sent_task(alice, bob)

    def lease_and_end() -> None:
        task = Task.objects.locked().get(pk=first.pk)
        lease = task.start_lease(factories.row_of(bob), now, attempt_id=attempt, index=0)
        lease.finish(Lease.End.RESULT, now)
        task.resolve(Task.Outcome.OK, now)

    with uncommitted(lease_and_end):
        taken = leasing.lease_tasks(bob, limit=limit, attempt_id=attempt)

    assert taken == []
    assert Task.objects.get(pk=second.pk).state == Task.State.QUEUED
    assert len(factories.journal("a2a_task_leased")) == 0


@on_postgresql
@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
def test_a_drain_that_writes_before_its_repeat_commits_the_ack_takes_nothing(alice, bob, limit):
    attempt, now = uuid4(), timezone.now()
    first, second = factories.resolved_task(alice, bob), factories.resolved_task(alice, bob)

    def drain_and_acknowledge() -> None:
        Task.objects.locked().get(pk=first.task_id)
        given = {"delivery": "acked", "delivered_at": now, "acked_at": now, "receive_attempt_id": attempt}
        Result.objects.filter(pk=first.pk).update(**given)

    with uncommitted(drain_and_acknowledge):
        taken = results.drain_results(alice, limit=limit, attempt_id=attempt)

    assert taken == []
    assert Result.objects.get(pk=second.pk).delivery == Result.Delivery.PENDING
    assert factories.journal("a2a_result_delivered") == []


@pytest.mark.parametrize("_round", ROUNDS)
@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
def test_two_receives_of_an_attempt_at_once_take_once_although_one_ends_its_leases(alice, bob, limit, _round):
    attempt = uuid4()
    for _ in range(6):
        factories.sent_task(alice, bob)

    answers(
        *[lambda: end(bob, attempt, limit=limit)] * 2,
        *[lambda: leasing.lease_tasks(bob, limit=limit, attempt_id=attempt)] * 2,
    )

    assert Lease.objects.count() == len(factories.journal("a2a_task_leased")) == limit
    assert Task.objects.queued().count() == 6 - limit


@pytest.mark.parametrize("_round", ROUNDS)
@pytest.mark.parametrize("limit", FAST_AND_WHOLE)
def test_two_drains_of_an_attempt_at_once_take_once_although_one_is_acknowledged(alice, bob, limit, _round):
    attempt = uuid4()
    for _ in range(6):
        factories.resolved_task(alice, bob)

    def drain_and_acknowledge() -> None:
        given = results.drain_results(alice, limit=limit, attempt_id=attempt)
        results.ack_results(alice, [result.task.uuid for result in given])

    answers(
        *[drain_and_acknowledge] * 2,
        *[lambda: results.drain_results(alice, limit=limit, attempt_id=attempt)] * 2,
    )

    assert len(factories.journal("a2a_result_delivered")) == limit
    assert Result.objects.pending().count() == 6 - limit
