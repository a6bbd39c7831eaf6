"""Rings reach the other processes through PostgreSQL, also after lost connections."""

import contextlib
import sys
import threading
import time
from itertools import count
from types import SimpleNamespace

import pytest
from django.db import connection

from mailbox.database.bell import postgresql, ringing, topics, waiters, watch
from mailbox.database.bell.postgresql import Listener, Ringer
from tests.support.pauses import until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no notifications"),
]

_numbers = count(1)


@pytest.fixture
def topic():
    """A topic that no other test rings."""
    return f"agent {next(_numbers) + 10**9}"


class EndingListener(Listener):
    """A listener whose thread can end."""

    is_over = False

    def run(self):
        with contextlib.suppress(SystemExit):
            super().run()

    def _listen(self):
        if self.is_over:
            sys.exit()
        super()._listen()


@pytest.fixture
def listening(monkeypatch, topic):
    """Return the ringer of a process that listens, and a waiter in it. All ringers are idle at the end."""
    begun = set()

    def begin(ringer, begin=Ringer._begin):
        begun.add(ringer)
        begin(ringer)

    monkeypatch.setattr(postgresql, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: None))
    monkeypatch.setattr(Ringer, "_begin", begin)
    own = Ringer()
    with waiters.waiting([topic]) as waiter:
        listener = EndingListener(own)
        thread = threading.Thread(target=listener.run, daemon=True)
        thread.start()
        until(waiters.is_hearing)
        waiter.look(lambda: None)
        yield own, waiter
        listener.is_over = True
        end_listening()
        thread.join()
    assert not waiters.is_hearing()
    for ringer in begun:
        with ringer._condition:
            ringer._renews_at = float("inf")
        ringer.flush()


def end_listening():
    """End every connection that listens or rings, as a restart of the database does."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND (query LIKE 'LISTEN %%' OR query LIKE '%%pg_notify%%') "
            "AND pid <> pg_backend_pid()"
        )


def test_a_ring_of_another_process_wakes_a_waiter(listening, topic):
    Ringer().add({topic: 1})

    assert listening[1].wait(None)


def test_a_process_does_not_hear_itself(listening, topic):
    own, waiter = listening
    own.add({topic: 1})
    own.flush()
    Ringer().add({"agent 1": 1})
    with waiters.waiting(["task 1"]) as other:
        Ringer().add({"task 1": 1})
        assert other.wait(None)

    assert not waiter.is_rung


def test_a_lost_connection_wakes_everybody_once_it_is_back(listening, topic):
    _, waiter = listening
    end_listening()

    assert waiter.wait(None)
    until(waiters.is_hearing)
    waiter.look(lambda: None)
    Ringer().add({topic: 1})
    assert waiter.wait(None)


def test_a_ringer_sends_again_after_it_lost_its_connection(listening, topic):
    _, waiter = listening
    ringer = Ringer()
    ringer.add({topic: 1})
    assert waiter.wait(None)
    end_listening()
    assert waiter.wait(None)
    until(waiters.is_hearing)
    waiter.look(lambda: None)

    ringer.add({topic: 1})

    assert waiter.wait(None)


def test_a_listener_without_an_echo_is_deaf(monkeypatch, topic):
    ringer = Ringer()
    monkeypatch.setattr(ringer, "add", lambda _: None)
    monkeypatch.setattr(postgresql, "ECHO_WITHIN", 0.05)

    with pytest.raises(postgresql.NoEchoError):
        Listener(ringer)._listen()
    assert not waiters.is_hearing()


def test_a_notification_commits_without_waiting_for_the_disk(monkeypatch):
    with connection.cursor() as cursor:
        cursor.execute(postgresql.NOTIFY, ["a2a_bell", ""])
        assert cursor.fetchone()[0] == "off"
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)


def test_a_ring_goes_to_other_processes_unless_a_waiter_here_was_rung(monkeypatch, topic):
    sent: list[object] = []
    monkeypatch.setattr(ringing, "ring_elsewhere", sent.append)
    with waiters.waiting([topic]):
        ringing.ring([topic, topic, "task 1"])

    assert sent == [{topic: 1, "task 1": 1}]


def test_a_notification_is_shorter_than_postgresql_takes():
    rung = {f"task {number:032x}": 1 + number % 3 for number in range(1000)}
    announced = frozenset(f"agent {number}" for number in range(topics.MOST_NAMED))
    texts = list(postgresql.payloads("a" * 16, [*postgresql.lines(rung, announced)]))
    again = [postgresql.read(text) for text in texts]

    assert max(map(len, texts)) < 8000
    assert len(texts) > 1
    assert {name for name, _, _ in again} == {"a" * 16}
    assert {topic: count for _, counts, _ in again for topic, count in counts.items()} == rung
    assert {topic for _, _, named in again for topic in named} == {"", *announced}


@pytest.mark.parametrize(
    "text", ["", "\n", "x\ny", "x\n1", "x\n-1 agent 1", "x\n+", "x\n1\u00b2 agent 1", "x\n" + "9" * 5_000 + " agent 1"]
)
def test_a_foreign_notification_rings_nothing(text, topic):
    with waiters.waiting([topic]) as waiter:
        Listener(Ringer())._hear(text)

        assert not waiter.is_rung
        assert topics._elsewhere.processes == {}


def test_a_listener_survives_an_unexpected_error(listening, monkeypatch, topic):
    _, waiter = listening
    raised: list[int] = []
    wake = waiters.wake

    def fail(*given, **named):
        if raised:
            return wake(*given, **named)
        raised.append(1)
        raise ValueError("unexpected")

    monkeypatch.setattr(waiters, "wake", fail)
    Ringer().add({topic: 1})
    until(lambda: raised)

    assert waiter.wait(None)
    until(waiters.is_hearing)


def test_a_ringer_survives_an_unexpected_error(listening, monkeypatch, topic):
    ringer = Ringer()
    raised = []

    def fail(said):
        raised.append(said)
        raise ValueError("unexpected")

    with monkeypatch.context() as patch:
        patch.setattr(ringer, "_send", fail)
        ringer.add({topic: 1})
        until(lambda: raised)

    ringer.add({topic: 1})

    assert listening[1].wait(None)


def no_thread(_):
    raise RuntimeError("can't start new thread")


def test_a_ringer_without_a_thread_drops_its_rings_and_starts_later(listening, monkeypatch, topic):
    ringer = Ringer()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread)
        ringer.add({topic: 1})
        ringer.announce([topic])
    assert (ringer._rung, ringer._announced) == ({}, frozenset())

    ringer.add({topic: 1})

    assert listening[1].wait(None)


@pytest.fixture
def known(monkeypatch):
    """Let this process know at once the topics that others wait for."""
    monkeypatch.setattr(topics, "COMPLETE_AFTER", 0.0)
    monkeypatch.setattr(watch, "_early", watch._Early())


def test_a_process_announces_its_waiters_and_withdraws_them(known, monkeypatch, listening, topic):
    monkeypatch.setattr(topics, "RENEWED_EVERY", 0.05)
    until(topics.is_nobody)
    other = Ringer()

    other.announce([topic])
    until(lambda: topics.wanted({topic: 1, "agent 1": 2, "task 1": 1}) == {topic: 1})
    listening[1].wait_for(["task 1"])
    other.announce(["task 2"])
    until(lambda: topics.wanted({topic: 1, "agent 1": 2, "task 1": 1}) == {"task 1": 1})
    listening[1].wait_for([])
    until(topics.is_nobody)


def test_a_waiter_is_announced_before_it_waits_and_renewed(known, monkeypatch, listening, topic):
    own, waiter = listening
    said: list[list[str]] = []
    monkeypatch.setattr(topics, "RENEWED_EVERY", 0.05)
    monkeypatch.setattr(waiters, "_announce", [own.announce])
    monkeypatch.setattr(own, "_send_or_drop", said.append)
    assert not waiter.wait(0)
    assert len(watch._early.at) == len(watch.EARLY)
    until(lambda: len(said) >= 2)
    watch._early.at.clear()
    assert not waiter.wait(0)
    waiter.wait_for([])
    until(lambda: said[-1] == ["+ "])

    assert {tuple(sorted(lines)) for lines in said[:-1]} == {("+ ", f"+ {topic}", "+ round")}
    assert watch._early.at == []
    assert own._renews_at == float("inf")


def test_a_lost_connection_makes_the_waiters_of_others_unknown(known, listening, monkeypatch):
    until(topics.is_nobody)
    monkeypatch.setattr(topics, "COMPLETE_AFTER", 60.0)
    end_listening()

    until(topics.is_unknown)
    assert topics.wanted({"agent 1": 1}) == {"agent 1": 1}
    until(waiters.is_hearing)


def test_a_process_that_rings_often_hears_who_waits(monkeypatch):
    monkeypatch.setattr(ringing, "_notifies", lambda: True)
    heard: list[str] = []
    monkeypatch.setattr(postgresql.ringer, "add", lambda _: None)
    monkeypatch.setattr(ringing, "hear", lambda: heard.append("hear"))
    monkeypatch.setattr(ringing, "_rings", count(1))
    for _ in range(ringing.FEW):
        ringing.ring(["agent 1"])
    assert not heard

    ringing.ring(["agent 1"])

    assert heard == ["hear"]
