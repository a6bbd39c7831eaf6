"""Whose turn it is: remote agents that hang, beside others that do not."""

from __future__ import annotations

import contextlib
import threading

import pytest

from agentcards import profiles
from agentcards.models import RemoteCall
from mailbox.background import remote_sender
from mailbox.background.remote_sender import AT_ONE_AGENT, AT_THE_SILENT, HANDS, Carrier, Hands
from mailbox.gate.callers import Caller
from mailbox.models import Lease, Result
from tests.support import factories
from tests.support.hub import wait_until
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
    """Yield a carrier at work; what it has begun is finished when the block ends."""
    one = Carrier()
    try:
        yield one
    finally:
        one.finish()


def carry_until(one, condition):
    wait_until(lambda: one.look_around() or condition())


def results_of(agent):
    return Result.objects.filter(task__recipient=factories.row_of(agent), status="ok").count()


@pytest.mark.django_db(transaction=True)
def test_remote_agents_that_hang_stall_no_other(remote, alice):
    with going() as one, contextlib.ExitStack() as servers:
        silent = [remote_agent(f"silent{n}", servers.enter_context(raw_server(hang))) for n in range(5)]
        healthy = remote_agent("healthy", remote.url)
        for agent in [*silent, healthy]:
            for _ in range(8):
                factories.sent_task(alice, agent, intent_text="work")

        carry_until(one, lambda: results_of(healthy) == 8)

        held = {factories.row_of(agent).pk: 1 for agent in silent}
        carry_until(one, lambda: one._submitting.held == held)  # a hand is free a moment after its result is there
        assert Lease.objects.filter(ended_at=None).count() == len(silent)


@pytest.mark.django_db(transaction=True)
def test_a_look_never_waits_for_submissions(remote, alice, monkeypatch):
    monkeypatch.setattr(remote_sender, "HANDS", 1)
    healthy = remote_agent("healthy", remote.url)
    factories.sent_task(alice, healthy, intent_text="work")
    submit_all()
    with going() as one, raw_server(hang) as url:
        factories.sent_task(alice, remote_agent("silent", url))

        carry_until(one, lambda: results_of(healthy) == 1)

        carry_until(one, lambda: one._submitting.held.total() == 1)


@pytest.mark.django_db(transaction=True)
def test_agents_have_their_turns_one_after_the_other(remote, alice, monkeypatch):
    monkeypatch.setattr(remote_sender, "HANDS", 1)
    agents = [remote_agent(name, remote.url) for name in ("rita", "ruth")]
    for agent in agents:
        for number in range(3):
            factories.sent_task(alice, agent, intent_text=f"never {agent.agent.local} {number}")

    with going() as one:
        carry_until(one, lambda: len(remote.bodies) == 6)

    asked = [body["params"]["message"] for body in remote.bodies]
    assert asked == [f"never {name} {number}" for number in range(3) for name in ("rita", "ruth")]


class TestHands:
    @pytest.fixture
    def let_go(self):
        """What exchanges that hang wait for."""
        event = threading.Event()
        yield event
        event.set()

    def fill(self, hands, agent, act):
        """Begin as many exchanges with the agent as it may have; return how many."""
        for number in range(HANDS + 1):
            if not hands.are_free_for(agent):
                return number
            hands.begin(act, RemoteCall(lease=Lease(holder_id=agent)))
        raise AssertionError("more exchanges than hands")

    def wait(self, hands):
        wait_until(lambda: hands.learn() or not hands.held)

    def test_an_agent_has_one_hand_until_it_answers_and_again_when_it_does_not(self, let_go):
        hands = Hands("test", set())

        unknown = self.fill(hands, 1, lambda _: True)
        self.wait(hands)
        answering = self.fill(hands, 1, lambda _: not let_go.wait())
        let_go.set()
        self.wait(hands)
        silent = self.fill(hands, 1, lambda _: None)
        self.wait(hands)
        not_asked_since = self.fill(hands, 1, lambda _: True)
        hands.finish()

        assert (unknown, answering, silent, not_asked_since) == (1, AT_ONE_AGENT, 1, 1)

    def test_those_that_answer_find_hands_however_many_are_silent(self, let_go):
        hands = Hands("test", {0})

        held = sum(self.fill(hands, agent, lambda _: let_go.wait()) for agent in range(1, HANDS + 1))

        assert held == AT_THE_SILENT
        assert self.fill(hands, 0, lambda _: let_go.wait()) == AT_ONE_AGENT
        let_go.set()
        hands.finish()

    def test_there_are_never_more_exchanges_than_hands(self, let_go):
        hands = Hands("test", set(range(HANDS)))

        assert sum(self.fill(hands, agent, lambda _: let_go.wait()) for agent in range(HANDS)) == HANDS
        let_go.set()
        hands.finish()
