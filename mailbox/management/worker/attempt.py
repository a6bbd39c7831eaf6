"""One attempt at a task, from its lease to its result."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal, assert_never

from mailbox.management.worker.client import Hub
from mailbox.management.worker.errors import LeaseEndedError, RefusedError
from mailbox.management.worker.given import environment_of
from mailbox.management.worker.guard import Guard
from mailbox.management.worker.leased_task import LeasedTask, ProgramResult
from mailbox.management.worker.output import Output
from mailbox.management.worker.program import Program, Stop
from mailbox.management.worker.speech import Speech
from mailbox.management.worker.turns import Turn

SPEAK_EVERY = 0.5  # seconds between requests for one task
TIMED_OUT = "Task timed out"  # corvid-agent's text, which its clients show


class AttemptOutcome(Enum):
    SETTLED = auto()  # the hub has the result, or another party ended the lease
    RELEASED = auto()
    NOT_STARTED = auto()  # released, because the program could not be started
    LEFT = auto()  # the lease stays live, because the hub could not be reached


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSettings:
    """The program to run for each task, and how. ``heartbeat`` and ``grace`` are seconds.

    ``environment`` holds the program's variables, without the API key. ``result`` selects its last line or all lines.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    result: Literal["last", "all"] = "last"
    heartbeat: float = 10.0
    grace: float = 10.0


class Attempt:
    """Runs the program for one leased task. `run` returns once the hub has the outcome, or was given up."""

    def __init__(
        self,
        hub: Hub,
        leased: LeasedTask,
        work: ProgramSettings,
        *,
        turn: Turn,
        guard: Guard,
        abandon: threading.Event,
        say: Callable[[str], object],
    ) -> None:
        """Once ``abandon`` is set, failed requests are no longer repeated. ``turn`` lets the program start."""
        self.leased = leased
        self._turn = turn
        self._hub = hub
        self._work = work
        self._say = say
        self._output = Output()
        self._began_at = time.monotonic()
        self._speech = Speech(hub, leased, self._output, heartbeat=work.heartbeat, abandon=abandon, log=self._log)
        self._program = Program(
            work.command,
            text=leased.task["intent_text"],
            environment={**work.environment, **environment_of(leased)},
            output=self._output,
            guard=guard,
            time_limit=leased.time_limit,
            grace=work.grace,
        )

    def run(self) -> AttemptOutcome:
        try:
            if not self._await_turn():
                return self._release("the worker was stopped before the program was started")
        except LeaseEndedError as error:
            return self._settled(f"the program was not started: {error}")
        return self._run()

    def _await_turn(self) -> bool:
        """Send heartbeats until the program's turn; return False if the worker stops. Raises `LeaseEndedError`."""
        while not self._turn.take(SPEAK_EVERY) and not self._turn.is_lost:
            self._speech.speak()
        return not self._turn.is_lost

    def _run(self) -> AttemptOutcome:
        try:
            self._program.start()
        except (OSError, ValueError) as error:
            if _is_due_to_the_task(error):
                return self._answer(
                    ProgramResult(error_message=f"the program cannot be started with this task: {error}")
                )
            reason = f"the program cannot be started: {error}"
            return (
                AttemptOutcome.NOT_STARTED if self._release(reason) == AttemptOutcome.RELEASED else AttemptOutcome.LEFT
            )
        self._accompany()
        self._turn.end()
        match self._program.ending.stop:
            case Stop.LEASE_ENDED:
                return self._settled("the lease is no longer live; the program was stopped, and no result was posted")
            case Stop.WORKER_STOPPED:
                return self._release("the worker was stopped before the program had ended")
            case Stop.TIMED_OUT:
                return self._answer(ProgramResult(error_message=TIMED_OUT))
            case None:
                return self._answer(self._result())
            case never:
                assert_never(never)

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the program. Its task is then released."""
        self._program.stop(Stop.WORKER_STOPPED, at_once=at_once)

    def _accompany(self) -> None:
        """Report to the hub while the program runs. Stop the program if the lease has ended."""
        while not self._program.wait(SPEAK_EVERY):
            try:
                self._speech.speak()
            except LeaseEndedError:
                self._program.stop(Stop.LEASE_ENDED)

    def _result(self) -> ProgramResult:
        ending = self._program.ending
        if ending.code == 0:
            return ProgramResult(text=self._output.last if self._work.result == "last" else self._output.whole)
        complaint = self._output.complaint
        return ProgramResult(error_message=f"{ending}\n{complaint}" if complaint else str(ending))

    def _answer(self, answer: ProgramResult) -> AttemptOutcome:
        try:
            posted = self._post(answer) if self._speech.flush() else None
        except LeaseEndedError as error:
            return self._settled(f"the hub did not take the result: {error}")
        except RefusedError as error:
            self._log(str(error))
            return self._left()
        return self._left() if posted is None else self._settled((posted.error_message or "ok").partition("\n")[0])

    def _post(self, answer: ProgramResult) -> ProgramResult | None:
        """Post the result. If the hub refuses it for good, post that refusal as an error instead.

        Return the posted answer, None if the hub was given up.
        """
        try:
            return answer if self._speech.insist(lambda: self._hub.answer(self.leased, answer)) else None
        except LeaseEndedError:
            raise
        except RefusedError as error:
            refused = ProgramResult(error_message=f"the hub refused the result: {error}")
        return refused if self._speech.insist(lambda: self._hub.answer(self.leased, refused)) else None

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
        took = time.monotonic() - self._began_at
        self._say(f"task {self.leased.id} attempt {self.leased.attempt} after {took:.1f} s: {what}")


def _is_due_to_the_task(error: OSError | ValueError) -> bool:
    """Whether this task's own data prevented the start, so that the program may still start for other tasks."""
    return isinstance(error, ValueError) or error.errno == errno.E2BIG
