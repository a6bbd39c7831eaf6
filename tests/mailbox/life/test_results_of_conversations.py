"""Results that reject a task, that close a conversation with words, and that are the answer itself."""

from datetime import timedelta
from uuid import uuid4

import pytest

from mailbox.access.callers import Caller
from mailbox.life import conversation, results, updates
from mailbox.models import Lease, Message, Result, Task
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words.conversation import ArtifactUpdate, Update, Words
from mailbox.words.envelopes import ResultStatus
from mailbox.words.errors import InvalidRequestError, ResultConflictError, TaskTooLargeError
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.factories import text

pytestmark = pytest.mark.django_db

REJECTED = {"status": ResultStatus.REJECTED, "content": (), "error_message": "not my field"}


@pytest.fixture
def task(alice, bob):
    return factories.leased_task(alice, bob).task


def post(bob, task, **fields):
    return results.post_result(bob, factories.result_envelope(task, **fields))


def test_a_rejection_is_an_error_with_an_outcome_of_its_own(bob, task):
    result = post(bob, task, **REJECTED)

    row = Task.objects.get()
    assert (row.outcome, result.status, result.error_message) == ("rejected", "error", "not my field")
    assert factories.last_event().fields["status"] == "rejected"
    assert post(bob, task, **REJECTED) == result
    with pytest.raises(ResultConflictError):
        post(bob, task, **{**REJECTED, "status": ResultStatus.ERROR})


def test_an_error_is_not_repeated_by_a_rejection(bob, task):
    post(bob, task, **{**REJECTED, "status": ResultStatus.ERROR})

    with pytest.raises(ResultConflictError):
        post(bob, task, **REJECTED)


@pytest.mark.parametrize("reason", [None, "", " "])
def test_a_rejection_needs_a_reason(bob, task, reason):
    with pytest.raises(InvalidRequestError) as refusal:
        post(bob, task, **{**REJECTED, "error_message": reason})

    assert list(refusal.value.fields) == ["error_message"]


def test_closing_words_are_the_last_message_of_the_holder(bob, task):
    before = Task.objects.get()
    result = post(bob, task, message=text("that is all"))

    message, row = Message.objects.get(), Task.objects.get()
    (posted,) = factories.journal(Kind.RESULT_POSTED)
    assert (message.seq, message.role, message.blocks) == (posted.seq, "agent", text("that is all"))
    assert row.size == before.size + result.size + len(message.content)
    assert Lease.objects.get().end == "result"


def test_a_duplicate_of_a_direct_answer_is_answered_directly(alice, bob):
    promise = factories.idempotent()
    post(bob, factories.leased_task(alice, bob, idempotency=promise).task, direct=True)

    duplicate = factories.sent_task(alice, bob, idempotency=promise)

    duplicate.refresh_from_db()
    assert (duplicate.outcome, duplicate.is_direct, duplicate.result.has_more) == ("ok", True, False)


@pytest.mark.parametrize("other", [{}, {"message": text("or not")}, {"direct": True}])
def test_a_result_with_other_closing_words_is_another_result(bob, task, other):
    first = post(bob, task, message=text("that is all"))

    assert post(bob, task, message=text("that is all")) == first
    with pytest.raises(ResultConflictError):
        post(bob, task, **other)
    assert Message.objects.count() == 1


def test_closing_words_need_room(bob, task, settings):
    settings.A2A_TASK_MAX_BYTES = 20

    with pytest.raises(TaskTooLargeError):
        post(bob, task, message=text("that is all"))
    assert Task.objects.get().state == "in_flight"


def test_bad_closing_words_are_refused_by_their_path(bob, task):
    with pytest.raises(InvalidRequestError) as refusal:
        post(bob, task, message=[{"type": "poem"}])

    assert list(refusal.value.fields) == ["message.content.0.type"]


def test_a_direct_answer_is_marked_on_its_task(bob, task):
    result = post(bob, task, direct=True)

    assert Task.objects.get().is_direct
    assert post(bob, task, direct=True) == result
    with pytest.raises(ResultConflictError):
        post(bob, task)


@pytest.mark.parametrize(
    "wrong",
    [{"status": ResultStatus.PARTIAL}, {"status": ResultStatus.ERROR}, {"content": ()}, {"message": text("bye")}],
)
def test_a_direct_answer_is_ok_with_content_and_without_closing_words(bob, task, wrong):
    with pytest.raises(InvalidRequestError) as refusal:
        post(bob, task, direct=True, **wrong)

    assert list(refusal.value.fields) == ["direct"]


@pytest.mark.parametrize("before", ["message", "artifact", "turn"])
def test_a_direct_answer_is_the_only_word_about_its_task(alice, bob, task, before):
    if before == "turn":
        conversation.say(alice, task.uuid, Words(content=text("and")))
    else:
        word = Update(message=text("x")) if before == "message" else ArtifactUpdate(content=text("x"))
        updates.post_updates(bob, task.uuid, [word])

    with pytest.raises(InvalidRequestError) as refusal:
        post(bob, task, direct=True)

    assert list(refusal.value.fields) == ["direct"]
    assert Task.objects.get().state == "in_flight"
    assert factories.journal(Kind.RESULT_REJECTED)


@pytest.mark.parametrize("fields", [REJECTED, {"message": text("bye")}, {"direct": True}, {}], ids=str)
def test_a_compacted_task_knows_its_repeated_result(alice, bob, task, fields):
    post(bob, task, **fields)
    results.drain_results(alice)
    results.ack_results(alice, [task.uuid])
    compaction.compact(Caller.local(), Retention(acked=timedelta(0)))
    assert not Task.objects.exists()

    assert post(bob, task, **fields).task.uuid == task.uuid
    with pytest.raises(ResultConflictError):
        post(bob, task, message=text("other"))


@pytest.mark.parametrize("is_plain", [True, False])
@pytest.mark.parametrize("reads_result", [True, False])
def test_a_result_that_its_sender_reads_is_owed_to_no_drain(alice, bob, is_plain, reads_result):
    lease = factories.leased_task(alice, bob, reads_result=reads_result)
    fields = {} if is_plain else {"message": text("bye")}

    result = post(bob, lease.task, **fields)

    stored = Result.objects.get()
    assert (result.delivery, result.delivered_at) == (stored.delivery, stored.delivered_at)
    assert (stored.delivery, stored.delivered_at) == (
        ("delivered", stored.posted_at) if reads_result else ("pending", None)
    )
    assert len(results.drain_results(alice, attempt_id=uuid4())) == (0 if reads_result else 1)


@pytest.mark.parametrize("is_plain", [True, False])
def test_the_time_of_the_status_follows_each_change(alice, bob, is_plain):
    fields = {} if is_plain else {"idempotency": factories.idempotent()}
    lease = factories.leased_task(alice, bob, **fields)
    leased = Task.objects.get()
    assert leased.status_at == lease.leased_at > leased.sent_at

    updates.post_updates(bob, lease.task.uuid, [ArtifactUpdate(content=text("x"))])
    assert Task.objects.get().status_at == leased.status_at
    updates.post_updates(bob, lease.task.uuid, [Update(progress=0.5)])
    assert Task.objects.get().status_at == Message.objects.get().said_at
    result = post(bob, lease.task)

    assert Task.objects.get().status_at == result.posted_at
