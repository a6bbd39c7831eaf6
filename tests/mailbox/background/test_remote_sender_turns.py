"""Scheduling of calls: remote agents that hang do not delay other agents."""

import contextlib
import threading
from concurrent.futures import FIRST_COMPLETED, wait

import pytest
from django.db import OperationalError

from agentcards import profiles
from agentcards.models import RemoteCall
from mailbox.access.callers import Caller
from mailbox.background import remote_sender
from mailbox.background.remote_sender import AT_ONE_AGENT, AT_SILENT_AGENTS, THREADS, CallPool, RemoteSender
from mailbox.database import outages
from mailbox.models import Lease, Result
from tests.support import factories
from tests.support.remote_rounds import submit_all
from tests.support.remote_servers import raw_server


def hang(connection, over):
    over.wait()


def remote_agent(name, url):
    caller = factories.agent(name)
    profiles.update_profile(Caller.command_line(), factories.row_of(caller), {"remote_url": url})
    return caller


@contextlib.contextmanager
def going():
    """Yield a sender; wait for its calls when the block ends."""
    one = RemoteSender()
    try:
        yield one
    finally:
        one.finish()


def carry_until(one, condition):
    one.look_around()
    while not condition():
        calls = [call for pool in (one._looking, one._following, one._submitting) for call in pool._under_way]
        wait(calls, return_when=FIRST_COMPLETED)
        one.look_around()


def results_of(agent):
    return Result.objects.filter(task__recipient=factories.row_of(agent), status="ok").count()


@pytest.mark.django_db(transaction=True)
def test_remote_agents_that_hang_do_not_delay_others(remote, alice):
    with going() as one, contextlib.ExitStack() as servers:
        silent = [remote_agent(f"silent{n}", servers.enter_context(raw_server(hang))) for n in range(5)]
        healthy = remote_agent("healthy", remote.url)
        for agent in [*silent, healthy]:
            for _ in range(8):
                factories.sent_task(alice, agent, intent_text="work")

        carry_until(one, lambda: results_of(healthy) == 8)

        held = {factories.row_of(agent).pk: 1 for agent in silent}
        carry_until(one, lambda: one._submitting.held == held)  # a thread is free a moment after its result is posted
        assert Lease.objects.filter(ended_at=None).count() == len(silent)


@pytest.mark.django_db(transaction=True)
def test_polls_do_not_wait_for_submissions(remote, alice, monkeypatch):
    monkeypatch.setattr(remote_sender, "THREADS", 1)
    healthy = remote_agent("healthy", remote.url)
    factories.sent_task(alice, healthy, intent_text="work")
    submit_all()
    with going() as one, raw_server(hang) as url:
        factories.sent_task(alice, remote_agent("silent", url))

        carry_until(one, lambda: results_of(healthy) == 1)

        carry_until(one, lambda: one._submitting.held.total() == 1)


@pytest.mark.django_db(transaction=True)
def test_remote_agents_take_turns(remote, alice, monkeypatch):
    monkeypatch.setattr(remote_sender, "THREADS", 1)
    agents = [remote_agent(name, remote.url) for name in ("rita", "ruth")]
    for agent in agents:
        for number in range(3):
            factories.sent_task(alice, agent, intent_text=f"never {agent.agent.local} {number}")

    with going() as one:
        carry_until(one, lambda: len(remote.bodies) == 6)

    submitted = [body["params"]["message"] for body in remote.bodies]
    assert submitted == [f"never {name} {number}" for number in range(3) for name in ("rita", "ruth")]


@pytest.mark.django_db(transaction=True)
def test_the_last_poll_of_a_call_waits_for_a_thread(now, remote, rita, alice):
    factories.sent_task(alice, rita, intent_text="work")
    submit_all()
    now.shift(3600)
    with going() as one:
        let_go = threading.Event()
        one._looking.begin(lambda _: not let_go.wait(), None, factories.row_of(rita).pk)
        one.look_around()
        held = one._looking.held.total()
        let_go.set()
        carry_until(one, Result.objects.exists)

    assert (held, results_of(rita)) == (1, 1)


class TestCallPool:
    @pytest.fixture
    def let_go(self):
        """The event that ends the calls that hang."""
        event = threading.Event()
        yield event
        event.set()

    def fill(self, pool, agent, act):
        """Begin as many calls to the agent as the pool allows; return their number."""
        for number in range(THREADS + 1):
            if not pool.has_room_for(agent):
                return number
            pool.begin(act, RemoteCall(lease=Lease(holder_id=agent)), agent)
        raise AssertionError("more calls than threads")

    def collect(self, pool):
        """Wait for the calls that have begun."""
        wait(pool._under_way)
        pool.collect()

    def test_an_agent_gets_several_threads_only_while_it_answers(self, let_go):
        pool = CallPool("test", set())

        unknown = self.fill(pool, 1, lambda _: True)
        self.collect(pool)
        answering = self.fill(pool, 1, lambda _: not let_go.wait())
        let_go.set()
        self.collect(pool)
        silent = self.fill(pool, 1, lambda _: None)
        self.collect(pool)
        not_called_since = self.fill(pool, 1, lambda _: True)
        pool.finish()

        assert (unknown, answering, silent, not_called_since) == (1, AT_ONE_AGENT, 1, 1)

    def test_agents_that_answer_get_threads_while_many_are_silent(self, let_go):
        pool = CallPool("test", {0})

        held = sum(self.fill(pool, agent, lambda _: let_go.wait()) for agent in range(1, THREADS + 1))

        assert held == AT_SILENT_AGENTS
        assert self.fill(pool, 0, lambda _: let_go.wait()) == AT_ONE_AGENT
        let_go.set()
        pool.finish()

    def test_a_call_outlasts_a_failure_of_the_database(self, monkeypatch):
        answering: set[int] = set()
        pool, failures = CallPool("test", answering), iter([OperationalError("the database is away")])
        monkeypatch.setattr(outages, "FIRST_PAUSE", 0.0)

        @outages.outlasted
        def store(_):
            for failure in failures:
                raise failure
            return True

        pool.begin(store, "what an agent answered", 1)
        self.collect(pool)
        pool.finish()

        assert answering == {1}

    def test_there_are_never_more_calls_than_threads(self, let_go):
        pool = CallPool("test", set(range(THREADS)))

        assert sum(self.fill(pool, agent, lambda _: let_go.wait()) for agent in range(THREADS)) == THREADS
        let_go.set()
        pool.finish()
