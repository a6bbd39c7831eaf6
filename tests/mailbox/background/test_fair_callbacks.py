"""No sender and no receiver takes the delivery slots of the others."""

import re
import threading

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from mailbox.background import courier
from mailbox.background.courier import AT_ONCE, MOST_TIMEOUTS, PAUSE, PER_SENDER, CircuitBreaker, Courier
from mailbox.life import outbox
from mailbox.life.delivery_slots import DeliverySlots
from mailbox.life.outbox import DeliveryOutcome
from mailbox.models import PushDelivery
from mailbox.outbound import destinations
from tests.support import factories
from tests.support.callback_rounds import claim_callbacks
from tests.support.remote_servers import raw_server

pytestmark = pytest.mark.django_db

TIMED_OUT = DeliveryOutcome(status=None, problem="no answer", timed_out=True)


def due(sender, count, url="https://slow{}.example/hook"):
    """Write due callbacks of the sender, each to a receiver of its own where ``url`` has a place for a number."""
    rows = [PushDelivery(sender=sender.agent, url=url.format(number)) for number in range(count)]
    for row in rows:
        row.task_uuid, row.body, row.created_at, row.next_attempt_at = row.delivery_id, "{}", *[timezone.now()] * 2
    return PushDelivery.objects.bulk_create(rows)


def hang(connection, over):
    over.wait()


@pytest.fixture
def hanging(monkeypatch):
    """Let every attempt wait until the test ends."""
    over = threading.Event()
    monkeypatch.setattr(courier, "attempt", lambda delivery: over.wait() and DeliveryOutcome(status=200))
    yield
    over.set()


@pytest.fixture
def sender(hanging):
    one = Courier()
    yield one
    one._threads.shutdown(wait=False)


def under_way(sender):
    return [delivery.sender_id for delivery in sender._under_way.values()]


def test_the_callback_of_another_agent_goes_out_in_the_next_round(alice, mallory, sender):
    due(mallory, 96)
    sender.look_around()
    assert under_way(sender) == [mallory.agent.pk] * PER_SENDER

    (other,) = due(alice, 1)
    sender.look_around()

    assert under_way(sender) == [*[mallory.agent.pk] * PER_SENDER, alice.agent.pk]
    assert PushDelivery.objects.get(pk=other.pk).attempts == 1


def test_a_claim_looks_past_thousands_of_callbacks_of_one_agent(alice, mallory):
    due(mallory, 3000)
    due(alice, 1)

    claimed = claim_callbacks(AT_ONCE, DeliverySlots(per_sender=8, per_receiver=8))

    assert [delivery.sender_id for delivery in claimed] == [*[mallory.agent.pk] * 8, alice.agent.pk]


SPELLINGS = [
    [
        "https://slow.example/a",
        "HTTPS://SLOW.example:443/b",
        "https://slow.example./c?d",
        "https://Slow.Example.:443#e",
    ],
    ["http://bücher.example/", "http://xn--bcher-kva.example:80/", "http://BÜCHER.example./"],
    ["http://[2606:4700::1111]/", "http://[2606:4700:0:0:0:0:0:1111]:80/", "http://[2606:4700:0000::1111]/x"],
    ["http://93.184.215.14/", "http://93.184.215.14.:80/", "http://user:key@93.184.215.14/"],
]


@pytest.mark.parametrize("spellings", SPELLINGS)
def test_every_spelling_of_a_receiver_counts_as_one(alice, bob, spellings):
    for name in ("one", "two", "three", "four"):
        due(factories.agent(name), 3, url=spellings[len(name) % len(spellings)])

    assert len({destinations.receiver(url) for url in spellings}) == 1
    assert len(claim_callbacks(AT_ONCE, DeliverySlots(per_receiver=8))) == 8


def test_receivers_of_other_ports_and_schemes_are_others():
    urls = ["https://slow.example/", "http://slow.example/", "https://slow.example:8443/", "https://slower.example/"]

    assert len({destinations.receiver(url) for url in urls}) == 4


def test_a_receiver_with_timeouts_in_a_row_is_paused():
    now, breaker = timezone.now(), CircuitBreaker()
    for _ in range(MOST_TIMEOUTS - 1):
        breaker.note("https://slow.example:443", TIMED_OUT, now)
    assert breaker.paused(now) == {}

    breaker.note("https://slow.example:443", TIMED_OUT, now)

    assert breaker.paused(now) == {"https://slow.example:443": now + PAUSE}
    assert breaker.paused(now + PAUSE) == {}
    breaker.note("https://slow.example:443", DeliveryOutcome(status=500), now)
    breaker.note("https://slow.example:443", TIMED_OUT, now)
    assert breaker.paused(now) == {}


def test_a_webhook_that_hangs_pauses_neither_the_others_of_its_receiver_nor_its_callbacks(alice, monkeypatch):
    one, now = Courier(), timezone.now()
    monkeypatch.setattr(outbox, "report", lambda *_: None)
    for config_id in [*[1] * MOST_TIMEOUTS, 2, None]:
        one.store(PushDelivery(url="https://slow.example/hook", config_id=config_id), TIMED_OUT)

    assert one._breaker.paused(now).keys() == {"webhook 1"}


def test_a_timeout_counts_once_however_often_its_outcome_cannot_be_stored(alice, monkeypatch):
    def fail(*_):
        raise OperationalError

    one, delivery = Courier(), PushDelivery(url="https://slow.example/hook")
    with monkeypatch.context() as patched:
        patched.setattr(outbox, "report", fail)
        for _ in range(MOST_TIMEOUTS):
            with pytest.raises(OperationalError):
                one.store(delivery, TIMED_OUT)
    monkeypatch.setattr(outbox, "report", lambda *_: None)
    one.store(delivery, TIMED_OUT)

    assert one._breaker.paused(timezone.now()) == {}


def test_a_paused_receiver_is_put_off_and_blocks_no_other(alice, bob):
    rows = due(bob, 40, url="https://slow.example/hook")
    (other,) = due(alice, 1, url="https://good.example/hook")
    until = timezone.now() + PAUSE

    claimed = claim_callbacks(AT_ONCE, DeliverySlots(paused={"https://slow.example:443": until}))

    assert [delivery.pk for delivery in claimed] == [other.pk]
    paused = PushDelivery.objects.filter(pk__in=[row.pk for row in rows])
    assert set(paused.values_list("next_attempt_at", "attempts")) == {(until, 0)}
    assert outbox.bring_back() == 0


def test_an_attempt_without_an_answer_in_time_is_a_timeout(alice, monkeypatch, loopback):
    monkeypatch.setattr(courier, "TIMEOUT", 0.2)
    with raw_server(hang) as silent:
        (delivery,) = due(alice, 1, url=f"{silent}/hook")
        assert courier.attempt(delivery).timed_out
    (nowhere,) = due(alice, 1, url="http://127.0.0.77:9009/hook")
    assert not courier.attempt(nowhere).timed_out


def test_a_claim_reads_due_callbacks_by_an_index(alice):
    under_way = due(alice, 3)
    with CaptureQueriesContext(connection) as looked:
        outbox.due(limit=8, slots=DeliverySlots(under_way, per_sender=3))

    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    with connection.cursor() as cursor:
        cursor.execute(f"{explain} {looked[0]['sql']}".replace("%", "%%"))
        plan = " ".join(str(row) for row in cursor.fetchall())
    assert "push_due" in plan or "push_by_state" in plan
    assert not re.search(r"SCAN mailbox_pushdelivery(?! USING INDEX)|Seq Scan", plan)
