"""Shared looks: the rings of many waits are answered by one look, and no failure ends the looks."""

import threading
from contextlib import ExitStack

import pytest
from django.db import OperationalError

from mailbox.database.bell import waiters
from mailbox.database.bell.waiters import SharedLook

pytestmark = pytest.mark.one_database


class Looks:
    """A look that notes its keys, and that waits for `go` once it is held."""

    def __init__(self):
        self.keys, self.stored = [], {}
        self.begun, self.go = threading.Event(), threading.Event()
        self.go.set()

    def __call__(self, keys):
        self.keys.append(sorted(keys))
        self.begun.set()
        assert self.go.wait()
        return {key: self.stored[key] for key in keys if key in self.stored}


def test_all_rings_during_a_look_are_answered_by_the_next_one():
    looks, woken = Looks(), {key: threading.Event() for key in "abc"}
    shared = SharedLook(looks)
    looks.go.clear()
    with ExitStack() as waits:
        found = {key: waits.enter_context(shared.awaiting(key, f"task {key}", woken[key].set)) for key in "a"}
        assert looks.begun.wait()
        found |= {key: waits.enter_context(shared.awaiting(key, f"task {key}", woken[key].set)) for key in "bc"}
        looks.stored = {"a": 1, "b": 2, "c": 3}
        for key in "aab":
            waiters.wake({f"task {key}": 1})
        looks.go.set()
        assert all(event.wait() for event in woken.values())

        assert {key: awaited.read() for key, awaited in found.items()} == looks.stored
    assert looks.keys[0] == ["a"]
    assert looks.keys[1] == ["a", "b", "c"]


def test_a_wait_without_a_find_is_not_woken_and_is_looked_for_at_its_next_ring():
    looks, woken = Looks(), threading.Event()
    with SharedLook(looks).awaiting("a", "task a", woken.set) as awaited:
        assert looks.begun.wait()
        assert (awaited.read(), woken.is_set()) == (None, False)
        looks.stored = {"a": 1}
        waiters.wake({"task a": 1})
        assert woken.wait()
        assert awaited.read() == 1


def test_looks_go_on_after_a_connection_that_could_not_be_closed(monkeypatch):
    class Broken:
        def close(self):
            raise OperationalError("gone")

    looks, woken = Looks(), threading.Event()
    shared = SharedLook(looks)
    with monkeypatch.context() as broken:
        broken.setattr(waiters, "connection", Broken())
        with shared.awaiting("a", "task a", woken.set) as awaited:
            assert woken.wait()
            with pytest.raises(OperationalError):
                awaited.read()
    woken.clear()
    looks.stored = {"a": 1}
    with shared.awaiting("a", "task a", woken.set) as awaited:
        assert woken.wait()
        assert awaited.read() == 1


def test_a_look_is_repeated_once_after_a_lost_connection():
    looks, failures, woken = Looks(), [OperationalError("gone")], threading.Event()
    looks.stored = {"a": 1}

    def look(keys):
        if failures:
            raise failures.pop()
        return looks(keys)

    with SharedLook(look).awaiting("a", "task a", woken.set) as awaited:
        assert woken.wait()
        assert awaited.read() == 1
