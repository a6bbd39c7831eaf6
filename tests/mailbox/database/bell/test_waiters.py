"""A ring wakes as many waiters as things came, and no ring is lost."""

import contextlib
import subprocess
import sys
import threading
from collections import deque

import pytest

from mailbox.database.bell import ringing, topics, waiters
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

AGENT, OTHER, TASK = topics.agent(12), topics.agent(13), "task " + "0" * 32


@pytest.fixture(autouse=True)
def _no_watch(monkeypatch):
    monkeypatch.setattr(ringing, "begin", lambda: None)


@pytest.fixture
def three():
    """Three waiters for the tasks of one agent."""
    with waiters.waiting([AGENT]) as first, waiters.waiting([AGENT]) as second, waiters.waiting([AGENT]) as third:
        yield first, second, third


def rung(those):
    return [one.is_rung for one in those]


def test_one_thing_wakes_the_longest_idle_waiter_and_the_next_thing_the_next(three):
    waiters.wake({AGENT: 1})
    assert rung(three) == [True, False, False]
    waiters.wake({AGENT: 1})
    assert rung(three) == [True, True, False]

    three[0].look(lambda: None)
    waiters.wake({AGENT: 2})
    assert rung(three) == [True, True, True]


def test_several_things_wake_as_many_waiters(three):
    waiters.wake({AGENT: 2, OTHER: 1})

    assert rung(three) == [True, True, False]


def test_a_change_of_a_task_wakes_all_its_readers():
    with waiters.waiting([TASK]) as one, waiters.waiting([TASK, AGENT]) as two:
        waiters.wake({TASK: 1})

        assert rung([one, two]) == [True, True]


def test_a_ring_during_a_look_asks_for_another_look():
    with waiters.waiting([AGENT]) as waiter:
        waiter.look(lambda: waiters.wake({AGENT: 1}))

        assert waiter.wait(0)
        waiter.look(lambda: None)
        assert not waiter.wait(0)


def test_a_waiter_that_leaves_without_a_look_passes_its_ring_on():
    with waiters.waiting([AGENT]) as stays:
        with waiters.waiting([AGENT]) as leaves:
            waiters.wake({AGENT: 2})
            stays.look(lambda: None)
            assert rung([stays, leaves]) == [False, True]

        assert stays.is_rung


def test_a_waiter_that_took_another_thing_passes_the_ring_of_its_last_look_on():
    with waiters.waiting([AGENT]) as second:
        with waiters.waiting([AGENT]) as first:

            def find():
                waiters.wake({AGENT: 1})
                return "an earlier task"

            second.ring()
            assert first.look(find)
            second.look(lambda: None)

        assert second.is_rung


def test_a_look_that_fails_passes_its_ring_on(three):
    waiters.wake({AGENT: 1})
    with pytest.raises(ZeroDivisionError):
        three[0].look(lambda: 1 / 0)

    assert sum(rung(three)) == 1


def test_a_look_that_fails_without_a_ring_wakes_no_other(three):
    with pytest.raises(ZeroDivisionError):
        three[0].look(lambda: 1 / 0)

    assert rung(three) == [False, False, False]


def test_chained_rings_wake_the_next_waiter_only_after_a_find(three):
    waiters.wake({AGENT: 1}, is_chained=True)
    assert rung(three) == [True, False, False]
    assert three[0].look(lambda: "a task")
    assert rung(three) == [False, True, False]
    three[1].look(lambda: None)
    assert rung(three) == [False, False, False]


def test_waiters_for_any_agent_wake_with_each_agent():
    with waiters.waiting([topics.agent(None)]) as anyone, waiters.waiting([topics.sender(None)]) as another:
        waiters.wake({OTHER: 1})

        assert rung([anyone, another]) == [True, False]


class Shop:
    """Things that threads take, each once."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.lying: deque[int] = deque()
        self.taken: list[int] = []

    def take(self) -> int | None:
        with contextlib.suppress(IndexError):
            return self.lying.popleft()
        return None

    def work(self) -> None:
        """Wait for one thing after another, each time anew, until all are taken."""
        while len(self.taken) < self.count:
            with waiters.waiting([AGENT]) as waiter:
                found = waiter.look(self.take)
                while found is None and len(self.taken) < self.count and waiter.wait(None):
                    found = waiter.look(self.take)
            if found is not None:
                self.taken.append(found)
        waiters.wake_all()


def test_no_ring_is_lost_among_threads():
    shop = Shop(2000)
    threads = [threading.Thread(target=shop.work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(shop.count):
        shop.lying.append(number)
        waiters.wake({AGENT: 1})
    for thread in threads:
        thread.join()

    assert sorted(shop.taken) == list(range(shop.count))


def test_a_ring_wakes_a_waiter_unless_the_setting_says_poll(settings):
    with waiters.waiting([AGENT]) as waiter:
        settings.A2A_WAKE_UPS = "poll"
        ringing.ring([AGENT])
        assert not waiter.is_rung

        settings.A2A_WAKE_UPS = "auto"
        ringing.ring([AGENT])
        assert waiter.is_rung


def test_the_end_of_the_process_ends_every_wait(monkeypatch):
    monkeypatch.setattr(waiters, "_here", waiters._Waiters())
    with waiters.waiting([AGENT]) as waiter:
        waiters.end()

        assert not waiter.wait(None)
    with waiters.waiting([AGENT]) as later:
        waiters.wake({AGENT: 1})
        assert not later.wait(None)


def test_the_end_of_the_process_during_a_look_ends_the_next_wait(monkeypatch):
    monkeypatch.setattr(waiters, "_here", waiters._Waiters())
    with waiters.waiting([AGENT]) as waiter:
        waiters.end()
        waiter.look(lambda: None)

        assert not waiter.wait(None)


def test_the_end_of_a_program_before_a_look_ends_the_next_wait():
    with waiters.waiting([AGENT]) as waiter, waiters.waiting([AGENT]) as other:
        waiter.end()
        waiter.look(lambda: None)

        assert not waiter.wait(None)
        waiters.wake({AGENT: 2})
        assert other.wait(None)


# Its program forks, because this process has threads.
FORKS = """
import os, sys
from mailbox.database.bell import ringing, waiters

ringing.begin = lambda: None
with waiters.waiting([sys.argv[1]]):
    child = os.fork()
    if child == 0:
        os._exit(len(waiters.waited()))
    assert waiters.waited() == [sys.argv[1]]
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.processes
def test_a_forked_process_has_no_waiters():
    subprocess.run([sys.executable, "-c", FORKS, AGENT], cwd=ROOT, check=True)
