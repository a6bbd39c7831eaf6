"""Couriers of two processes at work at once, in real threads."""

from __future__ import annotations

import threading

import pytest
from django.db import connections

from mailbox.background.courier import Courier
from mailbox.life import push_configs, results, updates
from mailbox.models import PushConfig, PushDelivery
from mailbox.words.conversation import Update
from tests.support import factories
from tests.support.factories import text
from tests.support.races import race
from tests.support.receiver import receiver
from tests.support.watching import watched
from tests.support.webhook_rounds import leased, told, webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("loopback")]
TASKS, EVENTS = 4, 6


def test_two_couriers_tell_every_event_once_and_in_order(alice, bob, monkeypatch):
    rounds = watched(monkeypatch, Courier, "look_around")
    with receiver() as hook, Couriers(2) as couriers:
        tasks = [leased(alice, bob).task for _ in range(TASKS)]
        for task in tasks:
            webhook(alice, task, f"{hook.url}?{task.uuid}")
        for number in range(EVENTS):
            for task in tasks:
                updates.post_updates(bob, task.uuid, [Update(message=text(f"{task.pk} {number}"))])
        for task in tasks:
            results.post_result(bob, factories.result_envelope(task, content=()))
        rounds.until(lambda: not PushConfig.objects.open().exists() or couriers.failed)

    assert not couriers.failed
    for task in tasks:
        mine = [line for line in told(hook) if line.startswith(f"WORKING: {task.pk} ")]
        assert mine == [f"WORKING: {task.pk} {number}" for number in range(EVENTS)]
    assert told(hook).count("COMPLETED") == TASKS
    assert PushDelivery.objects.exclude(attempts=1).count() == 0


def test_a_running_courier_hears_of_a_new_webhook_and_of_the_events_of_its_task(alice, bob, monkeypatch):
    stores = watched(monkeypatch, Courier, "store")
    with receiver() as hook, Couriers(1):
        task = leased(alice, bob).task
        webhook(alice, task, hook.url)
        updates.post_updates(bob, task.uuid, [Update(message=text("one"))])
        stores.until(lambda: told(hook) == ["WORKING: one"])
        updates.post_updates(bob, task.uuid, [Update(message=text("two"))])
        stores.until(lambda: told(hook) == ["WORKING: one", "WORKING: two"])


def test_twenty_one_webhooks_set_at_once_are_twenty(alice, bob):
    task = leased(alice, bob).task
    for number in range(17):
        webhook(alice, task, "https://hooks.example/", config_id=f"n{number}")

    outcomes = race(*[lambda: webhook(alice, task, "https://hooks.example/")] * 4)

    assert sorted(outcome.code or "" for outcome in outcomes) == ["", "", "", "invalid_request"]
    assert PushConfig.objects.count() == push_configs.MOST_OF_A_TASK


class Couriers:
    """Couriers that run in threads for the block."""

    def __init__(self, count: int) -> None:
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(count)]
        self.failed: list[BaseException] = []

    def __enter__(self) -> Couriers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        try:
            Courier().run(self._stop)
        except BaseException as error:  # noqa: BLE001 the test shows it
            self.failed.append(error)
        finally:
            connections.close_all()
