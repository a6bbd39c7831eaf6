"""One attempt at a task, from its lease to its result."""

from __future__ import annotations

import contextlib
import errno
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Literal
from uuid import uuid4

from a2a_hub_client.worker import given
from a2a_hub_client.worker.client import Hub
from a2a_hub_client.worker.control import ASKING, ControlledOutput
from a2a_hub_client.worker.errors import LeaseEndedError, RefusedError
from a2a_hub_client.worker.guard import Guard
from a2a_hub_client.worker.leased_task import LeasedTask, ProgramResult
from a2a_hub_client.worker.output import Output
from a2a_hub_client.worker.program import Program, Stop
from a2a_hub_client.worker.speech import Speech
from a2a_hub_client.worker.turns import Turn

SPEAK_EVERY = 0.5  # seconds between requests for one task, if there are no control lines
TOGETHER = 0.05  # seconds in which control lines go into one request
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
    ``messages`` "none" posts no line as a message. ``protocol`` "lines" lets the program write control lines.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    result: Literal["last", "all"] = "last"
    messages: Literal["all", "none"] = "all"
    protocol: Literal["plain", "lines"] = "plain"
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
        self._token = secrets.token_hex(16) if work.protocol == "lines" else None
        is_silent = work.messages == "none"
        self._output = (
            Output(is_silent=is_silent) if self._token is None else ControlledOutput(self._token, is_silent=is_silent)
        )
        self._file: given.ConversationFile | None = None
        self._began_at = time.monotonic()
        self._speech = Speech(
            hub,
            leased,
            self._output,
            is_strict=self._token is not None,
            heartbeat=work.heartbeat,
            abandon=abandon,
            read_on=self._read_on,
            log=self._log,
        )
        self._program = Program(
            work.command, output=self._output, guard=guard, time_limit=leased.time_limit, grace=work.grace
        )

    def run(self) -> AttemptOutcome:
        try:
            if not self._await_turn():
                return self._release("the worker was stopped before the program was started")
            conversation = self._conversation()
        except LeaseEndedError as error:
            return self._settled(f"the program was not started: {error}")
        except RefusedError as error:
            return self._release(f"the messages of the task cannot be read: {error}")
        if conversation is None:
            return self._left()
        with contextlib.ExitStack() as files:
            try:
                self._start(conversation, files)
            except (OSError, ValueError) as error:
                return self._not_started(error)
            return self._run()

    def _await_turn(self) -> bool:
        """Send heartbeats until the program's turn; return False if the worker stops. Raises `LeaseEndedError`."""
        while not self._turn.take(SPEAK_EVERY) and not self._turn.is_lost:
            self._speech.speak()
        return not self._turn.is_lost

    def _conversation(self) -> Sequence[Mapping[str, Any]] | None:
        """Return the task's messages, oldest first; None if the hub was given up."""
        if self._speech.turn == self.leased.attempt == 1:
            return [given.first_message(self.leased)]
        messages: list[Mapping[str, Any]] = []
        is_read = self._speech.insist(lambda: messages.extend(self._hub.conversation(self.leased)))
        return messages if is_read else None

    def _read_on(self) -> None:
        """Add the new messages to the file of the running program. Raises as `Hub.conversation`."""
        if self._file is not None:
            messages = self._hub.conversation(self.leased, after=self._file.last)
            self._file.add(messages if self._file.last else messages[1:])

    def _start(self, conversation: Sequence[Mapping[str, Any]], files: contextlib.ExitStack) -> None:
        """Start the program. ``files`` keeps its files. Raises `OSError` or `ValueError` if that fails."""
        self._file = files.enter_context(given.conversation_file(conversation))
        variables = given.environment_of(self.leased, conversation=self._file.path, token=self._token)
        text = given.text_of(self.leased, conversation)
        self._program.start(text, {**self._work.environment, **variables})

    def _not_started(self, error: OSError | ValueError) -> AttemptOutcome:
        if _is_due_to_the_task(error):
            return self._answer(ProgramResult(error_message=f"the program cannot be started with this task: {error}"))
        released = self._release(f"the program cannot be started: {error}")
        return AttemptOutcome.NOT_STARTED if released == AttemptOutcome.RELEASED else AttemptOutcome.LEFT

    def _run(self) -> AttemptOutcome:
        """Wait for the end of the program, and post its outcome."""
        self._accompany()
        self._turn.end()
        match self._program.ending.stop:
            case Stop.LEASE_ENDED:
                return self._settled("the lease is no longer live; the program was stopped, and no result was posted")
            case Stop.WORKER_STOPPED | Stop.TIMED_OUT if self._has_concluded:
                return self._conclude()
            case Stop.WORKER_STOPPED:
                return self._release("the worker was stopped before the program had ended")
            case Stop.TIMED_OUT:
                return self._answer(ProgramResult(error_message=TIMED_OUT))
            case Stop.CONCLUDED | Stop.FAULTY | None:
                return self._conclude()

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the program. Its task is then released, unless its last control line has come."""
        self._program.stop(Stop.WORKER_STOPPED, at_once=at_once)

    def _accompany(self) -> None:
        """Report to the hub while the program runs. Stop the program if the lease has ended."""
        while not self._program.wait(TOGETHER if self._output.await_update(SPEAK_EVERY) else 0):
            try:
                self._speech.speak()
            except LeaseEndedError:
                self._program.stop(Stop.LEASE_ENDED)
            if self._fault is not None:
                self._program.stop(Stop.FAULTY)
            elif self._output.conclusion is not None:
                self._program.conclude()

    @property
    def _fault(self) -> str | None:
        """The problem of the program's control lines, None without one."""
        return self._output.fault or self._speech.refusal

    @property
    def _has_concluded(self) -> bool:
        """Whether the program wrote its last control line, and no faulty one."""
        return self._output.conclusion is not None and self._fault is None

    def _conclude(self) -> AttemptOutcome:
        """Post all that the program wrote, now that it has ended."""
        try:
            if not self._speech.flush():
                return self._left()
        except LeaseEndedError as error:
            return self._settled(f"the hub did not take the last messages: {error}")
        except RefusedError as error:
            self._log(str(error))
            return self._left()
        ending, conclusion = self._program.ending, self._output.conclusion
        if conclusion is None or self._fault is not None or (ending.code != 0 and ending.stop is None):
            return self._answer(self._result())
        if conclusion["status"] in ASKING:
            return self._ask(conclusion)
        return self._answer(ProgramResult(spoken=conclusion))

    def _result(self) -> ProgramResult:
        """Return the result of a program that wrote no conclusion, or that failed."""
        if self._fault is not None:
            self._log(self._fault)
            return ProgramResult(error_message=self._fault)
        ending = self._program.ending
        if ending.code == 0:
            return ProgramResult(text=self._output.last if self._work.result == "last" else self._output.whole)
        complaint = self._output.complaint
        return ProgramResult(error_message=f"{ending}\n{complaint}" if complaint else str(ending))

    def _ask(self, question: Mapping[str, Any]) -> AttemptOutcome:
        """Post the question, which ends the lease. If the hub refuses it, post that refusal as an error."""
        call_id = uuid4()
        try:
            is_posted = self._speech.insist(lambda: self._hub.update(self.leased, [question], call_id))
        except LeaseEndedError as error:
            return self._settled(f"the hub did not take the question: {error}")
        except RefusedError as error:
            return self._answer(ProgramResult(error_message=f"the hub refused the question: {error}"))
        return (
            self._settled("put a question to the sender; the answer brings a new lease") if is_posted else self._left()
        )

    def _answer(self, answer: ProgramResult) -> AttemptOutcome:
        try:
            posted = self._post(answer) if self._speech.flush() else None
        except LeaseEndedError as error:
            return self._settled(f"the hub did not take the result: {error}")
        except RefusedError as error:
            self._log(str(error))
            return self._left()
        return self._left() if posted is None else self._settled(posted.summary)

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
        """Log the event with the seconds from the lease until the program's end, or until now before that end."""
        took = (self._program.ended_at or time.monotonic()) - self._began_at
        self._say(f"task {self.leased.id} attempt {self.leased.attempt} after {took:.1f} s: {what}")


def _is_due_to_the_task(error: OSError | ValueError) -> bool:
    """Whether this task's own data prevented the start, so that the program may still start for other tasks."""
    return isinstance(error, ValueError) or error.errno == errno.E2BIG
