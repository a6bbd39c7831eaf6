"""The courier and callbacks: broken receivers do not delay others, and no callback that arrived is sent again."""

import base64
import contextlib
import hashlib
import hmac
import threading
from datetime import timedelta

import pytest
from django.db import DataError, connection

from mailbox.background import courier
from mailbox.background.courier import Courier
from mailbox.database.bell import ringing
from mailbox.life import outbox, push_configs, results
from mailbox.life.outbox import DeliveryOutcome
from mailbox.models import PushDelivery
from mailbox.words.errors import InvalidRequestError
from tests.support import factories
from tests.support.callback_rounds import claim_callbacks, deliver_due, deliver_until
from tests.support.receiver import receiver
from tests.support.remote_servers import raw_server
from tests.support.watching import watched

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]
NOWHERE = "http://127.0.0.77:9009/hook"
State = PushDelivery.State


def written(alice, bob, url):
    lease = factories.leased_task(alice, bob, callback_url=url)
    results.post_result(bob, factories.result_envelope(lease.task))
    return PushDelivery.objects.get(task_uuid=lease.task.uuid)


def states(*deliveries):
    return [PushDelivery.objects.get(pk=one.pk).state for one in deliveries]


def hang(connection, over):
    over.wait()


@contextlib.contextmanager
def going():
    """Yield a sender; wait for its attempts when the block ends."""
    one = Courier()
    yield one
    one.finish()


def test_a_signature_covers_the_id_the_time_and_the_body():
    headers = courier.signature("msg_1", b"{}", "secret")

    signed = f"msg_1.{headers['webhook-timestamp']}.{{}}".encode()
    digest = hmac.new(b"secret", signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"


def test_a_broken_receiver_does_not_delay_others(alice, bob):
    with receiver() as redirecting, receiver() as good:
        redirecting.statuses, redirecting.extra = [302], {"Location": "http://127.0.0.1:1/"}
        for seen in (redirecting, good):
            written(alice, bob, seen.url)
        written(alice, bob, NOWHERE)

        assert deliver_due() == 3

    by_url = {row.url: row for row in PushDelivery.objects.all()}
    assert by_url[good.url].state == State.DELIVERED
    assert by_url[redirecting.url].log.get().status == 302
    assert by_url[NOWHERE].log.get().problem


def test_receivers_that_hang_do_not_delay_others(alice, bob):
    senders = [alice, *(factories.agent(name, "a2a.send.*") for name in ("anna", "cora"))]
    with going() as one, receiver() as good, contextlib.ExitStack() as servers:
        silent = [servers.enter_context(raw_server(hang)) for _ in range(20)]
        for number, url in enumerate(silent):
            written(senders[number % 3], bob, f"{url}/hook")
        healthy = written(alice, bob, good.url)

        deliver_until(one, lambda: states(healthy) == [State.DELIVERED])
        assert len(one._under_way) == 20

    assert len(good.calls) == 1
    assert PushDelivery.objects.filter(state=State.PENDING, attempts=1).exclude(log__problem="").count() == 20


def test_a_receiver_that_hangs_occupies_few_threads(alice, bob):
    with going() as one, receiver() as good, raw_server(hang) as silent:
        senders = [factories.agent(f"agent{number}", "a2a.send.*") for number in range(8)]
        for number in range(courier.AT_ONCE + 8):
            written(senders[number % 8], bob, f"{silent}/hook")
        healthy = written(alice, bob, good.url)

        deliver_until(one, lambda: states(healthy) == [State.DELIVERED])
        assert len(one._under_way) == courier.PER_RECEIVER

    assert PushDelivery.objects.filter(attempts=0).count() == courier.AT_ONCE


def test_a_free_thread_takes_the_next_delivery(alice, bob, monkeypatch):
    monkeypatch.setattr(courier, "AT_ONCE", 2)
    with going() as one, receiver() as good, raw_server(hang) as silent:
        hanging = written(alice, bob, f"{silent}/hook")
        healthy = [written(alice, bob, good.url) for _ in range(5)]

        deliver_until(one, lambda: states(*healthy) == [State.DELIVERED] * 5)
        assert states(hanging) == [State.PENDING]
        assert len(one._under_way) == 1

    assert hanging.log.count() == 1


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n"])
def test_a_success_status_counts_however_slow_the_body_is(alice, bob, drip, head):
    with raw_server(drip.converse(head)) as slow:
        slowly = written(alice, bob, f"{slow}/hook")
        deliver_due()

    assert states(slowly) == [State.DELIVERED]


@pytest.mark.parametrize(("status", "state"), [(200, State.DELIVERED), (503, State.PENDING)])
def test_only_the_beginning_of_a_large_answer_is_read(alice, bob, status, state):
    with receiver() as flooding:
        flooding.statuses, flooding.body = [status], b"sorry " * 2_000_000
        one = written(alice, bob, flooding.url)
        deliver_due()

    assert states(one) == [state]
    assert one.log.get().status == status
    assert len(one.log.get().problem) < 1100


def test_unstorable_characters_of_an_answer_are_replaced(alice, bob):
    with receiver() as strange, receiver() as good:
        strange.statuses, strange.body = [500], b"out of \x00 ink \xff"
        failed, healthy = written(alice, bob, strange.url), written(alice, bob, good.url)
        deliver_due()

    assert states(failed, healthy) == [State.PENDING, State.DELIVERED]
    assert failed.log.get().problem == "the receiver answered 500: out of \ufffd ink \ufffd"


def test_an_outcome_that_cannot_be_stored_does_not_stop_others(alice, bob, monkeypatch):
    failed, healthy = written(alice, bob, NOWHERE), None
    report = outbox.report

    def refuse(delivery, outcome):
        if delivery.pk == failed.pk:
            raise DataError("not that one")
        report(delivery, outcome)

    monkeypatch.setattr(outbox, "report", refuse)
    with receiver() as good:
        healthy = written(alice, bob, good.url)
        deliver_due()

    assert states(failed, healthy) == [State.PENDING, State.DELIVERED]


def test_an_internal_error_is_recorded_as_an_outcome(alice, bob, monkeypatch):
    def fail(*_):
        raise KeyError

    monkeypatch.setattr(courier, "headers", fail)
    one = written(alice, bob, NOWHERE)

    deliver_due()

    assert one.log.get().problem == "the hub itself failed: KeyError"


def test_the_error_for_an_invalid_host_does_not_show_the_url():
    with pytest.raises(InvalidRequestError) as refusal:
        push_configs.judge("http://xn--127/hook")

    assert refusal.value.fields == {"callback_url": "the hub cannot call this URL"}


def test_a_stored_url_with_an_invalid_host_is_recorded_as_an_outcome(alice, bob, caplog):
    one = written(alice, bob, NOWHERE)
    PushDelivery.objects.update(url="http://xn--127/hook")

    deliver_due()

    assert one.log.get().problem.startswith("A2A: no answer from http://xn--127/hook")
    assert not caplog.records


def test_an_attempt_of_a_dead_process_is_recorded_and_repeated(alice, bob, time_machine):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    written(alice, bob, NOWHERE)
    (claimed,) = claim_callbacks(1)
    assert list(claim_callbacks(1)) == []

    time_machine.shift(outbox.REPORT_TIMEOUT)

    (again,) = claim_callbacks(1)
    assert again.pk == claimed.pk
    assert again.attempts == 2
    lost = again.log.get()
    assert (lost.number, lost.status, lost.problem) == (1, None, outbox.LOST)


def test_a_late_outcome_does_not_change_the_next_attempt(alice, bob, time_machine):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    one = written(alice, bob, NOWHERE)
    (first,) = claim_callbacks(1)
    time_machine.shift(outbox.REPORT_TIMEOUT)
    (second,) = claim_callbacks(1)
    outbox.report(second, DeliveryOutcome(status=200))

    outbox.report(first, DeliveryOutcome(status=None, problem="too late"))

    assert states(one) == [State.DELIVERED]
    assert [(entry.number, entry.problem) for entry in one.log.order_by("number")] == [(1, "too late"), (2, "")]


def test_a_callback_that_arrived_after_an_erasure_gave_it_up_is_delivered(alice, bob):
    one = written(alice, bob, NOWHERE)
    (claimed,) = claim_callbacks(1)
    PushDelivery.objects.update(state=State.DISABLED)

    outbox.report(claimed, DeliveryOutcome(status=500, problem="no"))
    assert states(one) == [State.DISABLED]
    outbox.report(claimed, DeliveryOutcome(status=200))

    assert states(one) == [State.DELIVERED]


def test_an_idle_sender_takes_no_lock(alice, bob, django_assert_num_queries):
    written(alice, bob, NOWHERE)
    PushDelivery.objects.update(next_attempt_at=PushDelivery.objects.get().created_at + timedelta(hours=1))

    with django_assert_num_queries(2) as looked:
        Courier().look_around()

    assert all(query["sql"].startswith("SELECT") for query in looked)
    assert not any("FOR UPDATE" in query["sql"] for query in looked)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("wakes", ["by its clock", "by rings"])
def test_the_sender_delivers_until_it_is_stopped(alice, bob, monkeypatch, wakes):
    if wakes == "by rings":
        monkeypatch.setattr(ringing, "begin", lambda: None)
        monkeypatch.setattr(courier, "LONGEST_PAUSE", 3600)
    stores = watched(monkeypatch, Courier, "store")
    stop = threading.Event()
    running = threading.Thread(target=work, args=(stop,))
    with receiver() as seen:
        running.start()
        try:
            first = written(alice, bob, seen.url)
            stores.until(lambda: states(first) == [State.DELIVERED])
            second = written(alice, bob, seen.url)
            stores.until(lambda: states(second) == [State.DELIVERED])
        finally:
            stop.set()
            running.join()

    assert len(seen.calls) == 2


def work(stop):
    try:
        Courier().run(stop)
    finally:
        connection.close()
