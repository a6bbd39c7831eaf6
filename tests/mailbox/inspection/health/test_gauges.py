"""The numbers for monitoring. tests/mailbox/inspection/plans/test_lists.py looks at the plans of their queries."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.inspection.health import gauges
from mailbox.inspection.health.gauges import AgentQueue
from mailbox.models import AuditEvent, PushDelivery, Task
from mailbox.upkeep import rollups
from tests.support import factories

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def read(now=None, most_agents=100):
    return gauges.read(now or timezone.now(), stale_after=5 * MINUTE, most_agents=most_agents)


def callback(caller, **fields):
    return PushDelivery.objects.create(
        task_uuid=factories.sent_task(caller, caller).uuid,
        sender=caller.agent,
        url="https://example.org/",
        body="{}",
        created_at=timezone.now(),
        **{"next_attempt_at": timezone.now(), **fields},
    )


def test_a_new_hub_has_no_backlog():
    found = read()

    assert (found.queues, found.queued, found.leased, found.callbacks, found.sums.ok) == ([], 0, 0, 0, 0)
    assert (found.oldest_lease, found.oldest_result, found.oldest_callback, found.swept) == (None,) * 4


def test_the_queues_and_leases_are_counted_with_their_ages(alice, bob):
    began = timezone.now()
    with time_machine.travel(began, tick=False) as clock:
        factories.leased_task(alice, bob)
        clock.shift(6 * MINUTE)
        factories.leased_task(alice, bob)
        clock.shift(MINUTE)
        factories.resolved_task(alice, bob)
        factories.sent_task(alice, bob)
        factories.sent_task(alice, bob)
        clock.shift(MINUTE)
        found = read()

    assert found.queues == [AgentQueue("bob@local", 2, 2, MINUTE)]
    assert (found.queued, found.leased, found.stale, found.oldest_lease) == (2, 2, 1, 8 * MINUTE)
    assert (found.pending, found.oldest_result) == (1, MINUTE)
    assert found.journal == max(AuditEvent.objects.values_list("pk", flat=True))


def test_only_the_busiest_agents_have_a_queue_of_their_own(alice, bob):
    carol = factories.agent("carol")
    for recipient, count in ((bob, 1), (carol, 3)):
        for _ in range(count):
            factories.sent_task(alice, recipient)

    assert [queue.agent for queue in read(most_agents=1).queues] == ["carol@local"]
    assert [queue.agent for queue in read(most_agents=9).queues] == ["carol@local", "bob@local"]
    assert read(most_agents=0).queues == []


def test_a_number_stops_at_its_bound(alice, bob, monkeypatch):
    monkeypatch.setattr(gauges, "COUNTED_TO", 2)
    monkeypatch.setattr(gauges, "QUEUED_TO", 3)
    for _ in range(5):
        factories.sent_task(alice, bob)

    found = read()

    assert (found.queued, found.queues[0].queued) == (2, 3)


def test_callbacks_are_counted_by_how_they_fare(alice):
    now = timezone.now()
    callback(alice, next_attempt_at=now - 3 * MINUTE)
    callback(alice, attempts=2)
    callback(alice, attempts=3, forgiven=2)
    callback(alice, state=PushDelivery.State.TELLING, attempts=4)
    callback(alice, state=PushDelivery.State.DELIVERED)
    callback(alice, state=PushDelivery.State.DISABLED)

    found = read(now)

    assert (found.callbacks, found.failing, found.given_up) == (4, 2, 1)
    assert found.oldest_callback == 3 * MINUTE


def test_results_are_summed_up_once_their_minute_is_over(alice, bob):
    factories.resolved_task(alice, bob)

    assert read().sums.ok == 0
    rollups.roll(timezone.now() + 5 * MINUTE)
    assert (read().sums.ok, read().sums.queued_in) == (1, 1)


def test_an_empty_hub_takes_as_many_queries(django_assert_num_queries):
    assert Task.objects.count() == 0
    with django_assert_num_queries(gauges.QUERIES):
        read()
