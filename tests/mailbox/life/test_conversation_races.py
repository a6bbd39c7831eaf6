"""Both parties of a task at the same instant, in real threads with connections of their own."""

from collections import Counter
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from mailbox.life import conversation, expiry, leasing, results, sending, updates
from mailbox.models import Lease, Message, Result, Task
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.errors import AlreadyResolvedError, NotInFlightError
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.factories import text
from tests.support.races import ROUNDS, answers

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = Update(status=UpdateStatus.INPUT_REQUIRED, message=text("which one?"))
ANSWERS = [Words(content=text("the first")), Words(content=text("the second"))]


@pytest.fixture(autouse=True, params=ROUNDS, ids=lambda number: f"round {number + 1}")
def tries_again(request):
    """Run each race more than once, since the winner differs."""


def assert_whole(task):
    """Check the row of a task against its leases, its messages and its journal."""
    row = Task.objects.get(pk=task.pk)
    live = Lease.objects.live().filter(task=row).count()
    kinds = factories.life_of(row)
    assert live == (1 if row.state == "in_flight" else 0)
    assert (row.state == "interrupted") == (row.awaits is not None)
    assert len(kinds) == row.journal_seq
    spoken = Message.objects.filter(task=row)
    assert row.turn == 1 + spoken.of_role(Message.Role.USER).count() == 1 + kinds.count(Kind.MESSAGE_SENT)
    assert Lease.objects.filter(task=row, end="asked").count() == kinds.count(Kind.TASK_ASKED)
    assert Result.objects.filter(task=row).count() == (1 if row.state == "resolved" else 0)
    return row


def test_of_two_answers_to_one_question_one_queues_the_task_and_both_are_kept(alice, bob):
    task = factories.interrupted_task(alice, bob)

    outcomes = answers(*[lambda words=words: conversation.say(alice, task.uuid, words) for words in ANSWERS])

    assert sorted(outcome.turn for outcome in outcomes) == [2, 3]
    row = assert_whole(task)
    answered = [event.fields.get("answers") for event in factories.journal(Kind.MESSAGE_SENT)]
    assert (row.state, row.turn, answered) == ("queued", 3, ["input", None])
    assert len(leasing.lease_tasks(bob, limit=5)) == 1


def test_one_attempt_at_once_is_one_message(alice, bob):
    task, attempt = factories.interrupted_task(alice, bob), uuid4()

    outcomes = answers(*[lambda: conversation.say(alice, task.uuid, ANSWERS[0], attempt_id=attempt)] * 3)

    assert {(outcome.turn, outcome.message.seq) for outcome in outcomes} == {(2, 4)}
    assert_whole(task)


def test_messages_and_duplicates_under_one_counted_grant(bob):
    carol, work = factories.agent("carol"), factories.idempotent("one work")
    factories.grant(carol, f"a2a.send.{bob.name}", max_uses=100)
    factories.grant(bob, f"a2a.respond.{carol.name}")
    task = factories.sent_task(carol, bob, idempotency=work)

    outcomes = answers(
        *[lambda: conversation.say(carol, task.uuid, ANSWERS[0])] * 3,
        *[lambda: factories.sent_task(carol, bob, idempotency=work)] * 3,
    )

    assert Counter(type(outcome) for outcome in outcomes) == {conversation.Sent: 3, Task: 3}
    assert assert_whole(task).turn == 4


def test_an_answer_against_a_cancellation(alice, bob):
    task = factories.interrupted_task(alice, bob)

    said, cancelled = answers(
        lambda: conversation.say(alice, task.uuid, ANSWERS[0]), lambda: sending.cancel(alice, task.uuid)
    )

    row = assert_whole(task)
    assert (row.state, row.outcome, cancelled) == ("resolved", "cancelled", row)
    assert row.turn == (1 if isinstance(said, AlreadyResolvedError) else 2)
    assert leasing.lease_tasks(bob) == []


def test_a_lease_by_id_against_an_answer(alice, bob):
    task = factories.interrupted_task(alice, bob)

    said, lease = answers(
        lambda: conversation.say(alice, task.uuid, ANSWERS[0]), lambda: leasing.lease_task(bob, task.uuid)
    )

    row = assert_whole(task)
    assert (row.state, row.turn, said.turn) == ("in_flight", 2, 2)
    assert lease.attempt == row.attempt == 2
    assert leasing.heartbeat(bob, task.uuid).task.turn == 2


def test_receivers_lease_an_answered_task_once(alice, bob):
    task = factories.interrupted_task(alice, bob)

    said, *leased = answers(
        lambda: conversation.say(alice, task.uuid, ANSWERS[0]),
        lambda: leasing.lease_tasks(bob),
        lambda: leasing.lease_tasks(bob, limit=2),
    )

    assert sum(map(len, leased)) <= 1
    assert assert_whole(task).state == ("in_flight" if any(leased) else "queued")
    assert said.turn == 2


def test_a_question_against_a_result_and_a_message(alice, bob):
    lease = factories.leased_task(alice, bob)

    asked, result, said = answers(
        lambda: updates.post_updates(bob, lease.task.uuid, [QUESTION], lease_id=lease.lease_id),
        lambda: results.post_result(bob, factories.result_envelope(lease.task)),
        lambda: conversation.say(alice, lease.task.uuid, ANSWERS[0]),
    )

    row = assert_whole(lease.task)
    assert (row.state, row.outcome) == ("resolved", "ok")
    assert isinstance(result, Result)
    assert isinstance(asked, updates.Posted | NotInFlightError)
    assert isinstance(said, conversation.Sent | AlreadyResolvedError)


@pytest.mark.parametrize("way", ["deadline", "work timeout"])
def test_a_question_against_expiry(alice, bob, way):
    soon = timezone.now() + timedelta(milliseconds=1)
    task = factories.sent_task(alice, bob, work_timeout=timedelta(hours=1))
    (lease,) = leasing.lease_tasks(bob)
    if way == "deadline":
        Task.objects.update(deadline_ms=epoch_ms(soon))
    else:
        Lease.objects.update(times_out_at=soon)

    asked, _ = answers(
        lambda: updates.post_updates(bob, task.uuid, [QUESTION], lease_id=lease.lease_id), lambda: expiry.sweep(bob)
    )
    expiry.sweep(bob)

    row = assert_whole(task)
    if way == "deadline":  # a holder may miss the deadline, so the question was put and the task then expired
        assert isinstance(asked, updates.Posted)
    assert (row.state, row.outcome) == ("resolved", "expired")


def test_two_questions_of_one_holder_are_one(alice, bob):
    lease = factories.leased_task(alice, bob)

    outcomes = answers(*[lambda: updates.post_updates(bob, lease.task.uuid, [QUESTION])] * 2)

    assert Counter(type(outcome) for outcome in outcomes) == {updates.Posted: 1, NotInFlightError: 1}
    assert assert_whole(lease.task).state == "interrupted"


def test_a_repeated_question_at_once_gets_one_answer(alice, bob):
    lease, attempt = factories.leased_task(alice, bob), uuid4()
    batch: list[Update | ArtifactUpdate] = [ArtifactUpdate(content=text("draft")), QUESTION]

    outcomes = answers(*[lambda: updates.post_updates(bob, lease.task.uuid, batch, attempt_id=attempt)] * 3)

    assert set(outcomes) == {updates.Posted(seq=4, turn=1)}
    assert_whole(lease.task)
