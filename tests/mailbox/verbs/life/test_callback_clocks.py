"""The times of callbacks, after a clock ran ahead and came back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mailbox.models import PushDelivery
from mailbox.verbs.life import callbacks, sending
from tests.support import factories

pytestmark = pytest.mark.django_db


def pending(alice, bob):
    """Return the callback of a task that has ended."""
    task = factories.sent_task(alice, bob, callback_url="http://example.org/hook")
    sending.cancel(alice, task.uuid)
    return PushDelivery.objects.get()


@pytest.mark.parametrize("step", ["claimed", "failed"])
def test_a_clock_that_ran_a_day_ahead_does_not_park_a_callback(alice, bob, time_machine, step):
    time_machine.move_to("2026-03-01T12:00:00Z", tick=False)
    pending(alice, bob)
    time_machine.move_to("2026-03-02T12:00:00Z", tick=False)
    (delivery,) = callbacks.claim_due(limit=1)
    if step == "failed":
        callbacks.report(delivery, callbacks.CallbackOutcome(status=500, problem="no"))
    time_machine.move_to("2026-03-01T12:01:00Z", tick=False)

    (again,) = callbacks.claim_due(limit=1)

    assert (again.pk, again.attempts) == (delivery.pk, 2)


@pytest.mark.parametrize("minutes", [1, 59, 64])
def test_a_callback_that_waits_for_its_next_attempt_is_left_alone(alice, bob, time_machine, minutes):
    time_machine.move_to("2026-03-01T12:00:00Z", tick=False)
    delivery = pending(alice, bob)
    PushDelivery.objects.update(next_attempt_at=delivery.created_at + timedelta(minutes=minutes))

    assert callbacks.claim_due(limit=1) == []
