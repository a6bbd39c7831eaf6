"""The hub's own database fails as a remote agent answers: the answer outlives it, and nothing is sent twice."""

import threading
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from agentcards import client, remote_calls
from agentcards.models import RemoteCall
from agentcards.official_client import client as official_client
from mailbox.background.remote_sender import CallPool
from mailbox.database import outages
from mailbox.models import Result
from mailbox.outbound import event_streams, exchange
from tests.support import factories
from tests.support.official_agents import BINDINGS
from tests.support.official_rounds import follow_all, look_until_done, made, said, sent
from tests.support.pauses import Patience, until
from tests.support.remote_rounds import look_all, result_of, submit_all, take_all

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("now")]

FAILURES = 3
OF_TRANSACTIONS = ("SAVEPOINT", "RELEASE", "ROLLBACK")


class Outage:
    """Refuses the next ``left`` statements."""

    left = 0

    def __call__(self, execute, sql, *arguments):
        if self.left and not sql.startswith(OF_TRANSACTIONS):
            self.left -= 1
            raise OperationalError("the database is away")
        return execute(sql, *arguments)


@pytest.fixture
def outage():
    with connection.execute_wrapper(outage := Outage()):
        yield outage


@pytest.fixture
def patience():
    """Let the test outlast outages as a carrier does, without a pause."""
    with outages.outlasting(patience := Patience()):
        yield patience


@pytest.fixture
def fails_at_each_answer(outage, patience, monkeypatch):
    """Let the database be away each time a remote agent answers, for several statements in a row."""

    def failing(act):
        def acted(*arguments, **named):
            answer = act(*arguments, **named)
            outage.left = FAILURES
            return answer

        return acted

    @contextmanager
    def opened(*arguments, **named):
        with real_opened(*arguments, **named) as stream:
            outage.left = FAILURES
            yield stream

    real_opened = event_streams.opened
    monkeypatch.setattr(event_streams, "opened", opened)
    monkeypatch.setattr(exchange, "exchange", failing(exchange.exchange))
    return outage


@pytest.mark.usefixtures("fails_at_each_answer")
def test_an_accepted_task_of_a_corvid_agent_is_polled_to_its_end(remote, rita, alice, now, patience):
    remote.looks = 2
    task = factories.sent_task(alice, rita, intent_text="work")

    submit_all()
    for _ in range(3):
        now.shift(3)
        look_all()

    assert (result_of(task).status, result_of(task).blocks) == ("ok", [{"type": "text", "text": "work: done"}])
    assert [text for _, text in said(task)] == ["", "step 1", "step 2"]
    assert len(remote.bodies) == 1
    assert len(patience.pauses) >= 4 * FAILURES


@pytest.mark.usefixtures("fails_at_each_answer")
@pytest.mark.parametrize("binding", BINDINGS)
def test_an_accepted_task_of_an_official_agent_is_polled_to_its_end(offie, olive, alice, now, binding):
    offie.binding = binding
    task = sent(alice, olive, "work")

    submit_all()
    look_until_done(now, task)

    assert result_of(task).status == "ok"
    assert (said(task), made(task)) == ([("agent", "step 1"), ("agent", "done")], {"out": "echo: work"})
    assert len(offie.sent) == 1


@pytest.mark.usefixtures("fails_at_each_answer")
def test_a_direct_answer_is_the_result(offie, olive, alice):
    task = sent(alice, olive, "message")

    submit_all()

    assert result_of(task).blocks == [{"type": "text", "text": "message: at once"}]
    assert len(offie.sent) == 1


@pytest.mark.usefixtures("fails_at_each_answer")
def test_what_a_stream_brings_is_stored_once(offie, olive, alice):
    offie.streams = True
    task = sent(alice, olive, "work")
    submit_all()

    follow_all()

    assert "SubscribeToTask" in offie.operations
    assert result_of(task).status == "ok"
    assert (said(task), made(task)) == ([("agent", "step 1"), ("agent", "done")], {"out": "echo: work"})
    assert len(offie.sent) == 1


@pytest.mark.usefixtures("fails_at_each_answer")
def test_a_refused_submission_is_the_task_s_error(remote, rita, alice):
    task = factories.sent_task(alice, rita, intent_text="refuse")

    submit_all()

    assert (result_of(task).error_message or "").startswith("Submit failed: HTTP 429")
    assert len(remote.bodies) == 1


def test_an_outage_before_the_submission_sends_it_once(offie, olive, alice, now, outage, patience):
    task = sent(alice, olive, "work")
    (call,) = take_all()
    outage.left = FAILURES

    remote_calls.submit(call)
    look_until_done(now, task)

    assert (result_of(task).status, len(offie.sent), len(patience.pauses)) == ("ok", 1, FAILURES)


def test_an_outage_is_no_error_of_the_task_and_ends_with_the_stop(remote, rita, alice, outage, patience, monkeypatch):
    submit = client.submit

    def submitted(*arguments, **named):
        remote_id = submit(*arguments, **named)
        outage.left = 1000
        return remote_id

    monkeypatch.setattr(client, "submit", submitted)
    patience.ends_after = 12
    factories.sent_task(alice, rita, intent_text="work")

    with pytest.raises(OperationalError):
        submit_all()
    outage.left = 0

    assert (patience.pauses[:3], max(patience.pauses), len(patience.pauses)) == ([0.1, 0.2, 0.4], 5.0, 12)
    assert not Result.objects.exists()
    assert RemoteCall.objects.get().lease.ended_at is None


def test_a_carrier_that_lost_a_slow_submission_to_another_sends_nothing(offie, olive, alice, now, monkeypatch):
    sent(alice, olive, "work")
    (call,) = take_all()

    def discover_late(address):
        offered = discover(address)
        now.shift(RemoteCall.SUBMISSION_LASTS * 2)
        (cut,) = remote_calls.cut(timezone.now())
        assert cut.claim_submission(timezone.now())
        now.shift(1)
        return offered

    discover = official_client.discover
    monkeypatch.setattr(official_client, "discover", discover_late)

    assert remote_calls.submit(call) is None
    assert offie.sent == []


def test_the_stop_of_a_pool_ends_the_calls_that_wait_for_the_database(monkeypatch):
    pool, failed = CallPool("test", set()), threading.Event()
    monkeypatch.setattr(outages, "FIRST_PAUSE", 3600.0)

    @outages.outlasted
    def store(_):
        failed.set()
        raise OperationalError("the database is away")

    pool.begin(store, "what an agent answered", agent=1)
    until(failed.is_set)
    pool.finish()
    pool.collect()

    assert not pool.held
