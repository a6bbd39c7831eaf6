"""A ring raises nothing, since the change that it tells of is stored."""

import threading

import pytest
from django.db import connection

from mailbox.database.bell import postgresql, ringing, topics, waiters
from tests.support import factories
from tests.support.api import Api
from tests.support.cast import alice, bob

__all__ = ["alice", "bob"]

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no notifications")
def test_a_ring_raises_nothing_without_a_free_thread(monkeypatch):
    tried = []

    def start(thread):
        tried.append(thread.name)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(postgresql, "ringer", postgresql.Ringer())
    monkeypatch.setattr(ringing, "_here", ringing._Attendance())
    monkeypatch.setattr(ringing, "_notifies", lambda: True)
    monkeypatch.setattr(ringing, "listeners", lambda: [lambda: None])
    monkeypatch.setattr(ringing, "FEW", 0)
    monkeypatch.setattr(topics, "_elsewhere", topics._Elsewhere())
    monkeypatch.setattr(waiters, "_here", waiters._Waiters())
    monkeypatch.setattr(threading.Thread, "start", start)

    ringing.ring(["agent 1"])

    assert tried == ["ringer", "bell"]
    assert not ringing._here.hears


def test_a_wait_without_a_free_thread_is_answered_with_503_and_the_next_one_starts_it(monkeypatch, alice, bob):
    task = factories.sent_task(alice, bob)
    tried = []

    def start(thread):
        tried.append(thread.name)
        if len(tried) == 1:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ringing, "_here", ringing._Attendance())
    monkeypatch.setattr(ringing, "hear", lambda: None)
    monkeypatch.setattr(threading.Thread, "start", start)

    answers = [Api(alice).get(f"/a2a/tasks/{task.uuid}/result", wait_ms=1) for _ in range(3)]

    assert ([answer.status_code for answer in answers], tried) == ([503, 200, 200], ["bell", "bell"])


def test_a_shared_look_without_a_free_thread_lacks_memory(monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    look: waiters.SharedLook[int, int] = waiters.SharedLook(lambda keys: {})
    monkeypatch.setattr(threading.Thread, "start", start)

    with pytest.raises(MemoryError), look.awaiting(1, "task 1", lambda: None):
        pass


def test_a_ring_raises_no_unexpected_error(monkeypatch):
    def fail(*_):
        raise ValueError("unexpected")

    monkeypatch.setattr(waiters, "wake", fail)

    ringing.ring(["agent 1"])
