"""Messages of a task's sender."""

from dataclasses import replace
from uuid import uuid4

import pytest

from mailbox.access.limits import quotas
from mailbox.life import conversation, leasing, results, sending, updates
from mailbox.models import CapabilityGrant, Message, SenderStock, Task
from mailbox.words.conversation import Update, UpdateStatus, Words
from mailbox.words.errors import (
    AlreadyResolvedError,
    CapabilityMissingError,
    InvalidRequestError,
    NotAskableError,
    QuotaExceededError,
    TaskTooLargeError,
    UnknownTaskError,
)
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.factories import text

pytestmark = pytest.mark.django_db

MORE = Words(
    content=[*text("the first"), {"type": "json", "value": {"page": 1}}],
    message_id="m-2",
    metadata={"tone": "kind"},
    extensions=["urn:x"],
    reference_task_ids=["t-1"],
)


def test_an_answer_queues_an_interrupted_task_again_at_the_back(alice, bob):
    task = factories.interrupted_task(alice, bob)
    other = factories.sent_task(alice, bob)

    sent = conversation.say(alice, task.uuid, MORE)

    row = Task.objects.get(pk=task.pk)
    assert (sent.turn, row.turn, row.state, row.awaits) == (2, 2, "queued", None)
    assert row.queued_at == row.status_at == sent.message.said_at
    assert (sent.message.role, sent.message.blocks, sent.message.message_id) == ("user", MORE.content, "m-2")
    assert sent.message.details == {
        "metadata": {"tone": "kind"},
        "extensions": ["urn:x"],
        "reference_task_ids": ["t-1"],
    }
    assert factories.last_event().fields == {"turn": 2, "message_id": "m-2", "answers": "input"}
    assert [lease.task for lease in leasing.lease_tasks(bob, limit=5)] == [other, task]
    assert factories.life_of(task)[2:] == [Kind.TASK_ASKED, Kind.MESSAGE_SENT, Kind.TASK_LEASED]


def test_a_duplicate_takes_no_message_while_it_waits_for_its_leader(alice, bob):
    same = factories.idempotent("count")
    leader, waiter = (factories.sent_task(alice, bob, idempotency=same) for _ in range(2))

    with pytest.raises(NotAskableError, match="waits for another task's result"):
        conversation.say(alice, waiter.uuid, MORE)

    assert not Message.objects.filter(task=waiter).exists()
    assert factories.life_of(waiter) == [Kind.TASK_SENT]
    sending.cancel(alice, leader.uuid)
    assert conversation.say(alice, waiter.uuid, MORE).turn == 2


@pytest.mark.parametrize("state", ["queued", "in_flight"])
def test_a_message_changes_no_other_state(alice, bob, state):
    task = factories.sent_task(alice, bob) if state == "queued" else factories.leased_task(alice, bob).task
    before = Task.objects.get()

    sent = conversation.say(alice, task.uuid, MORE)

    row = Task.objects.get()
    assert (row.state, row.turn, row.queued_at) == (state, 2, before.queued_at)
    assert row.status_at == sent.message.said_at
    assert factories.last_event().fields == {"turn": 2, "message_id": "m-2"}
    assert conversation.say(alice, task.uuid, MORE).turn == 3
    if state == "in_flight":
        assert updates.post_updates(bob, task.uuid, [Update(progress=0.5)]).turn == 3
        assert leasing.heartbeat(bob, task.uuid).task.turn == 3


def test_a_repeated_attempt_sends_one_message_and_counts_one_use(alice, bob):
    carol = factories.agent("carol")
    grant = factories.grant(carol, f"a2a.send.{bob.name}", max_uses=3)
    task, attempt = factories.sent_task(carol, bob), uuid4()

    first = conversation.say(carol, task.uuid, MORE, attempt_id=attempt)
    conversation.say(carol, task.uuid, MORE, attempt_id=uuid4())
    again = conversation.say(carol, task.uuid, MORE, attempt_id=attempt)

    assert (again.message, again.turn) == (first.message, 2)
    assert Message.objects.count() == 2
    assert CapabilityGrant.objects.get(pk=grant.pk).uses == 3


def test_a_repeated_attempt_gets_the_same_answer_after_the_end_of_the_task(alice, bob):
    task, attempt = factories.interrupted_task(alice, bob), uuid4()
    first = conversation.say(alice, task.uuid, MORE, attempt_id=attempt)
    sending.cancel(alice, task.uuid)

    assert conversation.say(alice, task.uuid, MORE, attempt_id=attempt).message == first.message
    with pytest.raises(AlreadyResolvedError):
        conversation.say(alice, task.uuid, MORE)


@pytest.mark.parametrize(
    "other",
    [
        replace(MORE, content=text("the second")),
        replace(MORE, message_id="m-3"),
        replace(MORE, metadata=None),
        replace(MORE, reference_task_ids=()),
    ],
)
def test_an_attempt_with_another_message_is_refused(alice, bob, other):
    task, attempt = factories.sent_task(alice, bob), uuid4()
    conversation.say(alice, task.uuid, MORE, attempt_id=attempt)

    with pytest.raises(InvalidRequestError) as refusal:
        conversation.say(alice, task.uuid, other, attempt_id=attempt)

    assert list(refusal.value.fields) == ["attempt_id"]
    assert Message.objects.count() == 1


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        (replace(MORE, content=()), "content"),
        (replace(MORE, content=[{"type": "poem"}]), "content.0.type"),
        (replace(MORE, message_id="m" * 501), "message_id"),
        (replace(MORE, message_id=5), "message_id"),  # type: ignore[arg-type]
        (replace(MORE, metadata={"a": float("nan")}), "metadata"),
        (replace(MORE, extensions=[5]), "extensions.0"),  # type: ignore[list-item]
        (replace(MORE, reference_task_ids=["\x00"]), "reference_task_ids.0"),
    ],
)
def test_a_wrong_message_is_refused_by_its_path(alice, bob, wrong, path):
    task = factories.sent_task(alice, bob)

    with pytest.raises(InvalidRequestError) as refusal:
        conversation.say(alice, task.uuid, wrong)

    assert list(refusal.value.fields) == [path]
    assert not Message.objects.exists()


def test_only_the_sender_sends_messages(alice, bob, mallory, olga):
    task = factories.interrupted_task(alice, bob)

    for caller, words in [(mallory, "is known to you"), (olga, "is known to you"), (bob, "only its sender")]:
        with pytest.raises(UnknownTaskError, match=words):
            conversation.say(caller, task.uuid, MORE)
    absent = uuid4()
    with pytest.raises(UnknownTaskError) as missing:
        conversation.say(mallory, absent, MORE)
    with pytest.raises(UnknownTaskError) as foreign:
        conversation.say(mallory, task.uuid, MORE)
    assert missing.value.message.replace(str(absent), "") == foreign.value.message.replace(str(task.uuid), "")


def test_a_message_needs_the_capability_to_send_and_journals_the_check(alice, bob):
    task = factories.interrupted_task(alice, bob)
    conversation.say(alice, task.uuid, MORE)
    check = factories.journal(Kind.CAPABILITY_CHECK)[-1]
    assert (check.task_id, check.fields["agent_id"]) == (task.uuid, f"a2a-send:{bob.name}")
    CapabilityGrant.objects.filter(subject=alice.agent).delete()

    with pytest.raises(CapabilityMissingError):
        conversation.say(alice, task.uuid, MORE)

    assert Message.objects.of_role(Message.Role.USER).count() == 1


def test_a_task_that_does_not_converse_takes_no_message(alice, bob):
    task = factories.sent_task(alice, bob, converses=False)

    with pytest.raises(NotAskableError):
        conversation.say(alice, task.uuid, MORE)


def test_a_resolved_task_takes_no_message(alice, bob):
    task = factories.resolved_task(alice, bob).task

    with pytest.raises(AlreadyResolvedError):
        conversation.say(alice, task.uuid, MORE)


def test_the_messages_of_both_parties_share_the_room_of_a_task(alice, bob, settings):
    settings.A2A_TASK_MAX_BYTES = 100
    task = factories.leased_task(alice, bob).task
    updates.post_updates(bob, task.uuid, [Update(message=text("x" * 20))])
    conversation.say(alice, task.uuid, Words(content=text("x" * 5)))

    with pytest.raises(TaskTooLargeError):
        conversation.say(alice, task.uuid, Words(content=text("x" * 5)))
    with pytest.raises(TaskTooLargeError):
        updates.post_updates(bob, task.uuid, [Update(message=text("x"))])


def test_a_sender_at_its_quota_of_bytes_sends_no_message(alice, bob, settings):
    task = factories.sent_task(alice, bob)
    settings.A2A_QUOTA_BYTES = Task.objects.get().size + 100
    quotas.forget()
    sent = conversation.say(alice, task.uuid, Words(content=text("x" * 50)))
    assert SenderStock.objects.get().size == Task.objects.get().size

    with pytest.raises(QuotaExceededError):
        conversation.say(alice, task.uuid, Words(content=text("x" * 50)))

    assert Message.objects.get() == sent.message


@pytest.mark.django_db(transaction=True)
def test_an_interrupted_task_counts_for_no_quota_of_queued_tasks(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = 1
    quotas.forget()
    task = factories.interrupted_task(alice, bob)

    factories.sent_task(alice, bob)
    quotas.forget()
    with pytest.raises(QuotaExceededError):
        factories.sent_task(alice, bob)
    conversation.say(alice, task.uuid, MORE)

    assert Task.objects.queued().count() == 2


def test_a_derived_message_id_is_the_same_at_each_read(alice, bob):
    task = factories.sent_task(alice, bob)
    conversation.say(alice, task.uuid, Words(content=text("one")))
    conversation.say(alice, task.uuid, Words(content=text("two")))

    ids = [message.shown_id for message in Message.objects.in_order()]

    assert ids == [message.shown_id for message in Message.objects.in_order()]
    assert len(set(ids)) == 2


def test_a_conversation_of_three_turns_ends_with_a_result(alice, bob):
    task = factories.interrupted_task(alice, bob)
    for turn in (2, 3):
        assert conversation.say(alice, task.uuid, MORE).turn == turn
        (lease,) = leasing.lease_tasks(bob)
        assert (lease.task.turn, lease.attempt) == (turn, turn)
        if turn == 2:
            question = Update(status=UpdateStatus.INPUT_REQUIRED, message=text("and?"))
            updates.post_updates(bob, task.uuid, [question], lease_id=lease.lease_id)
    results.post_result(bob, factories.result_envelope(task))

    assert [message.role for message in Message.objects.in_order()] == ["agent", "user", "agent", "user"]
    assert [message.seq for message in Message.objects.in_order()] == [3, 4, 6, 7]
