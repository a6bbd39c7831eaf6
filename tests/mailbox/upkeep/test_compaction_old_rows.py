from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from mailbox.access.agents import peers
from mailbox.access.callers import Caller
from mailbox.access.limits import rates
from mailbox.life import outbox, results
from mailbox.life.outbox import DeliveryOutcome
from mailbox.models import Peer, PushAttempt, PushDelivery, RateWindow
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from tests.support import factories
from tests.support.callback_rounds import claim_callbacks

pytestmark = pytest.mark.django_db
NOW = timedelta(0)


def delivery(alice, state, age, task_uuid=None):
    at = timezone.now() - age
    made = PushDelivery.objects.create(
        task_uuid=task_uuid or uuid4(),
        sender=factories.row_of(alice),
        url="https://hooks.example/",
        body='{"result":"secret"}',
        created_at=at,
        next_attempt_at=at,
        state=state,
    )
    PushAttempt.objects.create(delivery=made, number=1, at=at, status=200)
    return made


def test_old_callbacks_are_deleted_with_their_attempts_and_waiting_ones_stay(alice):
    old, young = timedelta(days=31), timedelta(days=29)
    kept = [
        delivery(alice, PushDelivery.State.PENDING, old),
        delivery(alice, PushDelivery.State.DELIVERED, young),
        delivery(alice, PushDelivery.State.DISABLED, young),
    ]
    delivery(alice, PushDelivery.State.DELIVERED, old)
    delivery(alice, PushDelivery.State.DISABLED, old)

    assert compaction.tidy() == 2
    assert list(PushDelivery.objects.order_by("pk")) == kept
    assert PushAttempt.objects.count() == 3


def test_old_callbacks_are_deleted_in_batches(alice, monkeypatch):
    monkeypatch.setattr(compaction, "BATCH", 2)
    for _ in range(5):
        delivery(alice, PushDelivery.State.DELIVERED, timedelta(days=31))

    assert compaction.tidy() == 5


@pytest.mark.parametrize(("locked", "tries"), [(0, 3), (2, 1)])
def test_old_callbacks_that_are_locked_elsewhere_wait_for_the_next_sweep(alice, monkeypatch, locked, tries):
    seen = []

    def drop(some):
        seen.append(drop_callbacks(some.exclude(pk__in=held)))
        return seen[-1]

    drop_callbacks = compaction.drop_callbacks
    monkeypatch.setattr(compaction, "BATCH", 2)
    monkeypatch.setattr(compaction, "drop_callbacks", drop)
    held = [delivery(alice, PushDelivery.State.DELIVERED, timedelta(days=31)).pk for _ in range(5)][:locked]

    compaction.tidy()

    assert (len(seen), PushDelivery.objects.count()) == (tries, 5 - sum(seen))


def _resolved(alice, bob):
    lease = factories.leased_task(alice, bob, callback_url="https://hooks.example/")
    return results.post_result(bob, factories.result_envelope(lease.task))


def test_a_compaction_deletes_the_finished_callbacks_of_its_tasks(alice, bob):
    resolved, other = (_resolved(alice, bob), _resolved(alice, bob))
    (claimed, _) = claim_callbacks(2)
    outbox.report(claimed, DeliveryOutcome(status=200))
    results.drain_results(alice, limit=2)

    assert compaction.compact(Caller.local(), Retention(delivered=NOW)) == 2

    assert claimed.task_uuid == resolved.task.uuid
    assert PushDelivery.objects.get().task_uuid == other.task.uuid


def test_a_peer_that_was_silent_for_long_is_deleted(alice):
    peers.seen(alice, "silent")
    peers.seen(alice, "alive")
    Peer.objects.filter(peer_id="silent").update(last_seen_at=timezone.now() - timedelta(days=31))

    compaction.tidy()

    assert Peer.objects.get().peer_id == "alive"


def test_rate_windows_without_a_request_in_a_week_are_deleted(alice):
    for key in ("old", "busy", "new"):
        rates.take_from_window(f"test: {key}", limit=5, window=timedelta(hours=1))
    eight_days = timezone.now() - timedelta(days=8)
    moment = (eight_days - rates.EPOCH) // rates.MICROSECOND
    RateWindow.objects.exclude(key="test: new").update(started_at=eight_days)
    RateWindow.objects.filter(key="test: old").update(counted=f"[[{moment},1]]")

    compaction.tidy()

    assert set(RateWindow.objects.values_list("key", flat=True)) == {"test: busy", "test: new"}


def test_expired_sessions_are_deleted():
    for key, days in (("expired", -1), ("alive", 1)):
        Session.objects.create(session_key=key, session_data="", expire_date=timezone.now() + timedelta(days=days))

    compaction.tidy()

    assert Session.objects.get().session_key == "alive"
