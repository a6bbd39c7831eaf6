"""The times of callbacks, after a clock ran ahead and came back."""

from datetime import UTC, datetime, timedelta

import pytest

from mailbox.background import jobs
from mailbox.life import outbox, sending
from mailbox.models import PushDelivery
from tests.support import factories
from tests.support.callback_rounds import claim_callbacks

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def pending(alice, bob):
    """Return the callback of a task that has ended."""
    task = factories.sent_task(alice, bob, callback_url="http://example.org/hook")
    sending.cancel(alice, task.uuid)
    return PushDelivery.objects.get()


@pytest.mark.parametrize("ahead", [timedelta(hours=1), timedelta(days=1)])
@pytest.mark.parametrize("step", ["written", "claimed", "failed"])
def test_a_clock_that_ran_ahead_does_not_park_a_callback(alice, bob, time_machine, step, ahead):
    time_machine.move_to(NOON + ahead, tick=False)
    delivery = pending(alice, bob)
    if step != "written":
        claim_callbacks(1)
    if step == "failed":
        fail(attempts=1)
    time_machine.move_to(NOON, tick=False)

    jobs.sweep_pass()

    (again,) = claim_callbacks(1)
    assert (again.pk, again.attempts) == (delivery.pk, 1 if step == "written" else 2)


@pytest.mark.parametrize(("failures", "minutes"), [(0, 6), (1, 6), (4, 9), (5, 64), (6, 6), (9, 6)])
@pytest.mark.parametrize("forgiven", [0, 6])
def test_a_callback_that_waits_for_its_next_attempt_is_left_alone(
    alice, bob, time_machine, failures, minutes, forgiven
):
    time_machine.move_to(NOON, tick=False)
    pending(alice, bob)
    counts = {"attempts": forgiven + failures, "forgiven": forgiven}
    PushDelivery.objects.update(next_attempt_at=NOON + timedelta(minutes=minutes), **counts)

    assert outbox.bring_back() == 0
    PushDelivery.objects.update(next_attempt_at=NOON + timedelta(minutes=minutes + 2))
    assert outbox.bring_back() == 1


def fail(*, attempts: int) -> None:
    delivery = PushDelivery.objects.get()
    assert delivery.attempts == attempts
    outbox.report(delivery, outbox.DeliveryOutcome(status=500, problem="no"))
