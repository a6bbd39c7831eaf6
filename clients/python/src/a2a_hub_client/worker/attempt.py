"""One attempt at a task, from its lease to its result.

While the job runs, the hub gets its updates in their order, or heartbeats.
"""

import errno
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any
from uuid import uuid4

from a2a_hub_client.errors import HubError, NotNowError, RefusedError
from a2a_hub_client.refusals import ForbiddenError
from a2a_hub_client.retry import Backoff
from a2a_hub_client.worker.client import LEASE_ENDED, PAUSES, WorkerClient, insist, pause
from a2a_hub_client.worker.job import LeasedTask, Stop, TaskResult, Updates, Work

FIRST = 0.9  # of a heartbeat's interval is left out before the first one, which shows that the holder sends some
BEAT_EVERY = 0.5  # seconds between the looks whether a heartbeat is due, while a request waits to be repeated
SPEAK_EVERY = 0.5  # seconds between requests for one task, if it has no pressing updates
TOGETHER = 0.05  # seconds in which pressing updates go into one request
TIMED_OUT = "Task timed out"  # corvid-agent's text, which its clients show


class Speech:
    """Posts the updates of a job under the lease, each once and in order."""

    def __init__(
        self,
        hub: WorkerClient,
        leased: LeasedTask,
        updates: Updates,
        *,
        is_strict: bool,
        heartbeat: float,
        abandon: threading.Event,
        read_on: Callable[[], object],
        log: Callable[[str], object],
    ) -> None:
        """``is_strict``: updates that the hub refuses fail the task. ``heartbeat`` is in seconds.

        ``read_on`` reads the new messages of the task's sender, and raises as a request does. Once ``abandon`` is set,
        failed requests are no longer repeated.
        """
        self.turn = leased.turn  # number of messages of the sender, by the hub's last answer
        self.refusal: str | None = None  # of updates that the hub refused, if it is strict
        self._hub = hub
        self._leased = leased
        self._updates = updates
        self._is_strict = is_strict
        self._heartbeat = heartbeat
        self._abandon = abandon
        self._read_on = read_on
        self._read_turn = leased.turn
        self._log = log
        self._unposted: Sequence[Mapping[str, Any]] = ()
        self._batch_id = uuid4()  # new for each batch
        self._backoff = Backoff(PAUSES)
        self._heard_at = time.monotonic() - FIRST * heartbeat
        self._quiet_until = 0.0

    def speak(self) -> None:
        """Post the job's new updates, or a heartbeat if it is due. If the hub cannot be reached, try later.

        Read on if the answer tells of new messages. Raises an error of `LEASE_ENDED`.
        """
        now = time.monotonic()
        if now < self._quiet_until:
            return
        self._gather()
        if not self._unposted and now - self._heard_at < self._heartbeat:
            return
        try:
            self._report()
        except LEASE_ENDED:
            raise
        except (NotNowError, ForbiddenError) as error:
            self._quiet_until = now + pause(self._backoff, error)
        except RefusedError as error:
            self._log(f"the hub refused a heartbeat, or to show the new messages: {error}")
            self._heard_at = now
        else:
            self._backoff = Backoff(PAUSES)
            self._heard_at = now

    def _report(self) -> None:
        """Post the updates or a heartbeat, once. Read on if the answer tells of new messages."""
        if self._unposted:
            self._post()
        else:
            self.turn = self._hub.heartbeat(self._leased)
        if self.turn > self._read_turn:
            self._read_on()
            self._read_turn = self.turn

    def flush(self) -> bool:
        """Post all updates that were not posted yet. False: the hub was given up."""
        while True:
            self._gather()
            if not self._unposted:
                return True
            if not self.insist(self._post):
                return False

    def insist(self, request: Callable[[], object]) -> bool:
        """Send ``request``, and repeat it until it succeeds, with heartbeats meanwhile. False: the hub was given up."""
        return insist(request, abandon=self._abandon, on_trouble=self._trouble, rest=self._rest)

    def beat(self) -> None:
        """Send a heartbeat if it is due, and ignore its refusal: another request of the attempt shows the problem."""
        now = time.monotonic()
        if now < self._quiet_until or now - self._heard_at < self._heartbeat:
            return
        try:
            self._hub.heartbeat(self._leased)
        except (NotNowError, ForbiddenError) as error:
            self._quiet_until = now + pause(self._backoff, error)
        except RefusedError:
            self._heard_at = now
        else:
            self._heard_at = now

    def _rest(self, seconds: float) -> bool:
        """Wait, with heartbeats; return whether the hub was given up."""
        ends_at = time.monotonic() + seconds
        while (left := ends_at - time.monotonic()) > 0 and not self._abandon.wait(min(left, BEAT_EVERY)):
            self.beat()
        return self._abandon.is_set()

    def _gather(self) -> None:
        """Take the next batch of updates from the job, once the hub has the last batch."""
        if not self._unposted:
            self._unposted, self._batch_id = self._updates.take(), uuid4()

    def _post(self) -> None:
        """Post the batch, once. A batch that the hub refuses for good is dropped."""
        try:
            self.turn = self._hub.update(self._leased, self._unposted, self._batch_id)
        except (*LEASE_ENDED, ForbiddenError):
            raise
        except RefusedError as error:
            refusal = f"the hub refused {len(self._unposted)} update(s): {error}"
            if self._is_strict:
                self.refusal = self.refusal or refusal
            else:
                self._log(refusal)
        self._unposted = ()

    def _trouble(self, error: HubError) -> None:
        self._log(f"the hub did not accept the request, trying again: {error}")


class Turn:
    """The turn of one job. ``free`` counts the jobs that may start, and none may once ``stopping`` is set."""

    def __init__(self, free: threading.Semaphore, stopping: threading.Event) -> None:
        self._free = free
        self._stopping = stopping
        self._is_taken = False

    @property
    def is_lost(self) -> bool:
        """Whether the job must not start any more."""
        return self._stopping.is_set()

    def take(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for the turn. Return whether it is the job's turn."""
        self._is_taken = self._free.acquire(timeout=seconds)
        return self._is_taken

    def end(self) -> None:
        """Let another job start. A second call changes nothing, and so does a call without a turn."""
        if self._is_taken:
            self._is_taken = False
            self._free.release()


class AttemptOutcome(Enum):
    SETTLED = auto()  # the hub has the result, or another party ended the lease
    RELEASED = auto()
    NOT_STARTED = auto()  # released, because the job could not be started
    LEFT = auto()  # the lease stays live, because the hub could not be reached


class Attempt:
    """Does the job of one leased task. `run` returns once the hub has the outcome, or was given up."""

    def __init__(
        self,
        hub: WorkerClient,
        leased: LeasedTask,
        work: Work,
        *,
        turn: Turn,
        abandon: threading.Event,
        say: Callable[[str], object],
    ) -> None:
        """Once ``abandon`` is set, failed requests are no longer repeated. ``turn`` lets the job start."""
        self.leased = leased
        self._turn = turn
        self._hub = hub
        self._say = say
        self._job = work.job(leased)
        self._is_started = False
        self._last_heard = 0  # the number of the newest message that the job has; 0 if it is the first, without one
        self._began_at = time.monotonic()
        self._speech = Speech(
            hub,
            leased,
            self._job.updates,
            is_strict=self._job.is_strict,
            heartbeat=work.heartbeat,
            abandon=abandon,
            read_on=self._read_on,
            log=self._log,
        )

    def run(self) -> AttemptOutcome:
        try:
            if not self._await_turn():
                return self._release("the worker was stopped before the task was begun")
            conversation = self._conversation()
        except LEASE_ENDED as error:
            return self._settled(f"the task was not begun: {error}")
        except RefusedError as error:
            return self._release(f"the messages of the task cannot be read: {error}")
        if conversation is None:
            return self._left()
        try:
            return self._begin(conversation)
        finally:
            self._job.close()

    def await_end(self) -> None:
        """Wait until nothing of the job runs any more."""
        if self._is_started:
            self._job.await_end()

    def _await_turn(self) -> bool:
        """Send heartbeats until the job's turn; return False if the worker stops. Raises an error of `LEASE_ENDED`."""
        while not self._turn.take(SPEAK_EVERY) and not self._turn.is_lost:
            self._speech.speak()
        return not self._turn.is_lost

    def _conversation(self) -> Sequence[Mapping[str, Any]] | None:
        """Return the task's messages, oldest first; None if the hub was given up."""
        if self._speech.turn == self.leased.attempt == 1:
            return [self.leased.first_message()]
        messages: list[Mapping[str, Any]] = []
        is_read = self._speech.insist(lambda: messages.extend(self._hub.conversation(self.leased)))
        return messages if is_read else None

    def _read_on(self) -> None:
        """Pass the new messages on to the running job. Raises as `WorkerClient.conversation`."""
        if self._is_started:
            messages = self._hub.conversation(self.leased, after=self._last_heard)
            self._job.hear(messages if self._last_heard else messages[1:])
            self._last_heard = messages[-1]["seq"] if messages else self._last_heard

    def _begin(self, conversation: Sequence[Mapping[str, Any]]) -> AttemptOutcome:
        self._last_heard = conversation[-1].get("seq", 0)
        try:
            self._job.start(conversation)
        except (OSError, ValueError) as error:
            return self._not_started(error)
        self._is_started = True
        return self._run()

    def _not_started(self, error: OSError | ValueError) -> AttemptOutcome:
        if isinstance(error, ValueError) or error.errno == errno.E2BIG:  # the job may start for other tasks
            return self._answer(TaskResult(error_message=f"the program cannot be started with this task: {error}"))
        released = self._release(f"the program cannot be started: {error}")
        return AttemptOutcome.NOT_STARTED if released == AttemptOutcome.RELEASED else AttemptOutcome.LEFT

    def _run(self) -> AttemptOutcome:
        """Wait for the end of the job, and post its outcome."""
        self._accompany()
        if self._job.ended_at is not None:
            self._turn.end()
        match self._job.stopped:
            case Stop.LEASE_ENDED:
                return self._settled("the lease is no longer live; the work was stopped, and no result was posted")
            case Stop.WORKER_STOPPED | Stop.TIMED_OUT if self._job.has_concluded and self._fault is None:
                return self._conclude()
            case Stop.WORKER_STOPPED:
                return self._release("the worker was stopped before the task was done")
            case Stop.TIMED_OUT:
                return self._answer(TaskResult(error_message=TIMED_OUT))
            case Stop.CONCLUDED | Stop.FAULTY | None:
                return self._conclude()

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the job. Its task is then released, unless it has concluded."""
        self._job.stop(Stop.WORKER_STOPPED, at_once=at_once)

    def _accompany(self) -> None:
        """Report to the hub while the job runs. Stop the job if the lease has ended."""
        while not self._job.wait(TOGETHER if self._job.updates.await_update(SPEAK_EVERY) else 0):
            try:
                self._speech.speak()
            except LEASE_ENDED:
                self._job.stop(Stop.LEASE_ENDED)
            if self._fault is not None:
                self._job.stop(Stop.FAULTY)
            elif self._job.has_concluded:
                self._job.conclude()

    @property
    def _fault(self) -> str | None:
        """The problem of the job's updates, None without one."""
        return self._job.fault or self._speech.refusal

    def _conclude(self) -> AttemptOutcome:
        """Post all updates and the outcome of the job, now that it has ended."""
        try:
            if not self._speech.flush():
                return self._left()
        except LEASE_ENDED as error:
            return self._settled(f"the hub did not take the last messages: {error}")
        except RefusedError as error:
            self._log(str(error))
            return self._left()
        if self._fault is not None:
            self._log(self._fault)
            return self._answer(TaskResult(error_message=self._fault))
        closing = self._job.closing
        return self._ask(closing.spoken) if closing.is_question and closing.spoken else self._answer(closing)

    def _ask(self, question: Mapping[str, Any]) -> AttemptOutcome:
        """Post the question, which ends the lease. If the hub refuses it, post that refusal as an error."""
        call_id = uuid4()
        try:
            is_posted = self._speech.insist(lambda: self._hub.update(self.leased, [question], call_id))
        except LEASE_ENDED as error:
            return self._settled(f"the hub did not take the question: {error}")
        except RefusedError as error:
            return self._answer(TaskResult(error_message=f"the hub refused the question: {error}"))
        return (
            self._settled("put a question to the sender; the answer brings a new lease") if is_posted else self._left()
        )

    def _answer(self, answer: TaskResult) -> AttemptOutcome:
        try:
            posted = self._post(answer) if self._speech.flush() else None
        except LEASE_ENDED as error:
            return self._settled(f"the hub did not take the result: {error}")
        except RefusedError as error:
            self._log(str(error))
            return self._left()
        return self._left() if posted is None else self._settled(posted.summary)

    def _post(self, answer: TaskResult) -> TaskResult | None:
        """Post the result. If the hub refuses it for good, post that refusal as an error instead.

        Return the posted answer, None if the hub was given up.
        """
        try:
            return self._posted(answer)
        except LEASE_ENDED:
            raise
        except RefusedError as error:
            refused = TaskResult(error_message=f"the hub refused the result: {error}")
        return self._posted(refused)

    def _posted(self, answer: TaskResult) -> TaskResult | None:
        """Post the result, with heartbeats while it waits; return it, or None if the hub was given up."""
        is_posted = self._speech.insist(lambda: self._hub.answer(self.leased, answer, self._speech.beat))
        return answer if is_posted else None

    def _release(self, reason: str) -> AttemptOutcome:
        try:
            self._speech.flush()
            released = self._speech.insist(lambda: self._hub.release(self.leased, reason))
        except RefusedError as error:
            return self._settled(f"not released: {error}")
        if not released:
            return self._left()
        self._log(f"released: {reason}")
        return AttemptOutcome.RELEASED

    def _settled(self, how: str) -> AttemptOutcome:
        self._log(how)
        return AttemptOutcome.SETTLED

    def _left(self) -> AttemptOutcome:
        self._log(f"given up: the hub has no outcome, and lease {self.leased.lease_id} stays live until it is repaired")
        return AttemptOutcome.LEFT

    def _log(self, what: str) -> None:
        """Log the event with the seconds from the lease until the job's end, or until now before that end."""
        took = (self._job.ended_at or time.monotonic()) - self._began_at
        self._say(f"task {self.leased.id} attempt {self.leased.attempt} after {took:.1f} s: {what}")
