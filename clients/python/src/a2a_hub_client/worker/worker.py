"""Leases tasks for one agent and runs a program for each, until a signal stops it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from uuid import uuid4

from a2a_hub_client.worker.attempt import Attempt, AttemptOutcome, ProgramSettings
from a2a_hub_client.worker.backoff import Backoff, insist
from a2a_hub_client.worker.client import Hub
from a2a_hub_client.worker.errors import AttemptSpentError, HubError, NotNowError, RefusedError
from a2a_hub_client.worker.guard import Guard
from a2a_hub_client.worker.identity import foreign_key, is_called
from a2a_hub_client.worker.leased_task import LeasedTask
from a2a_hub_client.worker.stop_signals import StopSignals, stop_signals
from a2a_hub_client.worker.turns import Turn

# The worker waits for the end of a poll even when it stops. Otherwise it would lose a lease in the poll's answer.
POLL = 3.0  # seconds
REST = 1.0  # second after an answer without a task that came earlier, as from a hub without a free seat
TICK = 0.05
TOGETHER = 0.05  # seconds; results that are ready within this time are posted in one request
LINGER = 0.5  # seconds that a result waits at most for others
START_FAILURES = 3  # in a row, after which the worker gives up
TO_REPORT = 10.0  # seconds to post outcomes to the hub once the programs were stopped
TO_REPORT_AT_ONCE = 2.0


class Worker:
    """Runs programs for the tasks of one agent, ``concurrency`` at once.

    With a ``batch`` it leases up to that many tasks at once, and posts their results with the request that leases the
    next tasks. ``hub`` is then a client of batches.
    """

    def __init__(
        self,
        hub: Hub,
        name: str,
        work: ProgramSettings,
        *,
        concurrency: int = 1,
        batch: int | None = None,
        max_tasks: int | None = None,
        say: Callable[[str], object],
    ) -> None:
        """``max_tasks`` None: work until a signal. Tasks whose program could not be started do not count."""
        self._hub = hub
        self._name = name
        self._work = work
        self._say = say
        self._max_tasks = max_tasks
        self._concurrency = concurrency
        self._limit = batch or concurrency  # of tasks whose result the hub does not have
        self._is_batching = batch is not None
        self._turns = threading.BoundedSemaphore(concurrency)
        self._lock = threading.Lock()
        self._attempts: set[Attempt] = set()
        self._taken = self._finished = self._start_failures = 0
        self._stopping = threading.Event()
        self._abandon = threading.Event()
        self._failure: str | None = None
        self.is_wrong_usage = False  # whether it failed because the key is not that of its agent
        self._guard: Guard
        self._attempt_id = uuid4()

    def run(self) -> str | None:
        """Work until ``max_tasks`` tasks are done or a signal arrives. Return the failure, None without any.

        After the first signal, programs may run for another grace; then they are stopped and their tasks released.
        The second signal kills them at once. A live lease left behind is a failure. Call this in the main thread.
        """
        with stop_signals() as signals, Guard(grace=self._work.grace) as self._guard:
            self._say(f"Working as {self._name} at {self._hub.url}. Stop it with Ctrl-C.")
            leasing = threading.Thread(target=self._lease, daemon=True)
            leasing.start()
            self._watch(leasing, signals)
        for attempt in tuple(self._attempts):
            self._say(f"task {attempt.leased.id}: given up; lease {attempt.leased.lease_id} stays live")
            self._count(AttemptOutcome.LEFT)
        return self._failure

    def _watch(self, leasing: threading.Thread, signals: StopSignals) -> None:
        stop_at = give_up_at = float("inf")
        seen = 0
        while leasing.is_alive() or self._attempts:
            time.sleep(TICK)
            now = time.monotonic()
            if signals.count and not self._stopping.is_set():
                self._say(f"Stopping: running programs have {self._work.grace:g} s to finish. Ctrl-C again kills them.")
                self._stopping.set()
            if self._stopping.is_set() and stop_at > now + self._work.grace:
                stop_at = now + self._work.grace
            if now >= stop_at and give_up_at == float("inf"):
                self._stop_programs()
                give_up_at = now + self._work.grace + TO_REPORT
            if signals.count > 1 and seen < 2:
                self._stop_programs(at_once=True)
                stop_at, give_up_at = now, now + TO_REPORT_AT_ONCE
            seen = signals.count
            if now >= give_up_at:
                self._abandon.set()
            if now >= give_up_at + 1:
                return

    def _stop_programs(self, *, at_once: bool = False) -> None:
        with self._lock:
            for attempt in self._attempts:
                attempt.stop(at_once=at_once)

    def _lease(self) -> None:
        """Lease tasks until the worker stops or is done. The results of batches go out with the leases."""
        self._fail_by_key(foreign_key(self._hub, self._name, stopping=self._stopping, say=self._say))
        try:
            while not self._is_over():
                self._hub.changed.clear()
                most = self._most()
                if not self._is_due(most):
                    self._hub.changed.wait(TICK)
                elif most:
                    self._rest()
                    self._begin(self._next(most))
                else:
                    insist(self._hub.post_pending, abandon=self._abandon, on_trouble=self._trouble)
        finally:
            self._hub.stop_batches()

    def _rest(self) -> None:
        """Wait after programs that could not be started."""
        if self._start_failures:
            self._stopping.wait(2.0 ** (self._start_failures - 1))

    def _begin(self, leases: Sequence[LeasedTask]) -> None:
        for leased in leases:
            if not self._may_begin(leased):
                continue
            turn = Turn(self._turns, self._stopping)
            attempt = Attempt(
                self._hub, leased, self._work, turn=turn, guard=self._guard, abandon=self._abandon, say=self._say
            )
            with self._lock:
                self._attempts.add(attempt)
                self._taken += 1
            threading.Thread(target=self._run_attempt, args=(attempt, turn), daemon=True).start()

    def _most(self) -> int:
        """Return how many tasks the worker may lease now, beside those whose result the hub gets first."""
        if self._stopping.is_set():
            return 0
        room = self._limit - len(self._attempts) + self._hub.pending
        return max(0, room if self._max_tasks is None else min(room, self._max_tasks - self._taken))

    def _is_due(self, most: int) -> bool:
        """Whether to send a request now. Results that are ready soon are worth a short wait."""
        pending, active = self._hub.pending, self._active
        if pending and (not active or self._hub.pending_for >= LINGER):
            return True
        if not most or active >= self._concurrency:
            return False
        return not active or not pending or self._hub.pending_for >= TOGETHER

    @property
    def _active(self) -> int:
        """The number of tasks whose program runs, or will run."""
        return len(self._attempts) - self._hub.pending

    def _is_over(self) -> bool:
        if self._stopping.is_set():
            return not self._attempts or self._abandon.is_set()
        return self._is_done()

    def _is_done(self) -> bool:
        return self._max_tasks is not None and self._finished >= self._max_tasks

    def _next(self, most: int) -> Sequence[LeasedTask]:
        """Lease tasks, at most ``most``, repeating the request until it is answered, so that no lease is lost.

        The list is empty if there is no task, and if the worker stops. The attempt id stays until it brings a task. An
        earlier request under it may go on in the hub and take a task, which the hub returns under this id only.
        """
        backoff = Backoff()
        trouble = False
        lost_until = None  # the latest end of an unanswered request in the hub; None: every request was answered
        while True:
            stopping = self._stopping.is_set()
            if self._abandon.is_set() or (stopping and lost_until is None):
                return []
            try:
                wait = max(0.0, lost_until - time.monotonic()) if stopping and lost_until else self._poll
                leases = self._receive(most, wait)
            except NotNowError as error:
                if not trouble:
                    self._say(f"Cannot lease a task now, trying again: {error}")
                trouble = True
                lost_until = time.monotonic() + POLL if error.may_have_arrived else lost_until
                (self._abandon if stopping else self._stopping).wait(backoff.pause(error))
            except RefusedError as error:
                self._fail(str(error))
                return []
            else:
                if trouble:
                    self._say("The hub answers again.")
                return leases

    @property
    def _poll(self) -> float:
        """The seconds that a request waits for a task.

        The results of running programs are not to wait for long. Nor are the outcomes of the results in the request,
        which come with its answer.
        """
        return LINGER if self._is_batching and self._attempts else POLL

    def _receive(self, most: int, wait: float) -> Sequence[LeasedTask]:
        """Request tasks once. An attempt id that has brought a task, or is spent, is replaced by a new one."""
        ends_at = time.monotonic() + wait
        try:
            leases = self._hub.receive(self._attempt_id, most=most, wait=wait)
            if not leases and ends_at - time.monotonic() > REST:
                self._stopping.wait(REST)
        except AttemptSpentError:
            self._attempt_id = uuid4()
            return []
        self._attempt_id = uuid4() if leases else self._attempt_id
        return leases

    def _may_begin(self, leased: LeasedTask) -> bool:
        """Release a task that must not be begun, and return False for it."""
        recipient = leased.task["recipient"]
        if not is_called(recipient, self._name):
            self._fail_by_key(recipient["display"])
            self._decline(leased, f"leased by a worker for {self._name} with this agent's API key")
            return False
        if self._stopping.is_set():
            self._decline(leased, "the worker was stopping")
            return False
        return True

    def _decline(self, leased: LeasedTask, reason: str) -> None:
        try:
            insist(lambda: self._hub.release(leased, reason), abandon=self._abandon, on_trouble=lambda _: None)
        except RefusedError as error:
            self._say(f"task {leased.id}: not released: {error}")

    def _trouble(self, error: HubError) -> None:
        self._say(f"Cannot post results now, trying again: {error}")

    def _run_attempt(self, attempt: Attempt, turn: Turn) -> None:
        outcome = AttemptOutcome.LEFT
        try:
            outcome = attempt.run()
        finally:
            with self._lock:
                self._attempts.discard(attempt)
                self._count(outcome)
            turn.end()
            self._hub.changed.set()

    def _count(self, outcome: AttemptOutcome) -> None:
        if outcome == AttemptOutcome.LEFT:
            self._failure = self._failure or "the hub did not get the outcome of a task; its lease needs a repair"
        if outcome != AttemptOutcome.NOT_STARTED:
            self._start_failures = 0
            self._finished += 1
            return
        self._taken -= 1
        self._start_failures += 1
        if self._start_failures >= START_FAILURES:
            self._fail(f"{self._work.command[0]} could not be started {START_FAILURES} times in a row")

    def _fail_by_key(self, owner: str | None) -> None:
        """Fail because the key belongs to ``owner``; None: it belongs to the worker's agent."""
        if owner is not None:
            self._fail(f"the API key belongs to {owner}, not to {self._name}")
            self.is_wrong_usage = True

    def _fail(self, why: str) -> None:
        self._say(f"Stopping: {why}.")
        self._failure = self._failure or why
        self._stopping.set()
