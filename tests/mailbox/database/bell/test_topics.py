"""Every kind of journal row rings the right waiters, by the whole form and by the fast form."""

from uuid import uuid4

import pytest

from mailbox.database.bell import ringing, topics
from mailbox.life import leasing, results, sending
from mailbox.life.fast_path import plain
from mailbox.words.kinds import Kind, LifeEntry
from tests.support import factories


def test_each_row_of_a_task_rings_but_for_the_receipt_of_its_result():
    silent = {row.row_kind for row in LifeEntry.__subclasses__() if not topics.RINGS[row.row_kind]}

    assert silent == {Kind.RESULT_DELIVERED, Kind.RESULT_ACKED}


def test_of_the_other_rows_three_kinds_ring():
    of_tasks = {row.row_kind for row in LifeEntry.__subclasses__()}

    assert {kind for kind in Kind if topics.RINGS[kind]} - of_tasks == {
        Kind.PUSH_CONFIG_SET,
        Kind.PUSH_RESENT,
        Kind.AGENT_RESUMED,
    }


@pytest.mark.one_database
def test_topics_name_what_they_are_of():
    task = uuid4()
    named = [topics.agent(1), topics.agent(None), topics.sender(2), topics.sender(None), topics.task(task)]

    assert topics.agents_among(named) == [1]
    assert topics.senders_among(named) == [2]
    assert topics.tasks_among(named) == [task]
    assert [topics.any_of(one) for one in named] == ["agent *", "agent *", "sender *", "sender *", None]
    assert [topics.may_run_out(one) for one in named] == [False, False, True, False, True]


@pytest.mark.django_db
def test_a_task_that_returns_to_the_queue_rings_its_recipient_and_its_readers(alice, bob, monkeypatch):
    task = factories.leased_task(alice, bob).task
    rung: list[str] = []
    monkeypatch.setattr(ringing, "ring", rung.extend)

    leasing.release(bob, task.uuid, reason="again")

    assert sorted(rung) == [topics.agent(bob.agent.pk), topics.task(task.uuid)]


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["fast form", "whole form"])
def test_both_forms_of_the_hot_verbs_ring_the_same(alice, bob, form, monkeypatch):
    if form == "whole form":
        for name in ("send_task", "lease_task", "post_result", "drain_result"):
            monkeypatch.setattr(plain, name, lambda *_: None)
    factories.grant(alice, "a2a.send.*")
    factories.grant(bob, "a2a.respond.*")
    rung = []
    note = lambda found: rung.append(sorted(found))  # noqa: E731
    monkeypatch.setattr(ringing, "ring", note)

    task = sending.send_task(alice, factories.task_envelope(bob))
    (lease,) = leasing.lease_tasks(bob)
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    results.drain_results(alice)

    of_task = topics.task(task.uuid)
    assert rung == [
        [topics.agent(bob.agent.pk)],
        [of_task],
        [topics.sender(alice.agent.pk), of_task],
        *([[]] if form == "whole form" else []),
    ]
