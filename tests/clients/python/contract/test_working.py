from datetime import timedelta
from uuid import uuid4

import pytest

from a2a_hub_client import Answer, Update
from a2a_hub_client.errors import AttemptSpentError
from a2a_hub_client.refusals import (
    CapabilityMissingError,
    LeaseMismatchError,
    NotInFlightError,
    ResultConflictError,
    UnknownTaskError,
    WrongPartyError,
)
from tests.clients.python.contract.conftest import served


def receive(worker):
    (leased,) = worker.receive().leases
    return leased


def test_tasks_are_leased_oldest_first(alice, bob):
    sent = [alice.send("bob", str(number)).id for number in range(3)]

    received = bob.receive(most=2)

    assert [leased.task.id for leased in received.leases] == sent[:2]
    assert [leased.lease.attempt for leased in received.leases] == [1, 1]
    assert [held.task.id for held in bob.leases()] == sent[:2]


@pytest.mark.usefixtures("time_of_waits")
def test_an_empty_receive_has_no_lease(bob):
    assert bob.receive(wait=0).leases == []
    assert bob.receive(wait=timedelta(milliseconds=20)).leases == []


def test_the_same_attempt_gets_the_same_lease(alice, bob):
    alice.send("bob", "1")
    alice.send("bob", "2")
    attempt = uuid4()

    first, again = (bob.receive(attempt_id=attempt).leases for _ in range(2))

    assert first == again
    assert len(list(bob.leases())) == 1


def test_a_spent_attempt_takes_nothing(alice, bob):
    alice.send("bob", "1")
    attempt = uuid4()
    (leased,) = bob.receive(attempt_id=attempt).leases
    bob.post_result(Answer(task_id=leased.task.id, content="1", lease_id=leased.lease.id))
    alice.send("bob", "2")

    with pytest.raises(AttemptSpentError):
        bob.receive(attempt_id=attempt, wait=0)


def test_one_request_posts_results_and_leases_the_next_tasks(alice, bob):
    first, second = alice.send("bob", "1"), alice.send("bob", "2")
    leased = receive(bob)
    good = Answer(task_id=first.id, lease_id=leased.lease.id, content="1")
    bad = Answer(task_id=second.id, lease_id=uuid4(), content="2")

    received = bob.receive(answers=[good, bad])

    assert received.posted == [first.id]
    assert [(item.index, item.task_id, item.code) for item in received.refused] == [(1, second.id, "lease_mismatch")]
    assert [one.task.id for one in received.leases] == [second.id]


def test_a_result_counts_only_under_a_live_lease(alice, bob):
    task = alice.send("bob", "1")
    lease = receive(bob).lease
    task_of_bob = bob.task(task.id)
    task_of_bob.release("busy", lease_id=lease.id)
    receive(bob)

    with pytest.raises(LeaseMismatchError):
        bob.post_result(Answer(task_id=task.id, content="1", lease_id=lease.id))


def test_the_same_result_again_changes_nothing_and_another_is_refused(alice, bob):
    task = alice.send("bob", "1")
    lease = receive(bob).lease
    answer = Answer(task_id=task.id, content="1", lease_id=lease.id)

    bob.post_result(answer)
    bob.post_result(answer)

    with pytest.raises(ResultConflictError):
        bob.post_result(Answer(task_id=task.id, content="2", lease_id=lease.id))
    assert task.result().text == "1"


def test_a_result_needs_a_capability(alice, hub_of):
    mallory = hub_of("mallory")
    task = alice.send("mallory", "1")
    lease = receive(mallory).lease

    with pytest.raises(CapabilityMissingError):
        mallory.post_result(Answer(task_id=task.id, content="1", lease_id=lease.id))


def test_a_result_of_an_unknown_task_is_refused(bob):
    with pytest.raises(UnknownTaskError):
        bob.post_result(Answer(task_id=uuid4(), content="1"))


def test_a_released_task_returns_to_the_queue(alice, bob):
    task = alice.send("bob", "1")
    lease = receive(bob).lease

    bob.task(task.id).release("busy", lease_id=lease.id)

    assert task.entry().state == "queued"
    assert receive(bob).lease.attempt == 2
    bob.task(task.id).release("busy", lease_id=lease.id)  # a repeat
    assert task.entry().state == "in_flight"


def test_a_heartbeat_shows_the_lease(alice, bob):
    task = alice.send("bob", "1")
    lease = receive(bob).lease

    state = bob.heartbeat(task.id, lease_id=lease.id)

    assert (state.lease.id, state.turn) == (lease.id, 1)
    assert state.lease.last_seen_at >= lease.last_seen_at
    with pytest.raises(LeaseMismatchError):
        bob.heartbeat(task.id, lease_id=uuid4())


def test_a_heartbeat_after_the_end_is_refused(alice, bob):
    task = alice.send("bob", "1")
    receive(bob)
    task.cancel()

    with pytest.raises(NotInFlightError):
        bob.heartbeat(task.id)


def test_a_named_task_is_leased_before_older_tasks(alice, bob):
    alice.send("bob", "1")
    wanted = alice.send("bob", "2")

    leased = bob.lease(wanted.id)

    assert (leased.task.id, leased.lease.attempt) == (wanted.id, 1)
    with pytest.raises(NotInFlightError):
        bob.lease(wanted.id)


def test_results_in_a_batch_have_outcomes_of_their_own(alice, bob):
    task = alice.send("bob", "1")
    unknown = uuid4()

    posted = bob.post_results([Answer(task_id=unknown, content="0"), Answer(task_id=task.id, content="1")])

    assert posted.posted == [task.id]
    assert [(item.index, item.code) for item in posted.refused] == [(0, "unknown_task")]


@served
def test_people_receive_nothing(olga):
    with pytest.raises(WrongPartyError):
        olga.receive(wait=0)


def test_an_entry_shows_who_holds_the_task(alice, bob):
    task = alice.send("bob", "1")
    assert (task.entry().state, task.entry().attempt, task.entry().lease_id) == ("queued", 0, None)

    lease = receive(bob).lease

    entry = task.entry()
    assert (entry.state, entry.attempt, entry.lease_id) == ("in_flight", 1, lease.id)
    assert entry.leased_to
    assert entry.leased_to.display == "bob@local"
    assert entry.leased_at == lease.leased_at


def test_updates_under_a_lost_lease_are_refused(alice, bob):
    task = alice.send("bob", "1")
    lease = receive(bob).lease
    task.cancel()

    with pytest.raises(NotInFlightError):
        bob.post_updates(task.id, [Update.saying("a")], lease_id=lease.id)
