import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection

import mailbox
from mailbox import Mailbox
from mailbox.database import waiting
from mailbox.database.bell.waiters import Waiter
from mailbox.models import AuditEvent, Result, Task
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import UnknownAgentError, UnknownTaskError, WaitTimeoutError
from tests.support import factories
from tests.support.pauses import Clock, act_in_pauses, until_it_waits

SHORT = timedelta(milliseconds=50)
LONG = timedelta(hours=1)


def task(**fields):
    named = {"sender": AgentRef("alice@local"), "recipient": AgentRef("mallory@local"), "intent_text": "x"}
    return TaskEnvelope(**{**named, **fields})


@pytest.fixture
def box(alice, mallory):
    """A mailbox with a sender and a recipient without grants, which code in this process does not need."""
    return Mailbox()


def test_the_package_exports_only_mailbox():
    assert mailbox.__all__ == ["Mailbox"]
    with pytest.raises(AttributeError):
        mailbox.Postbox  # noqa: B018


@pytest.mark.django_db
def test_a_task_reaches_its_recipient_and_its_result_the_sender(box):
    sent = box.send_task(task())
    lease = box.recv_task(timeout=SHORT)
    posted = box.send_result(factories.result_envelope(lease.task, lease_id=lease.lease_id))
    received = box.recv_result(timeout=SHORT)

    assert lease.task == sent
    assert received == posted
    assert factories.life_of(sent) == [
        "a2a_task_sent",
        "a2a_task_leased",
        "a2a_result_posted",
        "a2a_result_delivered",
    ]
    assert AuditEvent.objects.get(kind="a2a_result_posted").actor == lease.holder.display
    assert {event.source for event in AuditEvent.objects.all()} == {"local"}


@pytest.mark.django_db
def test_a_sender_that_is_not_registered_is_unknown(box):
    with pytest.raises(UnknownAgentError):
        box.send_task(task(sender=AgentRef("ghost@local")))


@pytest.mark.django_db
@pytest.mark.parametrize("spelling", ["display", "local", "ref", "row"])
def test_an_agent_receives_under_any_of_its_names(box, mallory, spelling):
    sent = box.send_task(task())
    name = {"display": "mallory@local", "local": "mallory", "ref": factories.ref(mallory), "row": mallory.agent}

    lease = box.try_recv_task_for(name[spelling])

    assert (lease.task, lease.holder) == (sent, mallory.agent)


@pytest.mark.django_db
def test_the_try_methods_return_none_when_nothing_waits(box, bob):
    box.send_task(task())

    assert box.try_recv_task_for("bob") is None
    assert box.try_recv_result_for("alice") is None
    assert box.try_recv_task_for("mallory") is not None
    assert box.try_recv_task_for("mallory") is None


@pytest.mark.django_db
def test_results_are_received_by_the_peer_that_sent_the_task(box, bob):
    sent = box.send_task(task())
    box.send_result(factories.result_envelope(sent))

    assert box.try_recv_result_for("bob") is None
    assert box.try_recv_result_for("mallory") is None
    assert box.try_recv_result_for("alice").task == sent


@pytest.mark.django_db
def test_recent_tasks_and_results_are_listed_oldest_first_and_stay(box):
    sent = [box.send_task(task()) for _ in range(3)]
    posted = [box.send_result(factories.result_envelope(one)) for one in sent[:2]]

    assert box.recent_tasks(10) == sent[2:]
    assert box.recent_results(1) == posted[:1]
    assert box.recent_results(10) == posted
    assert Result.objects.pending().count() == 2


@pytest.mark.django_db
def test_delivered_results_are_listed_for_their_sender_alone(box):
    sent = [box.send_task(task()) for _ in range(3)]
    posted = [box.send_result(factories.result_envelope(one)) for one in sent]
    for _ in range(2):
        box.try_recv_result_for("alice")

    assert box.delivered_results_for("alice", 10) == posted[:2]
    assert box.delivered_results_for("alice", 1) == posted[:1]
    assert box.delivered_results_for("mallory", 10) == []


@pytest.mark.django_db
def test_the_task_queue_lists_queued_tasks_before_leased_tasks(box):
    first, second = box.send_task(task()), box.send_task(task())
    box.try_recv_task_for("mallory")

    assert [(entry.task, entry.lease is None) for entry in box.task_queue(10)] == [(second, True), (first, False)]


@pytest.mark.django_db
def test_both_repairs_are_available(box):
    sent = box.send_task(task())
    box.recv_task(timeout=SHORT)

    box.repair_task(sent.uuid, action="requeue", reason="r", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)
    assert Task.objects.get().state == Task.State.QUEUED
    box.recv_task(timeout=SHORT)
    box.repair_task(sent.uuid, action="force_error", reason="r", message="gave up")

    assert Result.objects.get().error_message == "gave up"
    assert factories.life_of(sent)[-1] == "a2a_repair_applied"


@pytest.mark.django_db
def test_a_result_for_an_unknown_task_is_rejected(box):
    with pytest.raises(UnknownTaskError):
        box.send_result(factories.result_envelope(uuid4()))


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["recv_task", "recv_result"])
@pytest.mark.parametrize("timeout", [timedelta(0), SHORT])
def test_waiting_without_result_raises_after_the_timeout(box, monkeypatch, method, timeout):
    waits = []
    monkeypatch.setattr(waiting, "time", Clock())
    monkeypatch.setattr(Waiter, "wait", lambda _, seconds: waits.append(seconds))

    with pytest.raises(WaitTimeoutError):
        getattr(box, method)(timeout=timeout)

    assert waits == pytest.approx([timeout.total_seconds()] if timeout else [])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("timeout", [LONG, None], ids=["with a timeout", "for ever"])
def test_a_waiting_receiver_wakes_when_a_task_is_sent(box, timeout):
    received, waiter = waiting_in_thread(lambda: box.recv_task(timeout=timeout))

    sent = box.send_task(task())
    waiter.join()

    assert [lease.task for lease in received] == [sent]


@pytest.mark.django_db(transaction=True)
def test_a_waiting_sender_wakes_when_a_result_is_posted(box):
    sent = box.send_task(task())
    received, waiter = waiting_in_thread(lambda: box.recv_result(timeout=LONG))

    box.send_result(factories.result_envelope(sent))
    waiter.join()

    assert [result.task for result in received] == [sent]


@pytest.mark.django_db(transaction=True)
def test_a_waiting_receiver_holds_no_connection(box, monkeypatch):
    states = []

    act_in_pauses(monkeypatch, *[lambda: states.append(connection.connection)] * 2)

    with pytest.raises(WaitTimeoutError):
        box.recv_task(timeout=LONG)

    assert states == [None, None]


def waiting_in_thread(work):
    """Start ``work`` in a thread that waits; return the list that gets its return value, and the thread."""
    returned = []

    def run():
        try:
            returned.append(work())
        finally:
            connection.close()

    thread = threading.Thread(target=run, daemon=True)
    until_it_waits(thread)
    return returned, thread
