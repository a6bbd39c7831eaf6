from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from mailbox.access.callers import Caller
from mailbox.database.bell.waiters import Waiter
from mailbox.inspection import conversation
from mailbox.life import expiry, leasing, results, updates
from mailbox.models import Lease, Result, Task
from mailbox.repairs import repair
from mailbox.words.conversation import Update
from mailbox.words.errors import AlreadyResolvedError, NotInFlightError, UnknownTaskError
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.pauses import act_in_pauses

pytestmark = pytest.mark.django_db

NOW = datetime(2035, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DEADLINE_MS = epoch_ms(NOW + MINUTE)


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOW, tick=False) as coordinates:
        yield coordinates


@pytest.fixture
def hub() -> Caller:
    return Caller.command_line()


def test_a_queued_task_past_its_deadline_is_resolved_as_expired(alice, bob, hub, clock):
    task = factories.sent_task(alice, bob, deadline_ms=DEADLINE_MS)
    clock.shift(MINUTE)

    ended = expiry.sweep(hub)

    task.refresh_from_db()
    assert (ended, task.state, task.outcome) == (1, "resolved", "expired")
    result = Result.objects.get()
    assert (result.status, result.error_message, result.posted_by) == ("error", "deadline exceeded", None)
    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_expired"]
    assert factories.last_event().fields == {"reason": "deadline exceeded", "deadline_ms": DEADLINE_MS}


def test_a_task_before_its_deadline_does_not_expire(alice, bob, hub, clock):
    factories.sent_task(alice, bob, deadline_ms=DEADLINE_MS)
    clock.shift(MINUTE - timedelta(milliseconds=1))

    assert expiry.sweep(hub) == 0
    assert factories.journal("a2a_task_expired") == []


def test_a_deadline_does_not_end_a_leased_task(alice, bob, hub, clock):
    lease = factories.leased_task(alice, bob, deadline_ms=DEADLINE_MS)
    clock.shift(MINUTE)

    assert expiry.sweep(hub) == 0
    assert results.post_result(bob, factories.result_envelope(lease.task)).status == "ok"


def test_a_task_requeued_past_its_deadline_is_not_leased_again(alice, bob, olga, clock):
    lease = factories.leased_task(alice, bob, deadline_ms=DEADLINE_MS)
    clock.shift(MINUTE)
    repair.requeue(olga, lease.task.uuid, reason="x", duplicate_risk=repair.DuplicateRisk.OPERATOR_ACCEPTED)

    assert leasing.lease_tasks(bob) == []
    assert Task.objects.get().outcome == "expired"


def test_a_lease_that_outlasts_the_work_timeout_expires_with_its_task(alice, bob, hub, clock):
    lease = factories.leased_task(alice, bob, work_timeout=MINUTE)
    clock.shift(MINUTE)

    ended = expiry.sweep(hub)

    lease.refresh_from_db()
    assert (ended, lease.end, lease.ended_at) == (1, Lease.End.EXPIRED, NOW + MINUTE)
    assert (Task.objects.get().outcome, Result.objects.get().error_message) == ("expired", "Task timed out")
    assert factories.life_of(lease.task) == ["a2a_task_sent", "a2a_task_leased", "a2a_task_expired"]
    assert factories.last_event().fields == {
        "reason": "Task timed out",
        "lease_id": str(lease.lease_id),
        "attempt": 1,
    }


def test_the_work_timeout_counts_from_each_lease_anew(alice, bob, hub, clock):
    first = factories.leased_task(alice, bob, work_timeout=MINUTE)
    clock.shift(MINUTE / 2)
    leasing.release(bob, first.task.uuid, reason="later")
    clock.shift(MINUTE)
    leasing.lease_tasks(bob)
    clock.shift(MINUTE - timedelta(microseconds=1))

    assert expiry.sweep(hub) == 0
    clock.shift(timedelta(microseconds=1))
    assert expiry.sweep(hub) == 1


def test_a_task_that_waits_longer_than_its_work_timeout_does_not_time_out(alice, bob, hub, clock):
    factories.sent_task(alice, bob, work_timeout=MINUTE)
    clock.shift(MINUTE * 10)

    assert expiry.sweep(hub) == 0


def test_a_task_without_a_work_timeout_never_times_out(alice, bob, hub, clock):
    factories.leased_task(alice, bob)
    clock.shift(timedelta(days=3650))

    assert expiry.sweep(hub) == 0


def test_a_result_after_the_expiry_is_refused(alice, bob, hub, clock):
    lease = factories.leased_task(alice, bob, work_timeout=MINUTE)
    clock.shift(MINUTE)
    expiry.sweep(hub)

    with pytest.raises(AlreadyResolvedError):
        results.post_result(bob, factories.result_envelope(lease.task))

    assert factories.journal("a2a_result_rejected")[0].fields == {"reason": "already_resolved"}


@pytest.mark.parametrize("named", [True, False])
def test_a_result_after_the_work_timeout_is_refused_and_expires_the_task(alice, bob, clock, named):
    lease = factories.leased_task(alice, bob, work_timeout=MINUTE)
    clock.shift(MINUTE)

    with pytest.raises(AlreadyResolvedError):
        results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id if named else None))

    (result,) = results.drain_results(alice)
    assert (result.task, result.error_message) == (lease.task, "Task timed out")
    assert factories.life_of(lease.task)[2:] == ["a2a_task_expired", "a2a_result_delivered"]


def test_a_result_before_the_work_timeout_is_accepted(alice, bob, clock):
    lease = factories.leased_task(alice, bob, work_timeout=MINUTE)
    clock.shift(MINUTE - timedelta(milliseconds=1))

    assert results.post_result(bob, factories.result_envelope(lease.task)).status == "ok"


@pytest.mark.parametrize(
    "late",
    [
        lambda bob, task: leasing.heartbeat(bob, task.uuid),
        lambda bob, task: leasing.release(bob, task.uuid, reason="later"),
        lambda bob, task: updates.post_updates(bob, task.uuid, [Update(progress=0.5)]),
    ],
    ids=["heartbeat", "release", "updates"],
)
def test_a_holder_past_its_work_timeout_holds_no_lease(alice, bob, clock, late):
    lease = factories.leased_task(alice, bob, work_timeout=MINUTE)
    clock.shift(MINUTE)

    with pytest.raises(NotInFlightError, match="timed out"):
        late(bob, lease.task)

    assert len(factories.life_of(lease.task)) == 2
    assert Lease.objects.get().last_seen_at == lease.last_seen_at


def test_a_drain_expires_overdue_tasks_without_a_sweep(alice, bob, clock):
    task = factories.sent_task(alice, bob, deadline_ms=DEADLINE_MS)
    clock.shift(MINUTE)

    (result,) = results.drain_results(alice)

    assert (result.task, result.error_message) == (task, "deadline exceeded")


def test_a_drain_expires_timed_out_tasks_without_a_sweep(alice, bob, clock):
    lease = factories.leased_task(alice, bob, work_timeout=MINUTE)
    clock.shift(MINUTE)

    (result,) = results.drain_results(alice)

    assert (result.task, result.error_message) == (lease.task, "Task timed out")


def test_a_read_by_a_party_expires_a_task_whose_time_is_up(alice, bob, clock):
    in_flight = factories.leased_task(alice, bob, work_timeout=MINUTE).task
    queued = factories.sent_task(alice, bob, deadline_ms=DEADLINE_MS)
    clock.shift(MINUTE)

    shown = [expiry.current(alice, task.uuid) for task in (queued, in_flight)]

    assert [(task.outcome, task.result.error_message) for task in shown] == [
        ("expired", "deadline exceeded"),
        ("expired", "Task timed out"),
    ]


def test_a_read_by_a_stranger_is_refused_and_expires_no_task(alice, bob, mallory, clock):
    queued = factories.sent_task(alice, bob, deadline_ms=DEADLINE_MS)
    leased = factories.sent_task(alice, mallory)
    clock.shift(MINUTE)
    before = factories.journal_length()

    with pytest.raises(UnknownTaskError):
        expiry.current(mallory, queued.uuid)

    assert (Task.objects.get(pk=queued.pk).state, factories.journal_length()) == ("queued", before)
    assert Task.objects.get(pk=leased.pk).state == "queued"


def test_a_sweep_works_in_batches_until_nothing_is_due(alice, bob, hub, clock):
    for _ in range(3):
        factories.sent_task(alice, bob, deadline_ms=DEADLINE_MS)
    for lease in [factories.sent_task(alice, bob, work_timeout=MINUTE) for _ in range(2)]:
        assert lease.state == "queued"
    leasing.lease_tasks(bob, limit=5)
    for task in Task.objects.filter(deadline_ms=DEADLINE_MS):
        leasing.release(bob, task.uuid, reason="later")
    clock.shift(MINUTE)

    assert expiry.sweep(hub, batch=2) == 5
    assert set(Task.objects.values_list("outcome", flat=True)) == {"expired"}
    assert Lease.objects.live().count() == 0


@pytest.fixture(params=["queued", "interrupted", "leased"])
def timed(request, alice, bob):
    """Return a task that is due in a minute: by its deadline, or by its work timeout if it is leased."""
    if request.param == "leased":
        return factories.leased_task(alice, bob, work_timeout=MINUTE).task
    make = factories.sent_task if request.param == "queued" else factories.interrupted_task
    return make(alice, bob, deadline_ms=DEADLINE_MS)


def wait_for_the_end(caller, task):
    """Return the task after a wait of an hour for messages after its newest one."""
    last = Task.objects.get(pk=task.pk).journal_seq
    wait = timedelta(hours=1)
    return expiry.read(caller, task.uuid, lambda _: conversation.read(caller, task.uuid, after=last), wait=wait).task


def test_a_wait_ends_when_its_task_becomes_due(alice, timed, clock, monkeypatch):
    pauses = []
    act_in_pauses(monkeypatch, lambda: clock.shift(MINUTE), lambda: pauses.append("after the expiry"))

    seen = wait_for_the_end(alice, timed)

    assert (seen.state, seen.outcome, pauses) == ("resolved", "expired", [])
    assert factories.life_of(seen)[-1] == "a2a_task_expired"


def test_a_wait_that_ends_as_its_task_becomes_due_shows_the_expiry(alice, timed, clock, monkeypatch):
    def end_unrung(_, seconds):
        clock.shift(MINUTE)
        return False

    monkeypatch.setattr(Waiter, "wait", end_unrung)

    assert wait_for_the_end(alice, timed).outcome == "expired"


def test_a_wait_that_ends_before_its_task_is_due_expires_nothing(alice, timed, clock, monkeypatch):
    act_in_pauses(monkeypatch, lambda: clock.shift(MINUTE - timedelta(milliseconds=1)))
    before = factories.life_of(timed)

    seen = wait_for_the_end(alice, timed)

    assert (seen.outcome, factories.life_of(timed)) == (None, before)


def test_no_wait_begins_for_a_task_that_is_due(alice, timed, clock, monkeypatch):
    pauses = []
    act_in_pauses(monkeypatch, lambda: pauses.append("a wait"))
    clock.shift(MINUTE)

    assert (wait_for_the_end(alice, timed).outcome, pauses) == ("expired", [])
