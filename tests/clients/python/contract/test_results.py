from itertools import islice
from uuid import uuid4

import pytest

from a2a_hub_client import Answer
from a2a_hub_client.errors import AttemptSpentError
from a2a_hub_client.refusals import UnknownTaskError


@pytest.fixture
def answered(alice, bob):
    """Answer five tasks of alice; return their ids in the order of the answers."""
    tasks = [alice.send("bob", f"task {number}").id for number in range(5)]
    leases = bob.receive(most=5).leases
    bob.post_results([Answer(task_id=one.task.id, lease_id=one.lease.id, content=one.task.text) for one in leases])
    return tasks


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_each_result_comes_once(alice, answered, batch):
    assert [result.task_id for result in alice.results(wait=0, batch=batch)] == answered
    assert list(alice.results(wait=0)) == []


@pytest.mark.parametrize("batch", [1, 3])
def test_a_consumer_that_crashes_loses_nothing(alice, hub_of, answered, batch):
    results = alice.results(wait=0, batch=batch)
    seen = [result.task_id for result in islice(results, 2)]
    results.close()  # the consumer died while it worked on the second result

    resumed = [result.task_id for result in hub_of("alice").results(wait=0)]

    assert seen == answered[:2]
    assert resumed[: 5 - len(answered)] == []
    assert sorted(resumed, key=answered.index) == (answered[1:] if batch == 1 else answered)


def test_a_consumer_that_crashes_again_loses_nothing(alice, hub_of, answered):
    for consumer in (alice, hub_of("alice")):
        results = consumer.results(wait=0)
        assert next(results).task_id == answered[0]
        results.close()  # the consumer died while it worked on the result

    assert [result.task_id for result in hub_of("alice").results(wait=0)] == answered


def test_a_result_is_acknowledged_when_the_next_is_taken(alice, answered):
    results = alice.results(wait=0)

    next(results)
    assert [result.task_id for result in alice.delivered_results()] == answered[:1]
    next(results)
    assert [result.task_id for result in alice.delivered_results()] == answered[1:2]


def test_a_second_consumer_leaves_the_results_of_the_first_alone(alice, answered):
    first = alice.results(wait=0)
    next(first)

    assert [result.task_id for result in alice.results(wait=0, resume=False)] == answered[1:]


def test_the_results_of_an_attempt_come_again_until_they_are_acknowledged(alice, answered):
    attempt = uuid4()

    first = alice.drain(most=2, attempt_id=attempt)
    again = alice.drain(most=2, attempt_id=attempt)
    acked = alice.ack([result.task_id for result in first.results])

    assert [result.task_id for result in first.results] == answered[:2]
    assert again.results == first.results
    assert set(acked.task_ids) == set(answered[:2])
    with pytest.raises(AttemptSpentError):
        alice.drain(most=2, attempt_id=attempt, wait=0)


def test_a_drain_acknowledges_the_results_before(alice, answered):
    first = alice.drain(most=3)

    rest = alice.drain(most=3, ack=[result.task_id for result in first.results])

    assert set(rest.acked) == set(answered[:3])
    assert [result.task_id for result in rest.results] == answered[3:]


def test_pending_results_are_listed_without_being_drained(alice, answered):
    assert {result.task_id for result in alice.pending_results()} == set(answered)
    assert len(list(alice.results(wait=0))) == 5


def test_only_results_of_the_caller_are_acknowledged(alice, hub_of, answered):
    unknown = uuid4()

    assert alice.ack([answered[0], unknown]).unknown == [unknown]
    with pytest.raises(UnknownTaskError):
        hub_of("anna").ack(answered)
    assert list(hub_of("anna").results(wait=0)) == []
