from uuid import uuid4

import pytest
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.inspection import tasks
from mailbox.life import results, sending
from mailbox.models import AuditEvent, Result
from mailbox.words.errors import UnknownTaskError, WrongPartyError
from mailbox.words.times import epoch_ms
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_a_drain_without_pending_results_is_not_journalled(alice):
    assert results.drain_results(alice) == []
    assert not AuditEvent.objects.exists()


def test_a_drained_result_is_delivered_and_stays_readable(alice, bob):
    posted = factories.resolved_task(alice, bob)

    (drained,) = results.drain_results(alice)

    posted.refresh_from_db()
    assert drained == posted
    assert (posted.delivery, posted.delivered_at is None) == (Result.Delivery.DELIVERED, False)
    assert factories.life_of(posted.task)[-1] == "a2a_result_delivered"
    assert factories.last_event().fields == {"attempt_id": None}
    assert tasks.result(alice, posted.task.uuid) == posted


def test_results_are_drained_oldest_first(alice, bob):
    posted = [factories.resolved_task(alice, bob) for _ in range(3)]

    assert results.drain_results(alice, limit=2) == posted[:2]
    assert results.drain_results(alice, limit=2) == posted[2:]


def test_only_the_sender_drains_a_result(alice, bob, mallory):
    factories.resolved_task(alice, bob)

    assert results.drain_results(mallory) == []
    assert results.drain_results(bob) == []
    assert Result.objects.get().delivery == Result.Delivery.PENDING


def test_people_cannot_drain_or_acknowledge_results(alice, bob, olga):
    result = factories.resolved_task(alice, bob)

    with pytest.raises(WrongPartyError):
        results.drain_results(olga)
    with pytest.raises(WrongPartyError):
        results.ack_results(olga, [result.task.uuid])

    assert Result.objects.get().delivery == Result.Delivery.PENDING


def test_a_local_caller_without_an_agent_drains_for_each_sender(alice, bob):
    posted = factories.resolved_task(alice, bob)

    assert results.drain_results(Caller.local()) == [posted]


def test_a_drain_finds_the_senders_own_expired_tasks(alice, bob):
    task = factories.sent_task(alice, bob, deadline_ms=epoch_ms(timezone.now()) - 1)

    (drained,) = results.drain_results(alice)

    assert (drained.task, drained.error_message) == (task, "deadline exceeded")
    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_expired", "a2a_result_delivered"]


def test_a_drain_finds_the_result_of_a_cancelled_task(alice, bob):
    task = factories.sent_task(alice, bob)
    sending.cancel(alice, task.uuid)

    assert [result.task for result in results.drain_results(alice)] == [task]


def test_an_acked_result_is_never_given_out_again(alice, bob):
    drained = factories.drained_task(alice, bob)

    assert results.ack_results(alice, [drained.task.uuid]).acked == [drained.task.uuid]

    drained.refresh_from_db()
    assert (drained.delivery, drained.acked_at is None) == (Result.Delivery.ACKED, False)
    assert factories.life_of(drained.task)[-1] == "a2a_result_acked"
    assert results.drain_results(alice) == []
    assert tasks.result(alice, drained.task.uuid) == drained


def test_a_result_may_be_acked_before_it_is_drained(alice, bob):
    result = factories.resolved_task(alice, bob)

    results.ack_results(alice, [result.task.uuid])

    assert results.drain_results(alice) == []


def test_acking_twice_changes_nothing(alice, bob):
    drained = factories.drained_task(alice, bob)
    results.ack_results(alice, [drained.task.uuid])
    rows = factories.journal_length()

    assert results.ack_results(alice, [drained.task.uuid]).acked == [drained.task.uuid]

    assert factories.journal_length() == rows


def test_an_unknown_id_keeps_no_other_id_from_being_acked(alice, bob, mallory):
    factories.grant(mallory, "a2a.send.*")
    factories.grant(bob, "a2a.respond.*")
    drained, foreign = factories.drained_task(alice, bob), factories.drained_task(mallory, bob)
    absent = uuid4()

    done = results.ack_results(alice, [absent, drained.task.uuid, foreign.task.uuid])

    assert (done.acked, done.unknown) == ([drained.task.uuid], [absent, foreign.task.uuid])
    assert [result.delivery for result in Result.objects.order_by("pk")] == ["acked", "delivered"]
    assert [row.task_id for row in factories.journal("a2a_result_acked")] == [drained.task.uuid]


def test_an_acknowledgement_of_unknown_ids_alone_names_the_first(alice):
    absent = [uuid4(), uuid4()]

    with pytest.raises(UnknownTaskError) as refusal:
        results.ack_results(alice, absent)

    assert refusal.value.ids == {"task_id": str(absent[0])}


def test_only_the_sender_can_acknowledge_a_result(alice, bob, mallory):
    drained = factories.drained_task(alice, bob)

    for other in (bob, mallory):
        with pytest.raises(UnknownTaskError):
            results.ack_results(other, [drained.task.uuid])

    drained.refresh_from_db()
    assert drained.delivery == Result.Delivery.DELIVERED


def test_a_task_without_a_result_cannot_be_acked(alice, bob):
    task = factories.sent_task(alice, bob)

    with pytest.raises(UnknownTaskError):
        results.ack_results(alice, [task.uuid])


def test_a_drain_can_acknowledge_the_result_before(alice, bob):
    first, second = factories.resolved_task(alice, bob), factories.resolved_task(alice, bob)
    results.drain_results(alice)

    assert results.drain_results(alice, ack=[first.task.uuid]) == [second]

    first.refresh_from_db()
    assert first.delivery == Result.Delivery.ACKED
    assert factories.life_of(first.task)[-1] == "a2a_result_acked"


@pytest.mark.parametrize("attempt_id", [None, uuid4()])
def test_a_drain_acknowledges_only_the_results_that_it_names(alice, bob, attempt_id):
    posted = [factories.resolved_task(alice, bob) for _ in range(6)]
    results.drain_results(alice, limit=3)

    drained = results.drain_results(
        alice, limit=2, attempt_id=attempt_id, ack=[posted[0].task.uuid, posted[2].task.uuid]
    )

    assert drained == posted[3:5]
    assert [result.delivery for result in Result.objects.order_by("pk")] == [
        *("acked", "delivered", "acked"),
        *("delivered", "delivered", "pending"),
    ]
    told = factories.journal("a2a_result_acked")
    assert [row.task_id for row in told] == [posted[0].task.uuid, posted[2].task.uuid]


def test_a_repeated_drain_gives_the_unacknowledged_results_of_its_attempt(alice, bob):
    posted, attempt_id = [factories.resolved_task(alice, bob) for _ in range(4)], uuid4()
    results.drain_results(alice, limit=2, attempt_id=attempt_id)

    again = results.drain_results(alice, limit=2, attempt_id=attempt_id, ack=[posted[0].task.uuid])
    after = results.drain_results(alice, limit=2, attempt_id=attempt_id, ack=[posted[1].task.uuid])

    assert (again, after) == ([posted[1]], [])
    assert results.drain_results(alice, limit=2, attempt_id=uuid4()) == posted[2:]


def test_a_drain_with_an_unknown_ack_acknowledges_and_drains_nothing(alice, bob):
    drained = factories.drained_task(alice, bob)
    factories.resolved_task(alice, bob)

    with pytest.raises(UnknownTaskError):
        results.drain_results(alice, ack=[drained.task.uuid, uuid4()])

    assert [result.delivery for result in Result.objects.order_by("pk")] == ["delivered", "pending"]
