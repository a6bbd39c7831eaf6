"""Batches from code in this process: the outcomes of HTTP, as rows and errors."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from mailbox import Mailbox
from mailbox.models import AuditEvent, Lease, Result, Task
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import InvalidRequestError, MailboxError
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)

NOW = timedelta(0)


@pytest.fixture
def box(alice, bob, mallory):
    return Mailbox()


def task(text: str, **fields: Any) -> TaskEnvelope:
    named = {"sender": AgentRef("alice@local"), "recipient": AgentRef("bob@local")}
    return TaskEnvelope(**{**named, "intent_text": text, **fields})


def codes(outcomes: list[Any]) -> list[str | None]:
    return [one.code if isinstance(one, MailboxError) else None for one in outcomes]


def test_each_task_is_sent_as_its_sender_and_has_its_own_outcome(box):
    first, last = uuid4(), uuid4()
    tasks: list[Any] = [
        task("one", id=first),
        task("two", sender=AgentRef("mallory@local")),
        task(" "),
        "no task",
        task("ghost", sender=AgentRef("ghost@local")),
        task("lost", recipient=AgentRef("ghost@local")),
        task("three", id=last),
    ]

    outcomes = box.send_tasks(tasks)

    assert codes(list(outcomes.of_each)) == [
        None,
        None,
        "invalid_request",
        "invalid_request",
        "unknown_agent",
        "unknown_agent",
        None,
    ]
    assert [sent.intent_text for sent in outcomes.posted] == ["one", "two", "three"]
    assert [(refused.place, refused.task_id) for refused in outcomes.refused] == [
        (2, None),
        (3, None),
        (4, None),
        (5, None),
    ]
    assert [sent.sender.display for sent in outcomes.posted] == ["alice@local", "mallory@local", "alice@local"]
    assert {str(event.actor) for event in AuditEvent.objects.filter(kind="a2a_task_sent")} == {
        "alice@local",
        "mallory@local",
    }


def test_the_loop_of_a_worker_is_one_call(box, alice, bob):
    box.send_tasks([task(f"task {number}") for number in range(3)])
    attempt_id = str(uuid4())

    first = box.recv_tasks(2, recipient="bob", timeout=NOW)
    results = [factories.result_envelope(lease.task, lease_id=lease.lease_id) for lease in first.leases]
    second = box.recv_tasks(2, recipient="bob", timeout=NOW, attempt_id=attempt_id, results=results)
    again = box.recv_tasks(2, recipient="bob", timeout=NOW, attempt_id=attempt_id, results=results)

    assert [lease.task.intent_text for lease in first.leases] == ["task 0", "task 1"]
    assert [result.task_id for result in second.results.posted] == [lease.task_id for lease in first.leases]
    assert [lease.task.intent_text for lease in second.leases] == ["task 2"]
    assert (again.leases, list(again.results.posted)) == (second.leases, list(second.results.posted))
    assert (Lease.objects.count(), Result.objects.count()) == (3, 2)


def test_without_a_recipient_the_tasks_of_every_agent_are_leased(box):
    box.send_tasks([task("one"), task("two", recipient=AgentRef("mallory@local"))])

    leases = box.recv_tasks(9, timeout=NOW).leases

    assert [lease.holder.display for lease in leases] == ["bob@local", "mallory@local"]


def test_a_call_without_a_task_posts_its_results_and_ends_at_the_timeout(box, alice, bob):
    lease = factories.leased_task(alice, bob)

    leased = box.recv_tasks(
        1, recipient="bob", timeout=timedelta(milliseconds=30), results=[factories.result_envelope(lease.task)]
    )

    assert (list(leased.leases), len(leased.results.posted)) == ([], 1)


def test_each_result_is_posted_as_its_recipient_and_has_its_own_outcome(box, alice, bob, mallory):
    factories.grant(alice, "a2a.send.*")
    of_bob, of_mallory = factories.leased_task(alice, bob), factories.leased_task(alice, mallory)
    unknown = factories.result_envelope(uuid4())
    envelopes: list[Any] = [
        factories.result_envelope(of_bob.task),
        unknown,
        factories.result_envelope(of_mallory.task),
        7,
    ]

    outcomes = box.send_results(envelopes)

    assert codes(list(outcomes.of_each)) == [None, "unknown_task", None, "invalid_request"]
    assert list(AuditEvent.objects.filter(kind="a2a_result_posted").order_by("pk").values_list("actor", flat=True)) == [
        "bob@local",
        "mallory@local",
    ]
    assert [refused.task_id for refused in outcomes.refused] == [unknown.task_id, None]


def test_results_are_drained_and_acknowledged_together(box, alice, bob):
    for _ in range(3):
        factories.resolved_task(alice, bob)

    first = box.recv_results(2, peer="alice", timeout=NOW)
    ids = [result.task.uuid for result in first.results]
    rest = box.recv_results(2, timeout=NOW, ack=[ids[0], str(ids[1]), uuid4()])

    assert (len(first.results), len(rest.results), len(rest.acks.unknown)) == (2, 1, 1)
    assert rest.acks.acked == ids
    assert Result.objects.filter(delivery=Result.Delivery.ACKED).count() == 2


@pytest.mark.parametrize(
    ("name", "arguments", "path"),
    [
        ("send_tasks", {"tasks": []}, "tasks"),
        ("send_results", {"results": []}, "results"),
        ("send_tasks", {"tasks": [task("x")] * 501}, "tasks"),
        ("recv_tasks", {"most": 0}, "most"),
        ("recv_tasks", {"most": 101}, "most"),
        ("recv_tasks", {"most": "1"}, "most"),
        ("recv_tasks", {"most": 1, "attempt_id": "x"}, "attempt_id"),
        ("recv_tasks", {"most": 1, "timeout": 5}, "timeout"),
        ("recv_tasks", {"most": 1, "results": ["x"]}, "results.0"),
        ("recv_results", {"most": 101}, "most"),
        ("recv_results", {"most": 1, "ack": ["x"]}, "ack.0"),
    ],
    ids=range(11),
)
def test_bad_arguments_are_refused_by_their_name(box, name, arguments, path):
    with pytest.raises(InvalidRequestError) as refused:
        getattr(box, name)(**arguments)

    assert list(refused.value.fields) == [path]
    assert not Task.objects.exists()
