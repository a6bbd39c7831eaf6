"""Callbacks and webhooks in one outbox: one order, the same slots and the same pauses."""

from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.life import outbox, results, updates
from mailbox.life.delivery_slots import DeliverySlots, pause_key
from mailbox.models import PushConfig, PushDelivery, Task
from mailbox.words.conversation import Update
from tests.support import factories
from tests.support.callback_rounds import deliver_due
from tests.support.receiver import receiver
from tests.support.webhook_rounds import leased, webhook

pytestmark = pytest.mark.django_db

URL = "https://receiver.example/hook"


def due_callback(sender, recipient, url=URL):
    lease = factories.leased_task(sender, recipient, callback_url=url)
    results.post_result(recipient, factories.result_envelope(lease.task))
    return PushDelivery.objects.get(task_uuid=lease.task.uuid)


def due_webhook(sender, recipient, url=URL):
    lease = leased(sender, recipient)
    config = webhook(sender, lease.task, url)
    updates.post_updates(recipient, lease.task.uuid, [Update(message=factories.text("on it"))])
    return config


def since(row, ago):
    moment = timezone.now() - timedelta(seconds=ago)
    type(row).objects.filter(pk=row.pk).update(next_attempt_at=moment, created_at=moment)


def moved(config, ago):
    Task.objects.filter(pk=config.task_id).update(status_at=timezone.now() - timedelta(seconds=ago))


def test_the_target_that_is_due_for_longest_comes_first(alice, bob):
    callback, config = due_callback(alice, bob), due_webhook(alice, bob)
    since(callback, 10)

    since(config, 3600)
    moved(config, 20)
    assert [one.config.pk for one in outbox.due(limit=1).webhooks] == [config.pk]

    moved(config, 5)
    assert outbox.due(limit=1) == outbox.DueTargets(callbacks=[callback.pk], webhooks=[])


def test_callbacks_and_webhooks_of_a_receiver_share_its_slots(alice, bob):
    for _ in range(2):
        due_callback(alice, bob)
        due_webhook(alice, bob)

    due = outbox.due(limit=8, slots=DeliverySlots(per_receiver=3))

    assert len(due.callbacks) + len(due.webhooks) == 3


def test_a_pause_puts_off_the_callbacks_of_a_receiver_or_one_webhook_and_no_other_webhook(alice, bob):
    callback, config, other = due_callback(alice, bob), due_webhook(alice, bob), due_webhook(alice, bob)
    until = timezone.now() + timedelta(minutes=1)
    paused = dict.fromkeys([pause_key(callback.url, None), pause_key(config.url, config.pk)], until)

    due = outbox.due(limit=8, slots=DeliverySlots(paused=paused))

    assert (due.callbacks, [candidate.config for candidate in due.webhooks]) == ([], [other])
    assert PushDelivery.objects.get(pk=callback.pk).next_attempt_at == until
    assert PushConfig.objects.get(pk=config.pk).next_attempt_at == until
    assert outbox.bring_back() == 0


@pytest.mark.usefixtures("loopback")
def test_one_round_of_a_courier_brings_both(alice, bob):
    with receiver() as seen:
        due_callback(alice, bob, seen.url)
        due_webhook(alice, bob, seen.url)

        assert deliver_due() == 2

    assert sorted(headers["User-Agent"] for headers, _ in seen.calls) == ["A2A-Hub/callbacks", "A2A-Hub/webhooks"]
