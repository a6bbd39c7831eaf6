from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.life import leasing, results, sending
from mailbox.models import Agent, AuditEvent, Lease, Result, Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.errors import (
    InvalidRequestError,
    LeaseMismatchError,
    NotInFlightError,
    UnknownTaskError,
    WrongPartyError,
)
from mailbox.words.times import epoch_ms
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_a_lease_from_an_empty_queue_is_not_journalled(alice, bob):
    assert leasing.lease_tasks(bob) == []
    assert not AuditEvent.objects.exists()


def test_a_leased_task_is_in_flight_under_its_first_attempt(alice, bob):
    task = factories.sent_task(alice, bob)

    (lease,) = leasing.lease_tasks(bob)

    task.refresh_from_db()
    assert (task.state, task.attempt) == (Task.State.IN_FLIGHT, 1)
    stored = Lease.objects.get()
    assert stored == lease
    assert (stored.task, stored.holder, stored.attempt) == (task, bob.agent, 1)
    assert (stored.ended_at, stored.end) == (None, None)
    assert stored.last_seen_at == stored.leased_at
    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_leased"]
    assert factories.last_event().fields == {"lease_id": str(lease.lease_id), "attempt": 1, "holder": "bob@local"}
    assert factories.last_event().actor == "bob@local"


def test_a_leased_task_is_not_leased_again(alice, bob):
    factories.leased_task(alice, bob)

    assert leasing.lease_tasks(bob, limit=10) == []


def test_tasks_are_leased_in_the_order_they_were_sent(alice, bob):
    sent = [factories.sent_task(alice, bob) for _ in range(4)]

    assert [lease.task for lease in leasing.lease_tasks(bob, limit=3)] == sent[:3]
    assert [lease.task for lease in leasing.lease_tasks(bob, limit=3)] == sent[3:]


def test_tasks_queued_at_one_moment_are_leased_in_the_order_of_their_rows(alice, bob):
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False):
        sent = [factories.sent_task(alice, bob) for _ in range(3)]

        assert [lease.task for lease in leasing.lease_tasks(bob, limit=3)] == sent


def test_only_the_recipient_leases_a_task(alice, bob, mallory):
    factories.sent_task(alice, bob)

    assert leasing.lease_tasks(mallory) == []
    assert leasing.lease_tasks(alice) == []
    assert len(leasing.lease_tasks(bob)) == 1


def test_a_lease_skips_tasks_of_other_recipients(alice, bob, mallory):
    factories.sent_task(alice, mallory)
    mine = factories.sent_task(alice, bob)

    (lease,) = leasing.lease_tasks(bob)

    assert lease.task == mine


def test_leasing_needs_no_grant(alice, mallory):
    task = factories.sent_task(alice, mallory)

    assert [lease.task for lease in leasing.lease_tasks(mallory)] == [task]


def test_people_cannot_lease_tasks(alice, bob, olga):
    factories.sent_task(alice, bob)

    with pytest.raises(WrongPartyError):
        leasing.lease_tasks(olga)

    assert not Lease.objects.exists()


def test_a_local_caller_without_an_agent_leases_for_each_recipient(alice, bob):
    factories.sent_task(alice, bob)

    (lease,) = leasing.lease_tasks(Caller.local())

    assert lease.holder == bob.agent
    assert factories.last_event().actor == "local"


def test_a_paused_agent_gets_its_tasks_when_it_is_resumed(alice, bob):
    task = factories.sent_task(alice, bob)
    Agent.objects.filter(pk=bob.agent.pk).update(paused_at=timezone.now())

    assert leasing.lease_tasks(bob) == []

    Agent.objects.filter(pk=bob.agent.pk).update(paused_at=None)
    assert [lease.task for lease in leasing.lease_tasks(bob)] == [task]


def test_a_task_past_its_deadline_expires_instead_of_being_leased(alice, bob):
    now = epoch_ms(timezone.now())
    late = factories.sent_task(alice, bob, deadline_ms=now - 1)
    in_time = factories.sent_task(alice, bob, deadline_ms=now + 60_000)

    (lease,) = leasing.lease_tasks(bob)

    assert lease.task == in_time
    late.refresh_from_db()
    assert (late.state, late.outcome, late.attempt) == (Task.State.RESOLVED, Task.Outcome.EXPIRED, 0)
    result = Result.objects.get(task=late)
    assert (result.status, result.error_message, result.posted_by) == ("error", "deadline exceeded", None)
    assert factories.life_of(late) == ["a2a_task_sent", "a2a_task_expired"]
    assert factories.journal("a2a_task_expired")[0].fields == {
        "reason": "deadline exceeded",
        "deadline_ms": now - 1,
    }


def test_a_task_is_not_leased_at_its_deadline(alice, bob):
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    with time_machine.travel(moment, tick=False):
        factories.sent_task(alice, bob, deadline_ms=epoch_ms(moment))

        assert leasing.lease_tasks(bob) == []


def test_a_deadline_does_not_end_a_lease_that_was_taken_in_time(alice, bob):
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    with time_machine.travel(moment, tick=False) as clock:
        lease = factories.leased_task(alice, bob, deadline_ms=epoch_ms(moment) + 1)
        clock.shift(timedelta(days=300))

        results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))

    assert Result.objects.get().status == Result.Status.OK


def test_leases_have_no_expiry(alice, bob):
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    with time_machine.travel(moment, tick=False) as clock:
        lease = factories.leased_task(alice, bob)
        clock.shift(timedelta(days=300))

        assert leasing.lease_tasks(bob) == []
        assert leasing.heartbeat(bob, lease.task.uuid, lease_id=lease.lease_id) == lease


def test_a_released_task_goes_to_the_back_and_keeps_its_attempt(alice, bob):
    lease = factories.leased_task(alice, bob)
    other = factories.sent_task(alice, bob)

    ended = leasing.release(bob, lease.task.uuid, reason=" out of memory ", lease_id=lease.lease_id)

    released = lease.task
    released.refresh_from_db()
    lease.refresh_from_db()
    assert ended == lease
    assert (released.state, released.attempt) == (Task.State.QUEUED, 1)
    assert (lease.end, lease.ended_at) == (Lease.End.RELEASE, released.queued_at)
    assert factories.life_of(released)[-1] == "a2a_task_released"
    assert factories.last_event().fields == {
        "lease_id": str(lease.lease_id),
        "attempt": 1,
        "reason": "out of memory",
    }
    again = leasing.lease_tasks(bob, limit=2)
    assert [(one.task, one.attempt) for one in again] == [(other, 1), (released, 2)]
    assert again[1].lease_id != lease.lease_id


def test_a_repeated_release_changes_nothing(alice, bob):
    lease = factories.leased_task(alice, bob)
    leasing.release(bob, lease.task.uuid, reason="later", lease_id=lease.lease_id)
    rows = factories.journal_length()

    again = leasing.release(bob, lease.task.uuid, reason="later", lease_id=lease.lease_id)
    assert factories.journal_length() == rows
    (live,) = leasing.lease_tasks(bob)
    late = leasing.release(bob, lease.task.uuid, reason="later", lease_id=lease.lease_id)

    assert [(one.lease_id, one.attempt) for one in (again, late)] == [(lease.lease_id, 1)] * 2
    live.refresh_from_db()
    assert live.ended_at is None


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "nul\x00"])
def test_a_release_needs_a_reason(alice, bob, reason):
    lease = factories.leased_task(alice, bob)

    with pytest.raises(InvalidRequestError):
        leasing.release(bob, lease.task.uuid, reason=reason)

    lease.refresh_from_db()
    assert lease.ended_at is None


@pytest.mark.parametrize("verb", ["release", "heartbeat"])
def test_a_stale_lease_id_changes_nothing(alice, bob, verb):
    stale = factories.leased_task(alice, bob)
    repair.requeue(Caller.local(), stale.task.uuid, reason="again", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)
    (live,) = leasing.lease_tasks(bob)
    rows = factories.journal_length()

    with pytest.raises(LeaseMismatchError) as refusal:
        _hold(verb, bob, stale.task, stale)

    assert refusal.value.ids == {
        "task_id": str(stale.task.uuid),
        "expected_lease_id": str(stale.lease_id),
        "actual_lease_id": str(live.lease_id),
    }
    stored = Lease.objects.get(pk=live.pk)
    assert (stored.ended_at, stored.last_seen_at) == (None, live.last_seen_at)
    assert factories.journal_length() == rows


@pytest.mark.parametrize("verb", ["release", "heartbeat"])
def test_a_verb_of_the_holder_refuses_a_queued_task(alice, bob, verb):
    task = factories.sent_task(alice, bob)

    with pytest.raises(NotInFlightError):
        _hold(verb, bob, task, None)


@pytest.mark.parametrize("verb", ["release", "heartbeat"])
def test_the_sender_does_not_hold_the_lease(alice, bob, verb):
    lease = factories.leased_task(alice, bob)

    with pytest.raises(LeaseMismatchError) as refusal:
        _hold(verb, alice, lease.task, lease)

    assert refusal.value.ids == {"task_id": str(lease.task.uuid)}
    assert Lease.objects.get().ended_at is None


@pytest.mark.parametrize("verb", ["release", "heartbeat"])
def test_strangers_and_people_hold_no_lease(alice, bob, mallory, olga, verb):
    lease = factories.leased_task(alice, bob)

    for other in (mallory, olga):
        with pytest.raises(UnknownTaskError):
            _hold(verb, other, lease.task, lease)


def test_a_heartbeat_changes_last_seen_alone(alice, bob):
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False) as clock:
        lease = factories.leased_task(alice, bob)
        before = (Task.objects.values().get(), Lease.objects.values().get(), factories.journal_length())
        clock.shift(timedelta(seconds=5))

        leasing.heartbeat(bob, lease.task.uuid)

    task, seen, rows = Task.objects.values().get(), Lease.objects.values().get(), factories.journal_length()
    assert seen["last_seen_at"] == datetime(2030, 1, 1, 0, 0, 5, tzinfo=UTC)
    assert (task, seen | {"last_seen_at": before[1]["last_seen_at"]}, rows) == before


def test_the_holder_learns_of_a_cancellation_at_its_next_call(alice, bob):
    lease = factories.leased_task(alice, bob)
    sending.cancel(alice, lease.task.uuid)

    with pytest.raises(NotInFlightError, match="resolved"):
        leasing.heartbeat(bob, lease.task.uuid, lease_id=lease.lease_id)


def _hold(verb: str, caller: Caller, task: Task, lease: Lease | None) -> object:
    lease_id = None if lease is None else lease.lease_id
    if verb == "release":
        return leasing.release(caller, task.uuid, reason="because", lease_id=lease_id)
    return leasing.heartbeat(caller, task.uuid, lease_id=lease_id)
