"""Sending, leasing, answering and draining mean the same through every door."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from uuid import uuid4

import pytest
import time_machine

from mailbox.life import leasing, sending
from mailbox.models import Lease, Result, Task
from mailbox.upkeep import compaction
from mailbox.words.times import epoch_ms
from tests.mailbox.dialects.conformance.registry import DOORS, doors_that, http_doors_that
from tests.support import factories
from tests.support.doors import PROJECT, Act, HubDoor, Refused, Seen, fields_read_by, with_value
from tests.support.queries import no_query_after

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]

INTENT = "Count the words\n\t“naïve” 🐦 "
ANSWER = "six words"
NOW = datetime(2035, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@doors_that(Act.SEND)
def test_an_acknowledged_task_is_stored_once_and_journalled(door, alice, bob):
    task_id = door(alice).send(INTENT)

    task = Task.objects.with_parties().get()
    assert (task.uuid, task.state, task.dialect) == (task_id, "queued", door.dialect)
    assert (task.sender, task.recipient) == (alice.agent, bob.agent)
    assert task.intent_text == INTENT
    assert factories.life_of(task) == ["a2a_task_sent"]
    checks = [event.fields["agent_id"] for event in factories.journal("capability_check")]
    assert checks.count("a2a-send:bob@local") == 1


@doors_that(Act.SEND)
def test_two_sends_without_a_name_are_two_tasks(door, alice):
    sender = door(alice)

    assert sender.send(INTENT) != sender.send(INTENT)
    assert Task.objects.count() == 2


@doors_that(Act.REPEAT)
def test_a_repeated_send_makes_no_second_task(door, alice):
    sender, name = door(alice), uuid4()

    first, second = sender.send(INTENT, name=name), sender.send(INTENT, name=name)

    assert first == second
    assert factories.life_of(Task.objects.get()) == ["a2a_task_sent"]


@doors_that(Act.SEND)
def test_a_send_is_answered_without_a_query_after_its_commit(door, alice, monkeypatch):
    monkeypatch.setattr(compaction, "cap_sent", lambda *_, **__: 0)  # tasks/send answers also if its drop fails
    sender = door(alice)

    with no_query_after(sending, "send_task"):
        sender.send(INTENT)


@doors_that(Act.REPEAT)
def test_a_repeated_send_of_finished_work_is_answered_from_its_one_read(door, alice, bob):
    sender, name = door(alice), uuid4()
    task_id = sender.send(INTENT, name=name)
    worker = HubDoor(bob)
    worker.lease()
    worker.answer(task_id, ANSWER)

    with no_query_after(sending, "send_task"):
        assert sender.send(INTENT, name=name) == task_id


@doors_that(Act.REPEAT)
def test_another_task_under_a_used_name_is_refused(door, alice):
    sender, name = door(alice), uuid4()
    sender.send(INTENT, name=name)

    with pytest.raises(Refused) as refusal:
        sender.send("something else", name=name)

    assert refusal.value.status == getattr(door, "conflict", HTTPStatus.CONFLICT)
    assert Task.objects.get().intent_text == INTENT


@doors_that(Act.LEASE)
def test_a_recipient_leases_its_tasks_oldest_first(door, alice, bob):
    ids = [factories.sent_task(alice, bob).uuid for _ in range(2)]
    factories.sent_task(alice, factories.agent("carol"))
    recipient = door(bob)

    assert [recipient.lease(), recipient.lease(), recipient.lease()] == [*ids, None]
    assert {lease.holder for lease in Lease.objects.all()} == {bob.agent}
    assert factories.life_of(Task.objects.get(uuid=ids[0])) == ["a2a_task_sent", "a2a_task_leased"]


@doors_that(Act.LEASE)
def test_a_task_past_its_deadline_is_expired_and_not_leased(door, alice, bob):
    with time_machine.travel(NOW, tick=False) as clock:
        task = factories.sent_task(alice, bob, deadline_ms=epoch_ms(NOW + MINUTE))
        recipient = door(bob)
        clock.shift(MINUTE)

        assert recipient.lease() is None
        assert HubDoor(alice).read(task.uuid) == Seen("failed", "deadline exceeded")

    assert not Lease.objects.exists()
    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_expired"]


@doors_that(Act.ANSWER)
def test_an_answer_resolves_the_task_and_is_journalled(door, alice, bob):
    task = factories.leased_task(alice, bob).task

    door(bob).answer(task.uuid, ANSWER)

    result = Result.objects.get()
    assert (result.task, result.status, result.delivery) == (task, "ok", "pending")
    assert Lease.objects.get().end == "result"
    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_leased", "a2a_result_posted"]


@doors_that(Act.ANSWER)
def test_the_same_result_again_changes_nothing_and_another_is_a_conflict(door, alice, bob):
    task = factories.leased_task(alice, bob).task
    worker = door(bob)
    worker.answer(task.uuid, ANSWER)
    life = factories.life_of(task)

    with suppress(Refused):
        worker.answer(task.uuid, ANSWER)
    with pytest.raises(Refused) as refusal:
        worker.answer(task.uuid, "seven words")

    assert refusal.value.status in (404, 409)
    assert ANSWER in Result.objects.get().content
    assert factories.life_of(task) == life


@doors_that(Act.DRAIN)
def test_a_result_is_drained_once_by_the_sender_alone(door, alice, bob, mallory):
    task = factories.leased_task(alice, bob).task
    HubDoor(bob).answer(task.uuid, ANSWER)

    strangers = [door(mallory).drain(), door(bob).drain()]
    sender = door(alice)

    assert strangers == [None, None]
    assert [sender.drain(), sender.drain()] == [(task.uuid, ANSWER), None]
    assert factories.life_of(task)[-1] == "a2a_result_delivered"


@doors_that(Act.SEND)
def test_a_result_waits_for_a_drain_unless_its_dialect_reads_it_by_its_task(door, alice, bob):
    task_id = door(alice).send(INTENT)
    worker = HubDoor(bob)
    worker.lease()
    worker.answer(task_id, ANSWER)

    assert HubDoor(alice).drain() == (None if Act.COLLECT in door.does else (task_id, ANSWER))
    assert Result.objects.get().delivery == "delivered"


@doors_that(Act.SEND)
def test_a_task_is_repaired_answered_and_goes_home(door, alice, bob, operator):
    sender, worker = door(alice), door(bob)

    task_id = sender.send(INTENT)
    [queued] = operator.get("/a2a/queue").json()["tasks"]
    first = worker.lease()
    lost = Lease.objects.get()
    repair = {"action": "requeue", "duplicate_risk": "operator_accepted", "lease_id": str(lost.lease_id)}
    repaired = operator.post("/a2a/repair", {"task_id": str(task_id), "command": repair, "reason": "its worker died"})
    second = worker.lease()
    worker.answer(task_id, ANSWER)

    assert (queued["task"]["id"], queued["state"]) == (str(task_id), "queued")
    assert queued["task"]["intent_text"] == INTENT
    assert queued["task"]["sender"]["display"] == "alice@local"
    assert repaired.status_code == 200
    assert first == second == task_id
    assert [lease.attempt for lease in Lease.objects.order_by("pk")] == [1, 2]
    assert sender.read(task_id) == Seen("done", ANSWER)
    events = operator.get(f"/a2a/tasks/{task_id}/timeline").json()["events"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [event["kind"] for event in events] == [
        *("a2a_task_sent", "a2a_task_leased", "a2a_repair_applied", "a2a_task_leased", "a2a_result_posted")
    ]


def test_tasks_of_all_dialects_wait_in_one_queue(alice, bob, operator, settings):
    (settings.ROOT_URLCONF,) = {door.urlconf for door in DOORS} - {PROJECT}  # which serves the others too
    senders = [door(alice) for door in DOORS if Act.SEND in door.does]
    worker = HubDoor(bob)

    ids = [sender.send(INTENT) for sender in senders]
    line = [entry["task"]["id"] for entry in operator.get("/a2a/queue", limit=100).json()["tasks"]]
    for number, task_id in enumerate(ids):
        assert worker.lease() == task_id
        worker.answer(task_id, f"{ANSWER} {number}")

    assert line == list(map(str, ids))
    shown = [sender.read(task_id) for sender, task_id in zip(senders, ids, strict=True)]
    assert shown == [Seen("done", f"{ANSWER} {number}") for number in range(len(ids))]
    assert {row.dialect for row in Task.objects.all()} == {door.dialect for door in DOORS}


@doors_that(Act.READ)
def test_a_forced_error_reads_as_a_failure(door, alice, bob, operator):
    lease = factories.leased_task(alice, bob, **fields_read_by(door))
    task_id = lease.task.uuid
    sender = door(alice)
    before = sender.read(task_id)

    command = {"action": "force_error", "message": "given up", "lease_id": str(lease.lease_id)}
    forced = operator.post("/a2a/repair", {"task_id": str(task_id), "command": command, "reason": "it never ends"})

    assert forced.status_code == 200
    assert before.state == "open"
    assert sender.read(task_id) == Seen("failed", "given up")


@doors_that(Act.READ)
def test_a_cancelled_task_reads_as_failed_with_the_reason(door, alice, bob):
    task = factories.sent_task(alice, bob, **fields_read_by(door))
    sending.cancel(alice, task.uuid, reason="changed my mind")

    assert door(alice).read(task.uuid) == Seen("failed", "cancelled by the sender: changed my mind")


@pytest.mark.usefixtures("default_agent")
@http_doors_that(Act.TIMEOUT)
def test_a_send_can_set_a_work_timeout(door, alice, bob):
    with_value(door(alice), door.timeout, 1500).send(INTENT)

    [lease] = leasing.lease_tasks(bob)
    assert lease.task.work_timeout == timedelta(milliseconds=1500)
    assert "work_timeout_ms" not in lease.task.metadata


@doors_that(Act.READ)
@pytest.mark.parametrize("is_leased", [False, True], ids=["past its deadline", "past its work timeout"])
def test_a_task_whose_time_is_up_reads_as_failed_at_first_sight(door, is_leased, alice, bob):
    fields = fields_read_by(door)
    with time_machine.travel(NOW, tick=False) as clock:
        if is_leased:
            task = factories.leased_task(alice, bob, work_timeout=MINUTE, **fields).task
        else:
            task = factories.sent_task(alice, bob, deadline_ms=epoch_ms(NOW + MINUTE), **fields)
        sender = door(alice)
        clock.shift(MINUTE)

        seen = sender.read(task.uuid)

    assert seen == Seen("failed", "Task timed out" if is_leased else "deadline exceeded")
    assert Task.objects.get(pk=task.pk).outcome == "expired"
    assert [lease.end for lease in Lease.objects.all()] == ["expired"] * is_leased
    assert factories.life_of(task)[-1] == "a2a_task_expired"
