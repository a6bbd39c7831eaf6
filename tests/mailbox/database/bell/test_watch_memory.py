"""The watch returns free memory once many waits have begun."""

import math

import pytest

from mailbox.database.bell import waiters, watch
from mailbox.database.bell.watch import Memory, Watch

pytestmark = pytest.mark.one_database


def test_memory_is_returned_each_time_that_many_waits_have_begun(monkeypatch):
    monkeypatch.setattr(watch, "MORE", 10)
    counts = iter([9, 10, 19, 19, 20, 45, 46])
    monkeypatch.setattr(waiters, "begun", lambda: next(counts))
    one = Memory()

    assert [one.give_back() for _ in range(7)] == [False, True, False, False, True, True, False]


@pytest.mark.django_db
def test_a_round_returns_memory_every_few_seconds(monkeypatch):
    the_watch, given = Watch(), []
    monkeypatch.setattr(the_watch._memory, "give_back", lambda: given.append("back"))
    monkeypatch.setattr(watch, "_checks", [])
    the_watch.look()
    assert given == []

    monkeypatch.setattr(the_watch, "_checked_at", -math.inf)
    the_watch.look()

    assert given == ["back"]
