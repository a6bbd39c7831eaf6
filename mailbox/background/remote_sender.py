"""Carries the tasks of remote agents: whose turn it is, and how many at once.

An agent that hangs holds whatever asks it for as long as that waits. So that it costs no other agent anything, looks
and submissions have hands of their own, nobody has many of them, and whoever is silent has one.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from django.db import InterfaceError, OperationalError, close_old_connections, connections
from django.utils import timezone

from agentcards import remote_calls
from agentcards.models import RemoteCall

HANDS = 32  # for looks, and as many for submissions
AT_ONE_AGENT = 8  # of them, so that those that fall silent together do not hold all
AT_THE_SILENT = 16  # with all that did not answer when they were last asked, or never were; one with each
LOOK_AROUND_EVERY = 0.5  # seconds

_logger = logging.getLogger(__name__)


class Carrier:
    """One process's part of the work; any number of carriers can share it.

    ``answering`` holds the agents that answered what they were last asked by this process; all others are silent.
    """

    def __init__(self) -> None:
        self.answering: set[int] = set()
        self._looking = Hands("looking", self.answering)
        self._submitting = Hands("submitting", self.answering)
        self._turns = itertools.count(1)
        self._last_turn: dict[int, int] = {}

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set, then finish the exchanges that are under way."""
        while not stop.is_set():
            pause = LOOK_AROUND_EVERY
            try:
                self.look_around()
            except (OperationalError, InterfaceError):
                _logger.exception("the carrier cannot use the database")
                connections.close_all()
                pause *= 10
            stop.wait(pause)
        self.finish()

    def look_around(self) -> None:
        """Start what there is to do and hands are free for: looks that are due, and new submissions."""
        self._looking.learn()
        self._submitting.learn()
        remote_calls.forget_ended()
        now = timezone.now()
        for call in remote_calls.due(now):
            asks_nobody = call.gives_up_at <= now
            is_its_turn = asks_nobody or self._looking.are_free_for(call.lease.holder_id)
            if is_its_turn and call.claim(now + remote_calls.LOOK_LASTS):
                self._looking.begin(remote_calls.look, call)
        waiting = deque(sorted(remote_calls.agents_with_work(), key=lambda one: self._last_turn.get(one.agent_id, 0)))
        while waiting:
            profile = waiting.popleft()
            if self._submitting.are_free_for(profile.agent_id) and (begun := remote_calls.take_on(profile)) is not None:
                self._submitting.begin(remote_calls.submit, begun)
                self._last_turn[profile.agent_id] = next(self._turns)
                waiting.append(profile)
        close_old_connections()

    def finish(self) -> None:
        """Wait for the exchanges that are under way."""
        self._looking.finish()
        self._submitting.finish()


class Hands:
    """Threads for one kind of exchange, shared out so that agents that hang hold few of them."""

    def __init__(self, name: str, answering: set[int]) -> None:
        self._answering = answering
        self._pool = ThreadPoolExecutor(HANDS, thread_name_prefix=name)
        self._under_way: dict[Future[bool | None], int] = {}

    @property
    def held(self) -> Counter[int]:
        """How many hands each agent holds."""
        return Counter(self._under_way.values())

    def are_free_for(self, agent: int) -> bool:
        """Whether one more exchange with this agent may begin now."""
        held = self.held
        if held.total() >= HANDS:
            return False
        if agent in self._answering:
            return held[agent] < AT_ONE_AGENT
        return not held[agent] and sum(held[one] for one in held if one not in self._answering) < AT_THE_SILENT

    def begin(self, act: Callable[[RemoteCall], bool | None], call: RemoteCall) -> None:
        """Do this in a thread of its own; ``act`` returns whether the agent answered, None when it was not asked."""
        self._under_way[self._pool.submit(_alone, act, call)] = call.lease.holder_id

    def learn(self) -> None:
        """Take back the hands that have done their work, and note which agents answered."""
        for done in [exchange for exchange in self._under_way if exchange.done()]:
            agent, answered = self._under_way.pop(done), done.result()
            if answered:
                self._answering.add(agent)
            elif answered is not None:
                self._answering.discard(agent)

    def finish(self) -> None:
        self._pool.shutdown()


def _alone(act: Callable[[RemoteCall], bool | None], call: RemoteCall) -> bool | None:
    """Do one exchange and leave no connection open; a failure that nobody foresaw is told."""
    try:
        return act(call)
    except Exception:
        _logger.exception("the carrier failed at %s", call)
        return None
    finally:
        connections.close_all()  # the thread may end before it has another exchange to do
