"""Callback targets of the version before webhooks, under the tables of this version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import pytest
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader

from mailbox.life import callbacks, results, updates
from mailbox.models import PushConfig, PushDelivery
from mailbox.words.conversation import Update
from tests.support import factories
from tests.support.webhook_rounds import leased, tell_due, webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]

NAMES = ("0042_webhooks", "0043_indexes_of_webhooks")
URL = "http://127.0.0.77:9009/hook"


@contextmanager
def migrating() -> Iterator[None]:
    """Unapply the migrations for the block, and apply them to the rows that the block leaves."""
    for name in reversed(NAMES):
        _migrate(name, "unapply")
    try:
        yield
    finally:
        for name in NAMES:
            _migrate(name, "apply")


def _migrate(name: str, how: str) -> None:
    migration = import_module(f"mailbox.migrations.{name}").Migration(name, "mailbox")
    before = MigrationLoader(connection).project_state(("mailbox", name), at_end=False)
    with connection.schema_editor(atomic=migration.atomic) as editor:
        getattr(migration, how)(before, editor)


def indexes(table: str) -> set[str]:
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, table))


@pytest.mark.deep
def test_a_callback_of_the_version_before_keeps_its_target(alice, bob):
    task = factories.leased_task(alice, bob, callback_url=URL).task
    with migrating():
        pass

    config = PushConfig.objects.get()
    assert (config.task, config.url, config.protocol, config.next_attempt_at) == (task, URL, "callback", None)
    results.post_result(bob, factories.result_envelope(task))
    assert PushDelivery.objects.get().url == URL


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
    assert tell_due() == 1

    PushDelivery.objects.update(next_attempt_at=task.sent_at)
    assert callbacks.claim_due(limit=8) == []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM mailbox_pushconfig WHERE task_id = %s", [task.pk])
    assert PushDelivery.objects.finished().get().config is None


@pytest.mark.deep
def test_undone_migrations_leave_the_callbacks_alone(alice, bob):
    factories.leased_task(alice, bob, callback_url=URL)
    task = leased(alice, bob).task
    for _ in range(2):
        webhook(alice, task, URL)
    with migrating():
        assert "push_event_unique" not in indexes("mailbox_pushdelivery")

    assert [config.protocol for config in PushConfig.objects.all()] == ["callback"]
    assert {"push_event_unique", "push_telling", "push_due", "push_by_state"} <= indexes("mailbox_pushdelivery")
    assert {"push_config_id_unique", "push_config_open"} <= indexes("mailbox_pushconfig")
