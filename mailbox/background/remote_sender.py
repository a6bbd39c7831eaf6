"""Schedules the calls to remote agents: which agent is next, and how many calls run at once.

A call to an agent that hangs occupies a thread until its timeout. To protect other agents, polls, streams and
submissions use separate pools of threads. Each agent may use a few threads of a pool, and an unresponsive agent only
one. A call that finds no thread for its stream is polled.
"""

import itertools
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from django.db import connections
from django.utils import timezone

from agentcards import remote_calls, remote_conversations
from mailbox.database import outages, waiting
from mailbox.database.bell import topics

THREADS = 32  # for polls, and as many each for streams and for submissions
AT_ONE_AGENT = 8  # threads of a pool, so that a few agents that stop answering together do not occupy all
AT_SILENT_AGENTS = 16  # threads of a pool, one for each agent that did not answer its last call or had no call yet
LOOK_AROUND_EVERY = 0.5  # seconds, while a poll is due that no thread is free for
LONGEST_PAUSE = 5.0  # seconds without a ring, a call that ended, or a poll or an agent that becomes due

_logger = logging.getLogger(__name__)
Work = TypeVar("Work")


class RemoteSender:
    """Brings tasks to remote agents and polls them. Any number of processes can run a sender.

    ``answering`` holds the ids of the agents that answered the last call of this process. All other agents count as
    silent.
    """

    def __init__(self) -> None:
        self.answering: set[int] = set()
        self._looking = CallPool("looking", self.answering)
        self._following = CallPool("following", self.answering)
        self._submitting = CallPool("submitting", self.answering)
        self._turns = itertools.count(1)
        self._last_turn: dict[int, int] = {}

    def run(self, stop: threading.Event) -> None:
        """Submit and poll tasks until ``stop`` is set, then wait for the calls that have begun."""
        waiting.run_rounds(
            stop,
            topics=lambda: [topics.agent(pk) for pk in remote_calls.remote_agents()],
            look=self.look_around,
            pause=lambda: remote_calls.pause_until_due(shortest=LOOK_AROUND_EVERY, longest=LONGEST_PAUSE),
            share_ring=self._use_ring,
        )
        self.finish()

    def _use_ring(self, ring: Callable[[], object]) -> None:
        self._looking.ring = self._following.ring = self._submitting.ring = ring

    def look_around(self) -> None:
        """Begin due polls, and then submissions of new tasks, as far as threads are free. Agents take turns."""
        for pool in (self._looking, self._following, self._submitting):
            pool.collect()
        remote_calls.forget_ended()
        self._look_at_calls()
        self._look_at_conversations()
        self._submit()

    def finish(self) -> None:
        """Wait for the calls that have begun."""
        for pool in (self._looking, self._following, self._submitting):
            pool.finish()

    def _look_at_calls(self) -> None:
        now = timezone.now()
        for call in remote_calls.due(now):
            agent, sends_no_request = call.lease.holder_id, call.is_out_of_time(now)
            may_follow = not sends_no_request and self._following.has_room_for(agent)
            if may_follow and remote_calls.follows(call):
                if call.claim(now + remote_calls.FOLLOW_LASTS):
                    self._following.begin(remote_calls.follow, call, agent)
                continue
            may_look = sends_no_request or self._looking.has_room_for(agent)
            if may_look and call.claim(now + remote_calls.LOOK_LASTS):
                self._looking.begin(remote_calls.look, call, agent)

    def _look_at_conversations(self) -> None:
        """Cancel remote tasks whose task has ended otherwise, and poll those that wait for an authorization."""
        now = timezone.now()
        for conversation in remote_conversations.to_cancel():
            agent = conversation.task.recipient_id
            if self._looking.has_room_for(agent) and conversation.forget():
                self._looking.begin(remote_conversations.cancel, conversation, agent)
        for conversation in remote_conversations.waiting(now):
            agent = conversation.task.recipient_id
            if self._looking.has_room_for(agent) and conversation.claim(now + remote_conversations.LOOK_EVERY):
                self._looking.begin(remote_conversations.resume, conversation, agent)

    def _submit(self) -> None:
        now = timezone.now()
        for call in remote_calls.cut(now):
            if self._submitting.has_room_for(call.lease.holder_id) and call.claim_submission(now):
                self._submitting.begin(remote_calls.submit, call, call.lease.holder_id)
        profiles = remote_calls.agents_with_work()
        waiting = deque(sorted(profiles, key=lambda profile: self._last_turn.get(profile.agent_id, 0)))
        while waiting:
            profile = waiting.popleft()
            if self._submitting.has_room_for(profile.agent_id) and (begun := remote_calls.take_on(profile)) is not None:
                self._submitting.begin(remote_calls.submit, begun, profile.agent_id)
                self._last_turn[profile.agent_id] = next(self._turns)
                waiting.append(profile)


class CallPool:
    """Threads for one kind of call: polls, streams or submissions.

    Limits the threads that unresponsive agents occupy.
    """

    def __init__(self, name: str, answering: set[int]) -> None:
        """``answering`` is shared by the pools of a sender; `collect` updates it."""
        self._answering = answering
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix=name)
        self._stopping = threading.Event()
        self._under_way: dict[Future[bool | None], int] = {}
        self.ring: Callable[[], object] = lambda: None  # called when a call has ended

    @property
    def held(self) -> Counter[int]:
        """The number of threads that each agent occupies, by the agent's id."""
        return Counter(self._under_way.values())

    def has_room_for(self, agent: int) -> bool:
        """Whether another call to this agent may begin now."""
        held = self.held
        if held.total() >= THREADS:
            return False
        if agent in self._answering:
            return held[agent] < AT_ONE_AGENT
        return not held[agent] and sum(held[other] for other in held.keys() - self._answering) < AT_SILENT_AGENTS

    def begin(self, act: Callable[[Work], bool | None], work: Work, agent: int) -> None:
        """Run ``act`` in a thread. It returns whether the agent answered, None if the hub sent no request."""
        begun = self._pool.submit(_run, act, work, self._stopping)
        self._under_way[begun] = agent
        begun.add_done_callback(lambda _: self.ring())

    def collect(self) -> None:
        """Free the threads of ended calls, and record which agents answered."""
        for done in [running for running in self._under_way if running.done()]:
            agent, answered = self._under_way.pop(done), done.result()
            if answered:
                self._answering.add(agent)
            elif answered is not None:
                self._answering.discard(agent)

    def finish(self) -> None:
        """Wait for the calls that have begun. Their patience with a database that is away ends."""
        self._stopping.set()
        self._pool.shutdown()


def _run(act: Callable[[Work], bool | None], work: Work, stopping: threading.Event) -> bool | None:
    """Run one call and close the thread's database connections. Logs unexpected exceptions."""
    try:
        with outages.outlasting(stopping):
            return act(work)
    except Exception as failure:
        if not outages.noted(failure):
            _logger.exception("the sender of remote tasks failed at %s", work)
        return None
    finally:
        connections.close_all()  # the thread may never run another call
