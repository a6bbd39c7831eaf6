"""Batches: each item has its own outcome, and a repeated batch answers the same."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from mailbox.access.callers import Caller, Role
from mailbox.life import batches, leasing, results
from mailbox.models import CapabilityGrant, Lease, Result, Task
from mailbox.words import tokens
from mailbox.words.envelopes import AgentRef, ResultEnvelope, TaskEnvelope
from mailbox.words.errors import InvalidRequestError, UnauthenticatedError, WrongPartyError
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = timedelta(0)


def codes(outcomes: batches.Outcomes[Task] | batches.Outcomes[Result]) -> list[tuple[int, str]]:
    return [(refused.place, refused.error.code) for refused in outcomes.refused]


def tasks_for(recipient: Caller, number: int = 3) -> list[TaskEnvelope]:
    return [factories.task_envelope(recipient, id=uuid4(), intent_text=f"task {place}") for place in range(number)]


def leased(alice: Caller, bob: Caller, number: int = 3) -> list[Lease]:
    batches.send_tasks(alice, tasks_for(bob, number))
    return list(batches.lease_tasks(bob, most=number).leases)


def answers_to(leases: list[Lease]) -> list[ResultEnvelope]:
    return [factories.result_envelope(lease.task, lease_id=lease.lease_id) for lease in leases]


def test_a_refused_task_keeps_no_other_task_from_being_sent(alice, bob):
    first, blank, stranger, last = tasks_for(bob, 4)
    blank, stranger = replace(blank, intent_text=" "), replace(stranger, recipient=AgentRef("nobody@local"))

    outcomes = batches.send_tasks(alice, [first, blank, stranger, last])

    assert [task.uuid for task in outcomes.posted] == [first.id, last.id]
    assert [(refused.place, refused.task_id, refused.error.code) for refused in outcomes.refused] == [
        (1, blank.id, "invalid_request"),
        (2, stranger.id, "unknown_agent"),
    ]
    assert [task.intent_text for task in Task.objects.order_by("pk")] == ["task 0", "task 3"]
    assert [event.task_id for event in factories.journal("a2a_task_sent")] == [first.id, last.id]


def test_a_refused_send_is_journalled_as_the_single_send_is(bob):
    carol = factories.agent("carol")

    outcomes = batches.send_tasks(carol, tasks_for(bob, 2))

    assert codes(outcomes) == [(0, "capability_missing"), (1, "capability_missing")]
    checks = factories.journal("capability_check")
    assert [check.fields["authorized_by"] for check in checks] == [[], []]


def test_a_repeated_batch_sends_no_task_twice(alice, bob):
    envelopes = tasks_for(bob)
    first = batches.send_tasks(alice, envelopes)
    rows = factories.journal_length()

    again = batches.send_tasks(alice, [*envelopes, *tasks_for(bob, 1)])

    assert [task.pk for task in again.posted[:3]] == [task.pk for task in first.posted]
    assert [task.was_sent_before for task in [*first.posted, *again.posted]] == [*[False] * 3, *[True] * 3, False]
    assert factories.journal_length() == rows + 2


def test_a_task_that_is_in_the_batch_twice_is_sent_once(alice, bob):
    (one,) = tasks_for(bob, 1)

    outcomes = batches.send_tasks(alice, [one, one, replace(one, intent_text="another")])

    assert [task.uuid for task in outcomes.posted] == [one.id, one.id]
    assert codes(outcomes) == [(2, "task_conflict")]
    assert Task.objects.count() == 1


@pytest.mark.parametrize("number", [0, batches.MOST_SENT + 1])
def test_a_batch_has_bounds(alice, bob, number):
    (one,) = tasks_for(bob, 1)
    with pytest.raises(InvalidRequestError, match="must be 1 to 500 tasks"):
        batches.send_tasks(alice, [one] * number)


def test_people_send_no_batch(bob):
    olga = factories.person("ola", Role.ADMIN)

    with pytest.raises(WrongPartyError):
        batches.send_tasks(olga, tasks_for(bob, 1))


def test_each_result_has_its_own_outcome(alice, bob):
    first, second, third = answers_to(leased(alice, bob))
    stale, unknown = replace(second, lease_id=uuid4()), replace(third, task_id=uuid4())

    outcomes = batches.post_results(bob, [first, stale, unknown, third])

    assert [result.task.uuid for result in outcomes.posted] == [first.task_id, third.task_id]
    assert codes(outcomes) == [(1, "lease_mismatch"), (2, "unknown_task")]
    assert [event.task_id for event in factories.journal("a2a_result_rejected")] == [second.task_id, unknown.task_id]
    assert list(Lease.objects.live().values_list("task__uuid", flat=True)) == [second.task_id]


def test_repeated_results_change_nothing_and_other_results_are_refused(alice, bob):
    answers = answers_to(leased(alice, bob))
    batches.post_results(bob, answers)
    rows = factories.journal_length()

    again = batches.post_results(bob, answers)

    assert [result.task.uuid for result in again.posted] == [answer.task_id for answer in answers]
    assert factories.journal_length() == rows
    others = [replace(answer, error_message="another") for answer in answers]
    assert codes(batches.post_results(bob, others)) == [(place, "result_conflict") for place in range(3)]


def test_one_call_answers_the_last_batch_and_leases_the_next(alice, bob):
    answers = answers_to(leased(alice, bob))
    sent = batches.send_tasks(alice, tasks_for(bob, 2)).posted

    took = batches.lease_tasks(bob, most=5, attempt_id=uuid4(), answers=answers)

    assert [lease.task.uuid for lease in took.leases] == [task.uuid for task in sent]
    assert [result.task.uuid for result in took.results.posted] == [answer.task_id for answer in answers]
    assert [lease.receive_index for lease in took.leases] == [0, 1]


def test_a_repeat_of_the_whole_call_answers_the_same_and_takes_nothing_more(alice, bob):
    answers, attempt = answers_to(leased(alice, bob)), uuid4()
    batches.send_tasks(alice, tasks_for(bob, 2))
    took = batches.lease_tasks(bob, most=5, attempt_id=attempt, answers=answers)
    batches.send_tasks(alice, tasks_for(bob, 2))
    rows = factories.journal_length()

    again = batches.lease_tasks(bob, most=5, attempt_id=attempt, answers=answers)

    assert again.leases == took.leases
    assert [result.pk for result in again.results.posted] == [result.pk for result in took.results.posted]
    assert not again.is_spent
    assert factories.journal_length() == rows


def test_a_repeat_answers_the_leases_that_have_not_ended_and_then_none(alice, bob):
    attempt = uuid4()
    batches.send_tasks(alice, tasks_for(bob, 4))
    took = batches.lease_tasks(bob, most=2, attempt_id=attempt)
    batches.post_results(bob, answers_to(list(took.leases[:1])))

    assert batches.lease_tasks(bob, most=2, attempt_id=attempt).leases == took.leases[1:]
    leasing.release(bob, took.leases[1].task.uuid, reason="later")
    spent = batches.next_tasks(bob, most=2, attempt_id=attempt, wait=None)

    assert (list(spent.leases), spent.is_spent) == ([], True)
    assert Lease.objects.count() == 2


def test_results_are_posted_before_a_wait_for_tasks(alice, bob):
    answers = answers_to(leased(alice, bob))

    took = batches.next_tasks(bob, most=5, attempt_id=uuid4(), answers=answers, wait=timedelta(milliseconds=50))

    assert [result.task.uuid for result in took.results.posted] == [answer.task_id for answer in answers]
    assert list(took.leases) == []


def test_a_drain_acknowledges_the_last_batch_and_delivers_the_next(alice, bob):
    batches.post_results(bob, answers_to(leased(alice, bob)))
    first = batches.drain_results(alice, most=2, attempt_id=uuid4())
    acked, unknown = [result.task.uuid for result in first.results], uuid4()

    second = batches.drain_results(alice, most=2, attempt_id=uuid4(), ack=[*acked, unknown])

    assert (len(first.results), len(second.results)) == (2, 1)
    assert (list(second.acks.acked), list(second.acks.unknown)) == (acked, [unknown])
    assert Result.objects.filter(delivery=Result.Delivery.ACKED).count() == 2


def test_a_repeated_drain_returns_the_same_results_until_they_are_acknowledged(alice, bob):
    batches.post_results(bob, answers_to(leased(alice, bob)))
    attempt = uuid4()
    first = batches.drain_results(alice, most=2, attempt_id=attempt)

    assert batches.drain_results(alice, most=2, attempt_id=attempt).results == first.results
    results.ack_results(alice, [result.task.uuid for result in first.results])
    spent = batches.next_results(alice, most=2, attempt_id=attempt, wait=None)

    assert (list(spent.results), spent.is_spent) == ([], True)


def test_unknown_acknowledgements_alone_are_reported(alice):
    strangers = [UUID(int=1), UUID(int=2)]

    drained = batches.next_results(alice, most=1, ack=strangers, wait=AT_ONCE)

    assert list(drained.acks.unknown) == strangers


def test_a_caller_by_a_public_route_receives_and_answers_no_batch(alice, bob):
    by_route = replace(bob, sends_only=True)
    for call in (
        lambda: batches.lease_tasks(by_route, most=1),
        lambda: batches.drain_results(by_route, most=1),
        lambda: batches.post_results(by_route, answers_to(leased(alice, bob))),
    ):
        with pytest.raises(WrongPartyError):
            call()


@pytest.mark.parametrize("has_key", [True, False])
@pytest.mark.parametrize("last", ["plain", "whole"])
def test_a_grant_that_is_revoked_within_a_batch_admits_no_later_result(alice, bob, monkeypatch, has_key, last):
    first, second, third = answers_to(leased(alice, bob))
    if has_key:
        credential = tokens.public_id(factories.key_of(bob))
        grants = tuple(CapabilityGrant.objects.filter(subject=bob.agent))
        bob = replace(bob, credential=credential, grants=grants)
    if last == "whole":
        third = replace(third, message=factories.text("bye"))
    post = results.post_result

    def post_and_revoke(*given):
        CapabilityGrant.objects.filter(subject=bob.agent).update(revoked_at=timezone.now())
        return post(*given)

    monkeypatch.setattr(results, "post_result", post_and_revoke)

    outcomes = batches.post_results(bob, [first, replace(second, task_id=uuid4()), third])

    assert codes(outcomes) == [(1, "unknown_task"), (2, "capability_missing")]
    assert [result.task.uuid for result in outcomes.posted] == [first.task_id]


def test_a_revoked_key_takes_no_batch(alice, bob):
    batches.send_tasks(alice, tasks_for(bob, 1))

    with pytest.raises(UnauthenticatedError):
        batches.lease_tasks(replace(bob, credential="revoked1"), most=5)


def test_a_repeated_batch_is_recognised_by_one_query_for_all_of_its_tasks(alice, bob, django_assert_max_num_queries):
    batch = tasks_for(bob, 40)
    sent = batches.send_tasks(alice, batch).of_each
    before = factories.journal_length()

    with django_assert_max_num_queries(15):
        again = batches.send_tasks(alice, batch)

    assert (list(again.of_each), again.refused) == (list(sent), [])
    assert (Task.objects.count(), factories.journal_length()) == (40, before)


def test_a_changed_task_in_a_repeated_batch_is_a_conflict_in_its_place(alice, bob, mallory):
    factories.grant(mallory, "a2a.send.*")
    batch = tasks_for(bob, 5)
    batches.send_tasks(alice, batch)
    batch[1] = replace(batch[1], intent_text="other")
    batch[2] = replace(batch[2], recipient=factories.ref(mallory))
    batch[4] = replace(batch[4], intent_text=" ")

    assert codes(batches.send_tasks(alice, batch)) == [
        (1, "task_conflict"),
        (2, "task_conflict"),
        (4, "invalid_request"),
    ]
    assert codes(batches.send_tasks(mallory, batch[:2])) == [(0, "task_conflict"), (1, "task_conflict")]


def test_a_repeat_of_a_task_out_of_time_expires_it_as_the_single_send_does(alice, bob):
    batch = [replace(task, deadline_ms=1) for task in tasks_for(bob, 3)]

    batches.send_tasks(alice, batch)
    again = batches.send_tasks(alice, batch)

    assert [(task.outcome, task.was_sent_before) for task in again.posted] == [("expired", True)] * 3
