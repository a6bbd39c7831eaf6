"""A send and a result can be repeated through every door, also after their task was compacted."""

from contextlib import suppress
from http import HTTPStatus
from uuid import UUID, uuid4

import pytest

from mailbox.access.callers import Caller
from mailbox.life import results
from mailbox.models import Task
from mailbox.upkeep import compaction
from tests.mailbox.dialects.conformance.registry import doors_that
from tests.support import factories
from tests.support.doors import Act, Door, HubDoor, Refused

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("default_agent")]

INTENT = "Count the words\n\t“naïve” 🐦 "
ANSWER = "six words"


def compact(sender: Caller, task_id: UUID) -> None:
    results.ack_results(sender, [task_id])
    assert compaction.compact(Caller.command_line(), factories.AT_ONCE) == 1


@doors_that(Act.REPEAT, Act.REMEMBER)
def test_a_send_is_answered_again_after_its_task_was_compacted(door, alice, bob):
    sender, name = door(alice), uuid4()
    task_id = sender.send(INTENT, name=name)
    HubDoor(bob).lease()
    HubDoor(bob).answer(task_id, ANSWER)
    compact(alice, task_id)
    rows = factories.journal_length()

    assert sender.send(INTENT, name=name) == task_id
    with pytest.raises(Refused) as refusal:
        sender.send("something else", name=name)

    assert refusal.value.status == getattr(door, "conflict", HTTPStatus.CONFLICT)
    assert not Task.objects.exists()
    assert factories.journal_length() == rows


@doors_that(Act.REPEAT)
def test_a_repeat_makes_no_second_task_after_the_first_was_compacted(door, alice, bob):
    sender, name = door(alice), uuid4()
    task_id = sender.send(INTENT, name=name)
    HubDoor(bob).lease()
    HubDoor(bob).answer(task_id, ANSWER)
    compact(alice, task_id)

    with suppress(Refused):
        assert sender.send(INTENT, name=name) == task_id

    assert not Task.objects.exists()


def repeated(worker: Door, task_id: UUID) -> int | None:
    """Post the same result again; return the status of the refusal, None without one."""
    try:
        worker.answer(task_id, ANSWER)
    except Refused as refusal:
        return refusal.status
    return None


@doors_that(Act.ANSWER)
def test_a_result_is_answered_again_as_before_after_its_task_was_compacted(door, alice, bob):
    task = factories.leased_task(alice, bob).task
    worker = door(bob)
    worker.answer(task.uuid, ANSWER)
    before = repeated(worker, task.uuid)
    compact(alice, task.uuid)

    assert repeated(worker, task.uuid) == before
    assert not Task.objects.exists()
