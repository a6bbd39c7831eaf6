"""Leases tasks for one agent and does a job for each, until a signal stops it.

No lease is lost: a request whose answer was lost is repeated under its attempt id.
"""

import contextlib
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import uuid4

import msgspec

from a2a_hub_client.errors import AttemptSpentError, HubError, NotNowError, RefusedError
from a2a_hub_client.models.tasks import AgentId
from a2a_hub_client.retry import Backoff
from a2a_hub_client.worker.attempt import Attempt, AttemptOutcome, Turn
from a2a_hub_client.worker.client import PAUSES, WorkerClient, foreign_key, insist, pause
from a2a_hub_client.worker.job import LeasedTask, Work
from a2a_hub_client.worker.orphans import Orphans, Resuming

# The worker waits for the end of a poll even when it stops. Otherwise it would lose a lease in the poll's answer.
POLL = 3.0  # seconds
REST = 1.0  # second after an answer without a task that came earlier, as from a hub without a free seat
TICK = 0.05
TOGETHER = 0.05  # seconds; results that are ready within this time are posted in one request
LINGER = 0.5  # seconds that a result waits at most for others
START_FAILURES = 3  # in a row, after which the worker gives up
TO_REPORT = 10.0  # seconds to post outcomes to the hub once the jobs were stopped
TO_REPORT_AT_ONCE = 2.0

STOP_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
log = logging.getLogger("a2a_hub_client")


@dataclass(slots=True)
class StopSignals:
    """The number of stop signals. A plain number, as a signal handler must not wait for a lock of its own thread."""

    count: int = 0

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Count stop signals within the block, and restore the earlier handlers after it.

        Only the main thread can set handlers; in another one the block counts nothing.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        earlier = {number: signal.signal(number, self._hear) for number in heard_signals()}
        try:
            yield
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)

    def _hear(self, *_: object) -> None:
        self.count += 1


def heard_signals() -> list[signal.Signals]:
    """Return the signals that stop a worker. ``nohup`` ignores SIGHUP, and such a SIGHUP stays ignored."""
    is_ignored = {number: signal.getsignal(number) is signal.SIG_IGN for number in STOP_SIGNALS}
    return [number for number in STOP_SIGNALS if not (number.name == "SIGHUP" and is_ignored[number])]


class Receiving:
    """The receives of one worker, one at a time."""

    def __init__(
        self,
        hub: WorkerClient,
        *,
        stopping: threading.Event,
        abandon: threading.Event,
        say: Callable[[str], object],
    ) -> None:
        """Once ``stopping`` is set, only a request whose answer was lost is repeated; with ``abandon``, none."""
        self._hub = hub
        self._stopping = stopping
        self._abandon = abandon
        self._say = say
        self._attempt_id = uuid4()

    def next(self, most: int, poll: float) -> Sequence[LeasedTask]:
        """Lease tasks, at most ``most``, repeating the request until it is answered. Raises `RefusedError`.

        The list is empty if there is no task within ``poll`` seconds, and if the worker stops. The attempt id stays
        until it brings a task. An earlier request under it may go on in the hub and take a task, which the hub returns
        under this id only.
        """
        backoff = Backoff(PAUSES)
        trouble = False
        lost_until = None  # the latest end of an unanswered request in the hub; None: every request was answered
        while True:
            stopping = self._stopping.is_set()
            if self._abandon.is_set() or (stopping and lost_until is None):
                return []
            try:
                wait = max(0.0, lost_until - time.monotonic()) if stopping and lost_until else poll
                leases = self._receive(most, wait)
            except NotNowError as error:
                if not trouble:
                    self._say(f"Cannot lease a task now, trying again: {error}")
                trouble = True
                lost_until = time.monotonic() + POLL if error.may_have_arrived else lost_until
                (self._abandon if stopping else self._stopping).wait(pause(backoff, error))
            else:
                if trouble:
                    self._say("The hub answers again.")
                return leases

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


class Worker:
    """Works on the tasks of one agent, ``concurrency`` at once.

    With a ``batch`` it leases up to that many tasks at once, and posts their results with the request that leases the
    next tasks. ``hub`` is then a client of batches.
    """

    def __init__(
        self,
        hub: WorkerClient,
        name: str | None,
        work: Work,
        *,
        concurrency: int = 1,
        batch: int | None = None,
        max_tasks: int | None = None,
        resuming: Resuming | None = None,
        signals: StopSignals | None = None,
        say: Callable[[str], object],
    ) -> None:
        """``name`` None: the key's agent. ``max_tasks`` None: work until a signal.

        Tasks whose job could not be started do not count. ``resuming`` says which leases of crashed workers it takes
        over, None: as `Resuming` does by default. ``signals`` counts the stops, also those before `run`.
        """
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
        self._taken = self._finished = self._start_failures = self._lingering = 0
        self._signals = signals or StopSignals()
        self._stopping = threading.Event()
        self._abandon = threading.Event()
        self._failure: str | None = None
        self.is_wrong_usage = False  # whether it failed because the key is not that of its agent
        self._receiving = Receiving(hub, stopping=self._stopping, abandon=self._abandon, say=say)
        self._orphans = Orphans(
            hub,
            resuming or Resuming(),
            heartbeat=work.heartbeat,
            stopping=self._stopping,
            abandon=self._abandon,
            own=self._held_leases,
            say=say,
        )

    def run(self) -> str | None:
        """Work until ``max_tasks`` tasks are done or the worker is stopped. Return the failure, None without any.

        In the main thread, signals stop the worker, as `stop` does. A stop before the run ends it at once. A live lease
        left behind is a failure.
        """
        with self._signals.heard(), self._work:
            if self._signals.count:
                self._say("Stopped before it began.")
                return None
            self._say(f"Working{f' as {self._name}' if self._name else ''} at {self._hub.url}. Stop it with Ctrl-C.")
            leasing = threading.Thread(target=self._lease, daemon=True)
            leasing.start()
            self._watch(leasing)
        for attempt in tuple(self._attempts):
            self._say(f"task {attempt.leased.id}: given up; lease {attempt.leased.lease_id} stays live")
            self._count(AttemptOutcome.LEFT)
        return self._failure

    def stop(self) -> None:
        """Let jobs run for another grace; then stop them, and release their tasks. A second call stops them at once."""
        self._signals.count += 1

    def _watch(self, leasing: threading.Thread) -> None:
        stop_at = give_up_at = float("inf")
        seen, signals = 0, self._signals
        while leasing.is_alive() or self._attempts:
            time.sleep(TICK)
            now = time.monotonic()
            if signals.count and not self._stopping.is_set():
                self._say(f"Stopping: running work has {self._work.grace:g} s to finish. Ctrl-C again kills it.")
                self._stopping.set()
            if self._stopping.is_set() and stop_at > now + self._work.grace:
                stop_at = now + self._work.grace
            if now >= stop_at and give_up_at == float("inf"):
                self._stop_jobs()
                give_up_at = now + self._work.grace + TO_REPORT
            if signals.count > 1 and seen < 2:
                self._stop_jobs(at_once=True)
                stop_at, give_up_at = now, now + TO_REPORT_AT_ONCE
            seen = signals.count
            if now >= give_up_at:
                self._abandon.set()
            if now >= give_up_at + 1:
                return

    def _held_leases(self) -> set[str]:
        with self._lock:
            return {attempt.leased.lease_id for attempt in self._attempts}

    def _stop_jobs(self, *, at_once: bool = False) -> None:
        with self._lock:
            for attempt in self._attempts:
                attempt.stop(at_once=at_once)

    def _lease(self) -> None:
        """Lease tasks until the worker stops or is done. The results of batches go out with the leases."""
        try:
            self._fail_by_key(foreign_key(self._hub, self._name, stopping=self._stopping, say=self._say))
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
        except BaseException as error:  # noqa: BLE001 (the thread would end as if the work were done)
            self._break(error)
        finally:
            self._hub.stop_batches()

    def _next(self, most: int) -> Sequence[LeasedTask]:
        """Take over a lease that a crashed worker left, else lease tasks, at most ``most``."""
        try:
            self._orphans.look()
            orphan = self._orphans.take_over()
            return self._receiving.next(most, self._poll) if orphan is None else [orphan]
        except RefusedError as error:
            self._fail(str(error))
            return []

    def _rest(self) -> None:
        """Wait after jobs that could not be started."""
        if self._start_failures:
            self._stopping.wait(2.0 ** (self._start_failures - 1))

    def _begin(self, leases: Sequence[LeasedTask]) -> None:
        for leased in leases:
            if not self._may_begin(leased):
                continue
            try:
                self._start(leased)
            except BaseException as error:  # noqa: BLE001 (no lease of this answer may be forgotten)
                self._break(error)
                self._decline(leased, "the worker could not begin the task")

    def _start(self, leased: LeasedTask) -> None:
        """Begin the attempt in a thread of its own."""
        turn = Turn(self._turns, self._stopping)
        attempt = Attempt(self._hub, leased, self._work, turn=turn, abandon=self._abandon, say=self._say)
        running = threading.Thread(target=self._run_attempt, args=(attempt, turn), daemon=True)
        with self._lock:
            running.start()
            self._attempts.add(attempt)
            self._taken += 1

    def _most(self) -> int:
        """Return how many tasks the worker may lease now, beside those whose result the hub gets first."""
        if self._stopping.is_set():
            return 0
        room = self._limit - len(self._attempts) - self._lingering + self._hub.pending
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
        """The number of tasks whose job runs, or will run."""
        return len(self._attempts) + self._lingering - self._hub.pending

    def _is_over(self) -> bool:
        if self._stopping.is_set():
            return not self._attempts or self._abandon.is_set()
        return self._max_tasks is not None and self._finished >= self._max_tasks

    @property
    def _poll(self) -> float:
        """The seconds that a request waits for a task.

        The results of running jobs are not to wait for long. Nor are the outcomes of the results in the request, which
        come with its answer.
        """
        return LINGER if self._is_batching and self._attempts else POLL

    def _may_begin(self, leased: LeasedTask) -> bool:
        """Release a task that must not be begun, and return False for it."""
        recipient = msgspec.convert(leased.task["recipient"], AgentId)
        if self._name is not None and not recipient.is_called(self._name):
            self._fail_by_key(recipient.display)
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
                self._lingering += 1
                self._count(outcome)
            self._hub.changed.set()
            attempt.await_end()
            with self._lock:
                self._lingering -= 1
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
            self._fail(f"{self._work.name} could not be started {START_FAILURES} times in a row")

    def _fail_by_key(self, owner: str | None) -> None:
        """Fail because the key belongs to ``owner``; None: it belongs to the worker's agent."""
        if owner is not None:
            self._fail(f"the API key belongs to {owner}, not to {self._name or 'an agent'}")
            self.is_wrong_usage = True

    def _break(self, error: BaseException) -> None:
        """Fail because of an error that nothing here expects."""
        log.error("the worker broke", exc_info=error)
        self._fail(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)

    def _fail(self, why: str) -> None:
        self._say(f"Stopping: {why}.")
        self._failure = self._failure or why
        self._stopping.set()
