"""Questions of a holder: they end its lease and interrupt the task until the sender answers."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine
from django.utils import timezone

from mailbox.life import conversation, expiry, leasing, results, sending, updates
from mailbox.models import Lease, Message, Result, Task
from mailbox.repairs import repair, retry
from mailbox.repairs.repair import DuplicateRisk
from mailbox.repairs.retry import RetryPolicy
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.errors import (
    AlreadyResolvedError,
    InvalidRequestError,
    LeaseMismatchError,
    NotAskableError,
    NotInFlightError,
)
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms
from tests.support import factories, talking
from tests.support.factories import text

pytestmark = pytest.mark.django_db

NOON = datetime(2035, 1, 1, 12, tzinfo=UTC)
QUESTION = Update(status=UpdateStatus.INPUT_REQUIRED, message=text("which one?"))
ANSWER = Words(content=text("the first"))


@pytest.fixture
def clock():
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def lease(alice, bob):
    return factories.leased_task(alice, bob)


def state_of(task):
    task = Task.objects.get(uuid=task.uuid)
    return task.state, task.awaits, task.outcome


@pytest.mark.parametrize(
    ("status", "awaits"),
    [(UpdateStatus.INPUT_REQUIRED, "input"), (UpdateStatus.AUTH_REQUIRED, "authorization")],
)
def test_a_question_ends_the_lease_and_interrupts_the_task(bob, lease, status, awaits):
    posted = updates.post_updates(bob, lease.task.uuid, [Update(status=status, message=text("which?"))])

    lease.refresh_from_db()
    message = Message.objects.get()
    assert state_of(lease.task) == ("interrupted", awaits, None)
    assert (lease.end, lease.ended_at) == (Lease.End.ASKED, message.said_at)
    assert (message.seq, message.role, message.blocks) == (posted.seq, "agent", text("which?"))
    assert Task.objects.get().status_at == message.said_at
    assert factories.last_event().fields == {"lease_id": str(lease.lease_id), "awaits": awaits}
    assert factories.life_of(lease.task) == ["a2a_task_sent", "a2a_task_leased", "a2a_task_asked"]
    assert leasing.lease_tasks(bob) == []


def test_a_question_for_input_may_have_no_words(bob, lease):
    updates.post_updates(bob, lease.task.uuid, [Update(status=UpdateStatus.INPUT_REQUIRED)])

    assert state_of(lease.task)[0] == "interrupted"
    assert Message.objects.get().blocks == []


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ([Update(status=UpdateStatus.AUTH_REQUIRED)], "updates.0.message"),
        ([QUESTION, Update(message=text("and"))], "updates.0.status"),
        ([Update(status=UpdateStatus.WORKING, message=text("x"))], "updates.0.message"),
        ([Update(status=UpdateStatus.INPUT_REQUIRED, progress=0.5)], "updates.0"),
        ([Update()], "updates.0"),
        ([Update(message=[{"type": "poem"}])], "updates.0.message.content.0.type"),
        ([Update(message=text("x"), message_id="m" * 501)], "updates.0.message_id"),
        ([Update(message=text("x"), metadata={"a": "\x00"})], "updates.0.metadata"),
        ([ArtifactUpdate(content=[])], "updates.0.artifact.content"),
        ([ArtifactUpdate(content=text("x"), artifact_id=" ")], "updates.0.artifact.artifact_id"),
        ([ArtifactUpdate(content=text("x"), name="\x00")], "updates.0.artifact.name"),
        ([ArtifactUpdate(content=text("x"), extensions=["\ud800"])], "updates.0.artifact.extensions.0"),
        ([], "updates"),
    ],
)
def test_a_wrong_update_is_refused_by_its_path_and_records_nothing(bob, lease, wrong, path):
    with pytest.raises(InvalidRequestError) as refusal:
        updates.post_updates(bob, lease.task.uuid, wrong)

    assert list(refusal.value.fields) == [path]
    assert state_of(lease.task) == ("in_flight", None, None)
    assert not Message.objects.exists()


def test_a_status_of_work_records_nothing(bob, lease):
    before = Task.objects.get()

    posted = updates.post_updates(bob, lease.task.uuid, [Update(status=UpdateStatus.WORKING)])

    assert (posted.seq, posted.turn) == (2, 1)
    assert Task.objects.get().status_at == before.status_at
    assert not Message.objects.exists()


def test_a_task_that_does_not_converse_takes_no_question(alice, bob):
    task = factories.leased_task(alice, bob, converses=False).task

    with pytest.raises(NotAskableError):
        updates.post_updates(bob, task.uuid, [Update(message=text("first")), QUESTION])

    assert state_of(task) == ("in_flight", None, None)
    assert not Message.objects.exists()


def test_a_repeated_question_gets_the_same_answer_before_and_after_the_sender_answers(alice, bob, lease):
    attempt, said = uuid4(), [Update(progress=0.5), QUESTION]

    def ask():
        return updates.post_updates(bob, lease.task.uuid, said, lease_id=lease.lease_id, attempt_id=attempt)

    first = ask()
    assert ask() == first
    conversation.say(alice, lease.task.uuid, ANSWER)
    assert (ask().seq, ask().turn) == (first.seq, 2)
    (again,) = leasing.lease_tasks(bob)
    assert ask().seq == first.seq
    assert again.task.state == "in_flight"
    with pytest.raises(LeaseMismatchError):
        updates.post_updates(bob, lease.task.uuid, said, lease_id=lease.lease_id, attempt_id=uuid4())
    assert Message.objects.of_role(Message.Role.AGENT).count() == 2


@pytest.mark.parametrize(
    "other",
    [
        Update(message=QUESTION.message),
        Update(status=UpdateStatus.AUTH_REQUIRED, message=QUESTION.message),
        Update(status=UpdateStatus.INPUT_REQUIRED, message=text("which two?")),
        Update(status=UpdateStatus.INPUT_REQUIRED, message=QUESTION.message, message_id="m"),
        ArtifactUpdate(content=QUESTION.message),
        Update(status=UpdateStatus.WORKING),
    ],
)
def test_an_attempt_of_a_question_with_another_update_is_refused(bob, lease, other):
    attempt = uuid4()
    updates.post_updates(bob, lease.task.uuid, [QUESTION], attempt_id=attempt)

    with pytest.raises(InvalidRequestError) as refusal:
        updates.post_updates(bob, lease.task.uuid, [other], attempt_id=attempt)

    assert list(refusal.value.fields) == ["attempt_id"]


def test_the_recipient_leases_an_interrupted_task_by_its_id(alice, bob, lease):
    updates.post_updates(bob, lease.task.uuid, [Update(status=UpdateStatus.AUTH_REQUIRED, message=text("log in"))])

    again = leasing.lease_task(bob, lease.task.uuid)

    assert (again.attempt, state_of(lease.task)) == (2, ("in_flight", None, None))
    with pytest.raises(NotInFlightError):
        leasing.lease_task(bob, lease.task.uuid)
    assert conversation.say(alice, lease.task.uuid, ANSWER).message.task.state == "in_flight"


def test_an_interrupted_task_is_cancelled_without_a_lease(alice, bob):
    task = factories.interrupted_task(alice, bob)

    sending.cancel(alice, task.uuid)

    assert state_of(task) == ("resolved", None, "cancelled")
    with pytest.raises(NotInFlightError):
        updates.post_updates(bob, task.uuid, [QUESTION])


def test_a_result_without_a_lease_ends_an_interrupted_task(alice, bob):
    task, lease = factories.interrupted_task(alice, bob), Lease.objects.get()

    with pytest.raises(LeaseMismatchError):
        results.post_result(bob, factories.result_envelope(task, lease_id=lease.lease_id))
    results.post_result(bob, factories.result_envelope(task))

    assert state_of(task) == ("resolved", None, "ok")


def test_an_interrupted_task_is_forced_to_an_error_and_never_requeued(alice, bob, olga):
    task, lease = factories.interrupted_task(alice, bob), Lease.objects.get()

    with pytest.raises(NotInFlightError, match="is interrupted, not leased"):
        repair.requeue(olga, task.uuid, reason="stuck", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED)
    with pytest.raises(LeaseMismatchError):
        repair.force_error(olga, task.uuid, reason="stuck", message="given up", lease_id=lease.lease_id)
    result = repair.force_error(olga, task.uuid, reason="stuck", message="given up")

    assert (state_of(task), result.error_message) == (("resolved", None, "error"), "given up")


@pytest.mark.parametrize("way", ["another question", "answered", "leased"])
def test_an_error_is_forced_on_the_question_that_was_seen_alone(alice, bob, olga, way):
    task, seen = factories.interrupted_task(alice, bob), Lease.objects.get().lease_id
    if way == "answered":
        talking.said(alice, task, "yes")
    else:
        again = leasing.lease_task(bob, task.uuid)
        if way == "another question":
            talking.asked(bob, again, "and now?")
    before = state_of(task)

    with pytest.raises(LeaseMismatchError):
        repair.force_error(olga, task.uuid, reason="gone", message="given up", asking_lease_id=seen)

    assert state_of(task) == before


def test_an_error_is_forced_on_the_question_that_was_seen(alice, bob, olga):
    task, seen = factories.interrupted_task(alice, bob), Lease.objects.get().lease_id

    repair.force_error(olga, task.uuid, reason="gone", message="given up", asking_lease_id=seen)

    assert state_of(task) == ("resolved", None, "error")


def test_an_interrupted_task_past_its_deadline_expires(alice, bob, clock):
    deadline = timezone.now() + timedelta(minutes=1)
    task = factories.interrupted_task(alice, bob, deadline_ms=epoch_ms(deadline))
    assert expiry.current(alice, task.uuid).state == "interrupted"
    clock.shift(timedelta(minutes=2))

    with pytest.raises(AlreadyResolvedError):
        conversation.say(alice, task.uuid, ANSWER)

    assert state_of(task) == ("resolved", None, "expired")
    assert Result.objects.get().error_message == "deadline exceeded"
    assert factories.life_of(task)[-1] == Kind.TASK_EXPIRED


@pytest.mark.parametrize("way", ["sweep", "drain"])
def test_a_sweep_and_a_drain_expire_an_interrupted_task(alice, bob, clock, way):
    task = factories.interrupted_task(alice, bob, deadline_ms=epoch_ms(timezone.now() + timedelta(minutes=1)))
    assert results.drain_results(alice) == []
    clock.shift(timedelta(minutes=2))

    if way == "sweep":
        assert expiry.sweep(bob) == 1
    else:
        assert [result.task.uuid for result in results.drain_results(alice)] == [task.uuid]
    assert state_of(task) == ("resolved", None, "expired")


def test_the_work_timeout_does_not_run_while_a_task_is_interrupted(alice, bob, clock):
    task = factories.interrupted_task(alice, bob, work_timeout=timedelta(minutes=1))
    clock.shift(timedelta(hours=1))

    conversation.say(alice, task.uuid, ANSWER)
    (lease,) = leasing.lease_tasks(bob)

    assert lease.times_out_at == lease.leased_at + timedelta(minutes=1)


def test_a_duplicate_waits_for_an_interrupted_task(alice, bob):
    work = factories.idempotent("one work")
    first = factories.interrupted_task(alice, bob, idempotency=work)

    second = factories.sent_task(alice, bob, idempotency=work)

    assert second.waits_on == first
    conversation.say(alice, first.uuid, ANSWER)
    (lease,) = leasing.lease_tasks(bob, limit=5)
    results.post_result(bob, factories.result_envelope(first, lease_id=lease.lease_id))
    assert state_of(second) == ("resolved", None, "ok")


def test_a_pass_of_the_retry_gate_considers_no_interrupted_task(olga, alice, bob, clock):
    task = factories.interrupted_task(alice, bob, idempotency=factories.idempotent())
    clock.shift(timedelta(hours=1))

    report = retry.retry_stale(olga, RetryPolicy(enabled=True))

    assert (report.considered, report.requeued) == (0, [])
    assert state_of(task) == ("interrupted", "input", None)
