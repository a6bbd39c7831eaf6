"""Rings reach the other processes through PostgreSQL, also after lost connections."""

from __future__ import annotations

import contextlib
import sys
import threading
from itertools import count

import pytest
from django.db import connection

from mailbox.database.bell import hearing, postgresql, ringing, waiters
from mailbox.database.bell.postgresql import Listener, Ringer
from tests.support.hub import PATIENCE, wait_until

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
    """Return the ringer of a process that listens, and a waiter in it."""
    monkeypatch.setattr(postgresql, "PAUSE", 0.02)
    own = Ringer()
    with waiters.waiting([topic]) as waiter:
        listener = EndingListener(own)
        thread = threading.Thread(target=listener.run, daemon=True)
        thread.start()
        wait_until(hearing.is_on)
        waiter.look(lambda: None)
        yield own, waiter
        listener.is_over = True
        end_listening()
        wait_until(lambda: not thread.is_alive())
    assert not hearing.is_on()


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

    assert listening[1].wait(PATIENCE)


def test_a_process_does_not_hear_itself(listening, topic):
    own, waiter = listening
    own.add({topic: 1})
    own.flush()
    Ringer().add({"agent 1": 1})
    with waiters.waiting(["task 1"]) as other:
        Ringer().add({"task 1": 1})
        assert other.wait(PATIENCE)

    assert not waiter.is_rung


def test_a_lost_connection_wakes_everybody_once_it_is_back(listening, topic):
    _, waiter = listening
    end_listening()

    assert waiter.wait(PATIENCE)
    wait_until(hearing.is_on)
    waiter.look(lambda: None)
    Ringer().add({topic: 1})
    assert waiter.wait(PATIENCE)


def test_a_ringer_sends_again_after_it_lost_its_connection(listening, topic):
    _, waiter = listening
    ringer = Ringer()
    ringer.add({topic: 1})
    assert waiter.wait(PATIENCE)
    end_listening()
    assert waiter.wait(PATIENCE)
    wait_until(hearing.is_on)
    waiter.look(lambda: None)

    ringer.add({topic: 1})

    assert waiter.wait(PATIENCE)


def test_a_listener_without_an_echo_is_deaf(monkeypatch, topic):
    ringer = Ringer()
    monkeypatch.setattr(ringer, "add", lambda _: None)
    monkeypatch.setattr(postgresql, "ECHO_WITHIN", 0.05)

    with pytest.raises(postgresql.NoEchoError):
        Listener(ringer)._listen()
    assert not hearing.is_on()


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
    texts = list(postgresql.payloads("a" * 16, rung))
    again = [postgresql.read(text) for text in texts]

    assert max(map(len, texts)) < 8000
    assert len(texts) > 1
    assert {name for name, _ in again} == {"a" * 16}
    assert {topic: count for _, counts in again for topic, count in counts.items()} == rung


@pytest.mark.parametrize("text", ["", "\n", "x\ny", "x\n1", "x\n-1 agent 1", "x\n1\u00b2 agent 1"])
def test_a_foreign_notification_rings_nothing(text, topic):
    with waiters.waiting([topic]) as waiter:
        Listener(Ringer())._hear(text)

        assert not waiter.is_rung
