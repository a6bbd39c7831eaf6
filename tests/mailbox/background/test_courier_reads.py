"""The reads of a courier: each row of a task once, for any number of events and webhooks."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.background.courier import Courier
from mailbox.inspection import event_log, task_events
from mailbox.life import results, updates
from mailbox.life.delivery_slots import DeliverySlots
from mailbox.life.outbox import DeliveryOutcome
from mailbox.models import PushConfig
from mailbox.words import json_text
from mailbox.words.a2a.fold import Fold
from mailbox.words.conversation import Update
from mailbox.words.push import PushProtocol
from tests.support import factories, talking
from tests.support.webhook_rounds import leased, webhook, words_of

pytestmark = pytest.mark.django_db
HOOK, OTHER = "https://hooks.example/one", "https://hooks.example/other"


@pytest.fixture
def read(monkeypatch):
    """Return the list to which each read of rows adds their numbers."""
    reads, rows_after = [], task_events.rows_after

    def noted(*args):
        rows = rows_after(*args)
        reads.append([row.seq for row in rows])
        return rows

    monkeypatch.setattr(task_events, "rows_after", noted)
    return reads


def told(courier, *, most=1000):
    """Let the courier tell up to ``most`` events, each accepted; return the webhooks' URLs and the events."""
    events: list[tuple[str, str]] = []
    while len(events) < most and (claimed := list(courier.claim(1, DeliverySlots()))):
        for delivery in claimed:
            events.append((delivery.url, words_of(json_text.loads(delivery.body))))
            courier.store(delivery, DeliveryOutcome(status=204, problem=""))
    return events


def say(bob, task, *words):
    updates.post_updates(bob, task.uuid, [Update(message=factories.text(word)) for word in words])


def working(url, *words):
    return [(url, f"WORKING: {word}") for word in words]


def numbers_in(reads):
    return [seq for rows in reads for seq in rows]


def numbers(count):
    return [f"n{number}" for number in range(count)]


def test_rows_that_wait_together_are_read_once(alice, bob, read):
    task = leased(alice, bob).task
    webhook(alice, task, HOOK)
    say(bob, task, *numbers(30))

    assert told(Courier()) == working(HOOK, *numbers(30))
    assert numbers_in(read) == list(range(1, task.journal_seq + 31))


def test_rows_that_come_one_after_another_are_read_once(alice, bob, read):
    task, courier = leased(alice, bob).task, Courier()
    webhook(alice, task, HOOK)
    for word in numbers(12):
        say(bob, task, word)
        assert told(courier) == working(HOOK, word)

    assert numbers_in(read) == list(range(1, task.journal_seq + 13))


def test_an_event_costs_the_same_statements_however_many_are_before_it(alice, bob):
    task, courier = leased(alice, bob).task, Courier()
    webhook(alice, task, HOOK)
    say(bob, task, *numbers(25))
    told(courier, most=1)
    costs = set()
    for _ in range(24):
        with CaptureQueriesContext(connection) as queries:
            assert len(told(courier, most=1)) == 1
        costs.add(len(queries))

    assert len(costs) == 1


def test_webhooks_at_different_positions_share_what_was_read(alice, bob, read):
    task, courier = leased(alice, bob).task, Courier()
    webhook(alice, task, HOOK)
    say(bob, task, "one", "two")
    told(courier)
    webhook(alice, task, OTHER)
    PushConfig.objects.filter(url=OTHER).update(told_seq=1)  # as a webhook that came with the task
    say(bob, task, "three")

    events = told(courier)

    assert [event for event in events if event[0] == HOOK] == working(HOOK, "three")
    assert [event for event in events if event[0] == OTHER] == [
        (OTHER, "WORKING"),
        *working(OTHER, "one", "two", "three"),
    ]
    assert numbers_in(read) == [1, 2, 3, 4, 5]


def test_a_courier_goes_on_where_another_process_stopped(alice, bob, read):
    task, first, second = leased(alice, bob).task, Courier(), Courier()
    webhook(alice, task, HOOK)
    say(bob, task, *numbers(6))

    events = [*told(first, most=2), *told(second, most=2), *told(first, most=1), *told(second)]

    assert events == working(HOOK, *numbers(6))
    assert read == [list(range(1, 9))] * 2


def test_a_replaced_webhook_goes_on_from_its_position(alice, bob):
    task, courier = leased(alice, bob).task, Courier()
    webhook(alice, task, HOOK, config_id="mine")
    say(bob, task, "one", "two")
    assert told(courier, most=1) == working(HOOK, "one")
    webhook(alice, task, OTHER, config_id="mine")
    say(bob, task, "three")

    assert told(courier) == working(OTHER, "two", "three")


def test_a_life_that_was_dropped_is_read_again(alice, bob, read, monkeypatch):
    monkeypatch.setattr(event_log, "MOST_BYTES", 1)  # so that one life is kept
    tasks, courier = [leased(alice, bob).task for _ in range(2)], Courier()
    for task, url in zip(tasks, (HOOK, OTHER), strict=True):
        webhook(alice, task, url)
        say(bob, task, "one", "two")

    events = told(courier)

    for url in (HOOK, OTHER):
        assert [event for event in events if event[0] == url] == working(url, "one", "two")
    assert read == [[1, 2, 3, 4]] * 4


def test_an_event_is_told_by_the_whole_task_to_a_receiver_of_0_3(alice, bob, read):
    task, courier = leased(alice, bob).task, Courier()
    webhook(alice, task, HOOK, protocol=PushProtocol.V0_3)
    bodies = []
    for word in ("one", "two"):
        say(bob, task, word)
        (delivery,) = courier.claim(1, DeliverySlots())
        bodies.append(json_text.loads(delivery.body))
        courier.store(delivery, DeliveryOutcome(status=204, problem=""))

    assert [body["status"]["message"]["parts"][0]["text"] for body in bodies] == ["one", "two"]
    assert [said["parts"][0]["text"] for said in bodies[1]["history"]][1:] == ["one"]
    assert read == [[1, 2, 3], [4]]


def test_a_row_that_broke_the_fold_once_is_not_passed_over(alice, bob, monkeypatch, time_machine):
    task, courier = leased(alice, bob).task, Courier()
    config = webhook(alice, task, HOOK)
    say(bob, task, "one")
    told(courier)
    add = Fold.add
    broken: set[int] = set()

    def break_once(fold, row):
        events = add(fold, row)
        if row.seq == 4 and not broken:
            broken.add(row.seq)
            raise ValueError("a bug")
        return events

    monkeypatch.setattr(Fold, "add", break_once)
    say(bob, task, "two")
    results.post_result(bob, factories.result_envelope(task, content=()))

    assert told(courier) == []
    PushConfig.objects.filter(pk=config.pk).update(next_attempt_at=task.sent_at)
    assert told(courier) == [*working(HOOK, "two"), (HOOK, "COMPLETED")]
    assert broken


def test_chunks_are_joined_from_what_was_kept(alice, bob, read):
    task, courier = leased(alice, bob).task, Courier()
    webhook(alice, task, HOOK)
    talking.made(bob, task, "a", artifact_id="poem")
    assert told(courier) == [(HOOK, "poem: a")]
    for word in ("b", "c"):
        talking.made(bob, task, word, artifact_id="poem", append=True)

    assert told(courier) == [(HOOK, "poem: bc")]
    assert read == [[1, 2, 3], [4, 5]]
