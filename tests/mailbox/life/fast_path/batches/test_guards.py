"""Items that are not plain fall out of a set, and leave the plain items to it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from mailbox.access.agents import registration
from mailbox.access.nonces import Nonce
from mailbox.database.bell import ringing, topics
from mailbox.life import batches, sending
from mailbox.life.fast_path.batches import sends, work
from mailbox.models import AuditEvent, Lease, Result, SigningKey, SpentNonce, Task
from mailbox.words.times import epoch_ms
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def singly(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Leave every item to its single verb from now on."""

    def leave() -> None:
        monkeypatch.setattr(sends, "send_first", lambda *_: (0, {}))
        monkeypatch.setattr(work, "answers", lambda *_, **__: {})
        monkeypatch.setattr(work, "work", lambda *_, **__: None)
        monkeypatch.setattr(sends, "drain", lambda *_, **__: None)

    return leave


def tasks_for(recipient, number=3, **fields):
    return [
        factories.task_envelope(recipient, id=uuid4(), intent_text=f"task {place}", **fields) for place in range(number)
    ]


def answered(leases):
    return [factories.result_envelope(lease.task, lease_id=lease.lease_id) for lease in leases]


def journalled():
    return [(row.kind, row.task_id, row.seq) for row in AuditEvent.objects.order_by("pk")]


def test_tasks_beyond_the_quota_are_refused_and_those_before_it_are_sent(alice, bob, settings, monkeypatch):
    settings.A2A_QUOTA_QUEUED_TO_ONE = 2
    tried = []
    send_first = sends.send_first

    def trying(*given: Any) -> Any:
        tried.append(send_first(*given))
        return tried[-1]

    monkeypatch.setattr(sends, "send_first", trying)

    outcomes = batches.send_tasks(alice, tasks_for(bob, 4))

    assert [task.intent_text for task in outcomes.posted] == ["task 0", "task 1"]
    assert [(one.place, one.error.code) for one in outcomes.refused] == [(2, "quota_exceeded"), (3, "quota_exceeded")]
    assert tried == [(4, {})]
    assert len(factories.journal("a2a_quota_exceeded")) == 2
    assert len(factories.journal("capability_check")) == 2


def test_the_id_of_a_compacted_task_stops_no_other_task(alice, bob):
    first, gone, last = tasks_for(bob)
    sending.send_task(alice, gone)
    Task.objects.all().delete()

    outcomes = batches.send_tasks(alice, [first, gone, last])

    assert [task.uuid for task in outcomes.posted] == [first.id, last.id]
    assert [one.error.code for one in outcomes.refused] == ["task_conflict"]


def test_a_task_for_a_recipient_by_its_key_keeps_its_place_in_the_queue(alice, bob):
    first, second, third = tasks_for(bob)
    by_key = replace(second, recipient=replace(second.recipient, display=None))

    batches.send_tasks(alice, [first, by_key, third])

    leased = [lease.task.uuid for lease in batches.lease_tasks(bob, most=3).leases]
    assert leased == [first.id, second.id, third.id]


def test_a_task_past_its_deadline_is_expired_and_the_others_are_leased(alice, bob):
    soon = epoch_ms(timezone.now()) + 60_000
    sent = batches.send_tasks(alice, [*tasks_for(bob, 2), *tasks_for(bob, 1, deadline_ms=soon), *tasks_for(bob, 1)])
    overdue = sent.posted[2]
    Task.objects.filter(pk=overdue.pk).update(deadline_ms=1)

    leases = batches.lease_tasks(bob, most=4, attempt_id=uuid4()).leases

    assert [lease.task.pk for lease in leases] == [sent.posted[place].pk for place in (0, 1, 3)]
    assert factories.life_of(overdue) == ["a2a_task_sent", "a2a_task_expired"]


def test_a_paused_recipient_answers_and_leases_nothing(alice, bob, olga):
    batches.send_tasks(alice, tasks_for(bob, 4))
    posts = answered(batches.lease_tasks(bob, most=2).leases)
    registration.pause_agent(olga, factories.row_of(bob), reason="maintenance")

    took = batches.lease_tasks(bob, most=4, attempt_id=uuid4(), answers=posts)

    assert (len(took.results.posted), list(took.leases)) == (2, [])


def test_a_lease_past_its_work_timeout_is_expired_and_the_other_results_are_posted(alice, bob):
    batches.send_tasks(alice, tasks_for(bob, 3, work_timeout=timedelta(minutes=1)))
    leases = batches.lease_tasks(bob, most=3).leases
    assert all(lease.times_out_at == lease.leased_at + timedelta(minutes=1) for lease in leases)
    Lease.objects.filter(pk=leases[1].pk).update(times_out_at=timezone.now())

    outcomes = batches.post_results(bob, answered(leases))

    assert [(one.place, one.error.code) for one in outcomes.refused] == [(1, "already_resolved")]
    assert factories.life_of(leases[1].task)[-1] == "a2a_task_expired"


def test_a_result_that_its_sender_reads_by_id_is_never_drained(alice, bob):
    read = tasks_for(bob, 2, reads_result=True)
    batches.send_tasks(alice, [*read, *tasks_for(bob, 1)])
    batches.post_results(bob, answered(batches.lease_tasks(bob, most=3).leases))

    assert Result.objects.filter(delivery="delivered", delivered_at__isnull=False).count() == 2
    assert len(batches.drain_results(alice, most=5).results) == 1


def test_a_task_that_changed_since_it_was_read_goes_to_the_single_verb(alice, bob, monkeypatch):
    batches.send_tasks(alice, tasks_for(bob))
    leases = batches.lease_tasks(bob, most=3).leases
    read = work.answers

    def read_then_cancel(*given, **how):
        found = read(*given, **how)
        sending.cancel(alice, leases[1].task.uuid)
        return found

    monkeypatch.setattr(work, "answers", read_then_cancel)
    outcomes = batches.post_results(bob, answered(leases))

    assert [(one.place, one.error.code) for one in outcomes.refused] == [(1, "already_resolved")]
    assert len(outcomes.posted) == 2


def test_a_grant_with_uses_is_counted_for_each_item(bob):
    carol = factories.agent("carol")
    grant = factories.grant(carol, "a2a.send.bob@local", max_uses=2)

    outcomes = batches.send_tasks(carol, tasks_for(bob))

    assert [one.error.code for one in outcomes.refused] == ["capability_missing"]
    grant.refresh_from_db()
    assert grant.uses == 2


def test_the_first_item_of_a_signed_batch_spends_its_nonce_and_the_others_are_a_set(alice, bob, monkeypatch):
    signed = []
    for agent in (alice, bob):
        key = factories.some_pubkey()
        SigningKey.objects.create(pubkey=key, agent=agent.agent, proven_at=timezone.now())
        signed.append(replace(agent, nonce=Nonce(key, "n1", timezone.now() + timedelta(minutes=1))))
    sets = []
    do_work = work.work

    def working(caller: Any, given: Any, **how: Any) -> Any:
        sets.append(len(given))
        return do_work(caller, given, **how)

    monkeypatch.setattr(work, "work", working)

    assert len(batches.send_tasks(signed[0], tasks_for(bob)).posted) == 3
    leases = batches.lease_tasks(bob, most=3).leases
    assert len(batches.post_results(signed[1], answered(leases)).posted) == 3

    assert sets == [0, 2]
    assert SpentNonce.objects.count() == 2


def test_acknowledging_a_pending_result_delivers_the_others(alice, bob):
    batches.send_tasks(alice, tasks_for(bob))
    posts = answered(batches.lease_tasks(bob, most=3).leases)
    batches.post_results(bob, posts)

    drained = batches.drain_results(alice, most=3, attempt_id=uuid4(), ack=[posts[0].task_id])

    assert [result.task.uuid for result in drained.results] == [post.task_id for post in posts[1:]]
    assert list(drained.acks.acked) == [posts[0].task_id]


def test_a_drain_that_may_deliver_more_expires_what_is_out_of_time(alice, bob):
    late, *_ = batches.send_tasks(alice, tasks_for(bob)).posted
    batches.post_results(bob, answered(batches.lease_tasks(bob, most=3).leases[1:]))
    Lease.objects.filter(task=late.pk).update(times_out_at=timezone.now())

    drained = batches.drain_results(alice, most=5, attempt_id=uuid4()).results

    assert len(drained) == 3
    assert drained[-1].task_id == late.pk


def test_the_bell_rings_once_for_each_thing_that_came(alice, bob, monkeypatch):
    rung: list[str] = []
    monkeypatch.setattr(ringing, "ring", rung.extend)

    sent = batches.send_tasks(alice, tasks_for(bob)).posted
    assert rung == [topics.agent(factories.row_of(bob).pk)] * 3
    leases = batches.lease_tasks(bob, most=3).leases
    rung.clear()
    batches.post_results(bob, answered(leases))

    of_sender = topics.sender(factories.row_of(alice).pk)
    assert sorted(rung) == sorted([of_sender] * 3 + [topics.task(task.uuid) for task in sent])


def test_the_journal_of_a_whole_cycle_is_that_of_single_calls(alice, bob, singly):
    def cycle(first: int) -> list[tuple[str, UUID | None, int | None]]:
        begun = len(journalled())
        envelopes = [replace(one, id=UUID(int=first + place)) for place, one in enumerate(tasks_for(bob, 4))]
        batches.send_tasks(alice, envelopes[:2])
        leases = batches.lease_tasks(bob, most=2).leases
        batches.send_tasks(alice, envelopes[2:])
        batches.lease_tasks(bob, most=2, answers=answered(leases))
        acks = [result.task.uuid for result in batches.drain_results(alice, most=2).results]
        batches.drain_results(alice, most=2, ack=acks)
        return [(kind, task_id and UUID(int=task_id.int - first), seq) for kind, task_id, seq in journalled()[begun:]]

    together = cycle(100)
    batches.post_results(bob, answered(Lease.objects.live().with_task()))
    batches.drain_results(alice, most=5)
    singly()

    assert cycle(200) == together
