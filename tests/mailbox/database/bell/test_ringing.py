"""A ring raises nothing, since the change that it tells of is stored."""

import threading

import pytest
from django.db import connection

from mailbox.database.bell import postgresql, ringing, topics, waiters

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


def test_a_ring_raises_no_unexpected_error(monkeypatch):
    def fail(*_):
        raise ValueError("unexpected")

    monkeypatch.setattr(waiters, "wake", fail)

    ringing.ring(["agent 1"])
