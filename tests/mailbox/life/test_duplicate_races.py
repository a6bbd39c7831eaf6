"""Duplicates, expiry and compaction under real threads.

One task does the work, each duplicate gets its answer, and no row in use is deleted.
"""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.db import connection  # noqa: F401 (skipif reads it)
from django.utils import timezone

from mailbox.access.callers import Caller, Role
from mailbox.life import expiry, leasing, replay, results, sending
from mailbox.models import Lease, ReplayEntry, Result, Task
from mailbox.repairs import repair
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words.envelopes import ResultStatus
from mailbox.words.times import epoch_ms
from tests.support import factories, tables
from tests.support.races import ROUNDS, answers, race

pytestmark = pytest.mark.django_db(transaction=True)

SOON = timedelta(seconds=1)
LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def the_tables_are_sound_after_it():
    yield
    tables.Watch().assert_sound()


@pytest.mark.parametrize("_round", ROUNDS)
def test_duplicates_sent_at_once_have_one_leader(alice, bob, _round):
    promise = factories.idempotent()
    envelopes = [factories.task_envelope(bob, id=uuid4(), idempotency=promise) for _ in range(4)]

    race(*[partial(sending.send_task, alice, envelope) for envelope in envelopes])

    assert Task.objects.count() == 4
    leader = Task.objects.get(waits_on=None)
    assert {task.waits_on for task in Task.objects.exclude(pk=leader.pk)} == {leader}
    (lease,) = leasing.lease_tasks(bob, limit=10)
    results.post_result(bob, factories.result_envelope(lease.task))
    assert len(results.drain_results(alice, limit=10)) == 4


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite locks the whole database")
def test_a_duplicate_that_meets_its_leader_and_then_its_twin_is_acknowledged(alice, bob, monkeypatch):
    promise, look_for_leader, this_thread = factories.idempotent(), replay.leader, threading.get_ident()
    envelope, of_leader = (factories.task_envelope(bob, id=uuid4(), idempotency=promise) for _ in range(2))
    meanwhile = [of_leader, envelope]

    def leader(key: Any) -> Task | None:
        """The leader commits after the first look for it, and the twin before the second."""
        if threading.get_ident() != this_thread or not meanwhile:
            return look_for_leader(key)
        other = meanwhile.pop(0)
        answers(partial(sending.send_task, alice, other))
        return None if other is of_leader else look_for_leader(key)

    monkeypatch.setattr(replay, "leader", leader)

    assert sending.send_task(alice, envelope).uuid == envelope.id
    assert meanwhile == []
    assert Task.objects.count() == 2


@pytest.mark.parametrize("_round", ROUNDS)
@pytest.mark.parametrize("status", [ResultStatus.OK, ResultStatus.ERROR])
def test_duplicates_against_the_leader_s_result(alice, bob, status, _round):
    promise = factories.idempotent()
    lease = factories.leased_task(alice, bob, idempotency=promise)
    envelopes = [factories.task_envelope(bob, idempotency=promise) for _ in range(3)]

    race(
        partial(results.post_result, bob, factories.result_envelope(lease.task, status=status)),
        *[partial(sending.send_task, alice, envelope) for envelope in envelopes],
    )

    if status == ResultStatus.OK:
        assert Task.objects.filter(outcome="ok").count() == 4
        assert ReplayEntry.objects.get().hits == 3
    else:
        assert len(leasing.lease_tasks(bob, limit=10)) == 1
        assert Task.objects.exclude(waits_on=None).count() == 2


@pytest.mark.parametrize("_round", ROUNDS)
def test_duplicates_against_leaders_that_keep_failing(alice, bob, olga, _round):
    promise = factories.idempotent()
    factories.leased_task(alice, bob, idempotency=promise)

    def fail_whoever_leads() -> None:
        for _ in range(12):
            for task in Task.objects.filter(state=Task.State.QUEUED, waits_on=None):
                sending.cancel(alice, task.uuid)
            for lease in Lease.objects.live().with_task():
                repair.force_error(olga, lease.task.uuid, reason="x", message="gave up", lease_id=lease.lease_id)

    def send_many() -> None:
        for _ in range(12):
            sending.send_task(alice, factories.task_envelope(bob, idempotency=promise))

    outcomes = race(fail_whoever_leads, send_many, send_many, send_many)

    assert [outcome.code for outcome in outcomes] == [None] * 4
    assert Task.objects.count() == 37


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_cancelled_leader_against_the_results_of_its_duplicates(alice, bob, _round):
    promise = factories.idempotent()
    lease = factories.leased_task(alice, bob, idempotency=promise)
    waiters = [factories.sent_task(alice, bob, idempotency=promise) for _ in range(3)]

    _, second, _ = race(
        partial(sending.cancel, alice, lease.task.uuid),
        partial(sending.cancel, alice, waiters[0].uuid),
        partial(results.post_result, bob, factories.result_envelope(waiters[1])),
    )

    # A task that still waits when another one is answered takes that answer. A cancelled task does not.
    outcomes = [Task.objects.get(pk=task.pk).outcome for task in (lease.task, *waiters)]
    assert outcomes == ["cancelled", "cancelled" if second.code is None else "ok", "ok", "ok"]
    assert second.code in (None, "already_resolved")


@pytest.mark.parametrize("_round", ROUNDS)
@pytest.mark.parametrize("status", [ResultStatus.OK, ResultStatus.ERROR])
def test_the_leader_s_result_against_those_of_its_duplicates(alice, bob, status, _round):
    promise = factories.idempotent()
    lease = factories.leased_task(alice, bob, idempotency=promise)
    waiters = [factories.sent_task(alice, bob, idempotency=promise) for _ in range(3)]
    own = [{"type": "text", "text": "its own"}]

    led, *others = race(
        partial(results.post_result, bob, factories.result_envelope(lease.task, status=status)),
        *[partial(results.post_result, bob, factories.result_envelope(waiter, content=own)) for waiter in waiters],
    )

    assert led.value.status == status
    assert {other.code for other in others} <= {None, "already_resolved"}
    assert Result.objects.count() == 4
    assert ReplayEntry.objects.get().status == "ok"
    assert leasing.lease_tasks(bob) == []


@pytest.mark.parametrize("_round", ROUNDS)
@pytest.mark.parametrize("verb", ["cancel", "force_error", "release", "sweep"])
def test_the_end_of_a_leader_against_the_results_of_its_duplicates(alice, bob, olga, verb, _round):
    promise = factories.idempotent()
    lease = factories.leased_task(alice, bob, idempotency=promise, work_timeout=SOON if verb == "sweep" else None)
    waiters = [factories.sent_task(alice, bob, idempotency=promise) for _ in range(3)]
    ends: dict[str, Callable[[], object]] = {
        "cancel": partial(sending.cancel, alice, lease.task.uuid),
        "force_error": partial(repair.force_error, olga, lease.task.uuid, reason="x", message="gave up"),
        "release": partial(leasing.release, bob, lease.task.uuid, reason="x"),
        "sweep": partial(expiry.sweep, Caller.command_line()),
    }

    with time_machine.travel(LATER):
        outcomes = race(
            ends[verb],
            *[partial(results.post_result, bob, factories.result_envelope(waiter)) for waiter in waiters],
            partial(sending.cancel, alice, waiters[1].uuid),
        )

    assert {outcome.code for outcome in outcomes} <= {None, "already_resolved"}
    for waiter in waiters:
        waiter.refresh_from_db()
    assert [waiter.state for waiter in waiters] == ["resolved"] * 3
    assert ReplayEntry.objects.count() == 1


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_sweep_against_the_results_of_timed_out_work(alice, bob, _round):
    leases = [factories.leased_task(alice, bob, work_timeout=SOON) for _ in range(3)]
    with time_machine.travel(LATER):
        swept, *posted = race(
            partial(expiry.sweep, Caller.command_line(), batch=2),
            *[partial(results.post_result, bob, factories.result_envelope(lease.task)) for lease in leases],
        )

    for lease, outcome in zip(leases, posted, strict=True):
        ended = Task.objects.get(pk=lease.task_id)
        assert (outcome.code, ended.outcome) == ("already_resolved", "expired")
        assert len(factories.life_of(ended)) == 3
    assert swept.value <= Task.objects.filter(outcome="expired").count()


@pytest.mark.parametrize("_round", ROUNDS)
def test_sweeps_drains_and_leases_against_overdue_duplicates(alice, bob, _round):
    anna = factories.agent("anna", "a2a.send.*")
    deadline = epoch_ms(timezone.now() + timedelta(hours=1))
    for sender in (alice, anna):
        for promise in [factories.idempotent() for _ in range(4)]:
            for _ in range(3):
                factories.sent_task(sender, bob, idempotency=promise, deadline_ms=deadline)

    with time_machine.travel(LATER):
        race(
            *[partial(expiry.sweep, Caller.command_line(), batch=3)] * 2,
            *[partial(results.drain_results, sender, limit=3) for sender in (alice, alice, anna)],
            partial(leasing.lease_tasks, bob, limit=5),
        )
        expiry.sweep(Caller.command_line())

    assert Task.objects.filter(outcome="expired").count() == Result.objects.count() == 24
    assert not Task.objects.exclude(waits_on=None).exists()


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_compaction_against_drains_and_acknowledgements(alice, bob, _round, monkeypatch):
    ada = factories.person("ada", Role.ADMIN)
    monkeypatch.setattr(compaction, "BATCH", 2)
    delivered = [factories.drained_task(alice, bob).task for _ in range(6)]
    pending = {factories.resolved_task(alice, bob).task.uuid for _ in range(3)}
    everything = Retention(acked=timedelta(0), delivered=timedelta(0))

    compacted, acked, *drained = race(
        partial(compaction.compact, ada, everything),
        partial(results.ack_results, alice, [task.uuid for task in delivered]),
        *[partial(results.drain_results, alice, limit=2)] * 2,
    )

    assert compacted.refusal is None
    assert sorted(acked.value.acked) == sorted(task.uuid for task in delivered)
    given = [result.task.uuid for outcome in drained for result in outcome.value]
    given += [result.task.uuid for result in results.drain_results(alice, limit=10)]
    assert sorted(given) == sorted(pending)
    assert compaction.compact(ada, everything) + compacted.value == 9


@pytest.mark.parametrize("_round", ROUNDS)
def test_two_compactions_count_each_task_once(alice, bob, _round, monkeypatch):
    ada = factories.person("ada", Role.ADMIN)
    monkeypatch.setattr(compaction, "BATCH", 2)
    for _ in range(5):
        factories.drained_task(alice, bob)

    everything = Retention(acked=timedelta(0), delivered=timedelta(0))

    outcomes = race(*[partial(compaction.compact, ada, everything)] * 2)

    dropped = sum(outcome.value for outcome in outcomes) + compaction.compact(ada, everything)
    assert dropped == 5
    assert len({event.task_id for event in factories.journal("a2a_tasks_compacted")}) == 5


@pytest.mark.parametrize("_round", ROUNDS)
def test_a_compaction_of_the_source_against_a_duplicate(alice, bob, _round):
    ada, promise = factories.person("ada", Role.ADMIN), factories.idempotent()
    lease = factories.leased_task(alice, bob, idempotency=promise)
    results.post_result(bob, factories.result_envelope(lease.task))
    results.ack_results(alice, [lease.task.uuid])

    compacted, sent = race(
        partial(compaction.compact, ada, factories.AT_ONCE),
        partial(sending.send_task, alice, factories.task_envelope(bob, idempotency=promise)),
    )

    assert compacted.value == 1
    assert (sent.value.outcome, Result.objects.get().replayed_from) == ("ok", lease.task.uuid)
