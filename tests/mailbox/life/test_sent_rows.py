"""The row that a send returns: a caller answers from it alone."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine

from mailbox import Mailbox
from mailbox.access.callers import Caller
from mailbox.life import leasing, results, sending
from mailbox.models import Task
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.queries import no_query_after

pytestmark = pytest.mark.django_db

NOW = datetime(2035, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def finish(recipient: Caller) -> None:
    (lease,) = leasing.lease_tasks(recipient)
    results.post_result(recipient, factories.result_envelope(lease.task))


def seen(task: Task) -> tuple[str, int, str | None, str | None]:
    result = task.result_or_none
    return task.state, task.attempt, task.outcome, result.status if result else None


def test_a_new_task_is_returned_as_it_was_stored(alice: Caller, bob: Caller) -> None:
    sent = sending.send_task(alice, factories.task_envelope(bob))
    finish(bob)

    assert seen(sent) == ("queued", 0, None, None)


def test_a_repeat_is_returned_as_the_task_is_now(alice: Caller, bob: Caller) -> None:
    envelope = factories.task_envelope(bob, id=uuid4())
    sending.send_task(alice, envelope)
    leasing.lease_tasks(bob)
    leased = sending.send_task(alice, envelope)
    results.post_result(bob, factories.result_envelope(leased))

    with no_query_after(sending, "send_task"):
        answered = sending.send_task(alice, envelope)
        assert seen(answered) == ("resolved", 1, "ok", "ok")

    assert seen(leased) == ("in_flight", 1, None, None)


def test_a_replay_is_returned_with_its_result(alice: Caller, bob: Caller) -> None:
    promise = factories.idempotent("k")
    sending.send_task(alice, factories.task_envelope(bob, idempotency=promise))
    finish(bob)

    with no_query_after(sending, "send_task"):
        replayed = sending.send_task(alice, factories.task_envelope(bob, idempotency=promise))
        assert seen(replayed) == ("resolved", 0, "ok", "ok")


@pytest.mark.parametrize("is_leased", [False, True], ids=["past its deadline", "past its work timeout"])
def test_a_repeat_whose_time_is_up_is_returned_expired(alice: Caller, bob: Caller, is_leased: bool) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        limit = {"work_timeout": MINUTE} if is_leased else {"deadline_ms": epoch_ms(NOW + MINUTE)}
        envelope = factories.task_envelope(bob, id=uuid4(), **limit)
        sending.send_task(alice, envelope)
        if is_leased:
            leasing.lease_tasks(bob)
        clock.shift(MINUTE)

        with no_query_after(sending, "send_task"):
            repeat = sending.send_task(alice, envelope)
            assert seen(repeat) == ("resolved", int(is_leased), "expired", "error")

    assert factories.life_of(repeat)[-1] == "a2a_task_expired"


def test_a_local_send_returns_the_stored_row(alice: Caller, bob: Caller) -> None:
    envelope = factories.task_envelope(bob, id=uuid4(), sender=factories.ref(alice))
    box = Mailbox()

    with no_query_after(sending, "send_task"):
        sent = box.send_task(envelope)
        assert seen(sent) == ("queued", 0, None, None)
    finish(bob)
    with no_query_after(sending, "send_task"):
        assert seen(box.send_task(envelope)) == ("resolved", 1, "ok", "ok")
