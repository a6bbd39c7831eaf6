"""Callback targets and webhooks under a version that knows no webhooks: the tables have what it leaves out."""

import pytest
from django.db import connection, transaction

from mailbox.life import updates
from mailbox.models import PushConfig, PushDelivery
from mailbox.words.conversation import Update
from tests.support import factories
from tests.support.callback_rounds import claim_callbacks, deliver_due
from tests.support.webhook_rounds import leased, webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]

URL = "http://127.0.0.77:9009/hook"


def test_a_target_that_the_version_before_inserts_is_a_callback(alice, bob):
    task = factories.leased_task(alice, bob, callback_url=URL).task
    PushConfig.objects.all().delete()
    with connection.cursor() as cursor:
        columns = "INSERT INTO mailbox_pushconfig (task_id, url, sealed_secret)"
        cursor.execute(f"{columns} VALUES (%s, %s, NULL)", [int(task.pk), URL])

    assert PushConfig.objects.get().protocol == PushConfig.Protocol.CALLBACK
    assert not PushConfig.objects.webhooks().exists()


def test_the_version_before_makes_no_attempt_at_an_event_and_deletes_its_webhook(alice, bob):
    task = leased(alice, bob).task
    webhook(alice, task, URL)
    updates.post_updates(bob, task.uuid, [Update(message=factories.text("one"))])
    assert deliver_due() == 1

    PushDelivery.objects.update(next_attempt_at=task.sent_at)
    assert claim_callbacks(8) == []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM mailbox_pushconfig WHERE task_id = %s", [task.pk])
    assert PushDelivery.objects.finished().get().config is None
