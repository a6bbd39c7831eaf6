"""One attempt at a task, from its lease to its result."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Literal, assert_never
from uuid import uuid4

import orjson

from mailbox.management.worker.backoff import Backoff, insist
from mailbox.management.worker.client import (
    ForbiddenError,
    Hub,
    HubError,
    LeasedTask,
    LeaseEndedError,
    NotNowError,
    ProgramResult,
    RefusedError,
)
from mailbox.management.worker.guard import Guard
from mailbox.management.worker.output import Output
from mailbox.management.worker.program import Program, Stop

SPEAK_EVERY = 0.5  # seconds between requests for one task
TASK_BYTES = 100_000  # Linux starts no program with an environment variable beyond 128 KiB
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
        guard: Guard,
        abandon: threading.Event,
        say: Callable[[str], object],
    ) -> None:
        """Once ``abandon`` is set, failed requests are no longer repeated."""
        self.leased = leased
        self._hub = hub
        self._work = work
        self._abandon = abandon
        self._say = say
        self._output = Output()
        self._unposted: list[str] = []
        self._batch_id = uuid4()  # new for each batch
        self._backoff = Backoff()
        self._heard_at = self._began_at = time.monotonic()
        self._quiet_until = 0.0
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
        while not self._program.wait(SPEAK_EVERY):
            self._speak()
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

    def _speak(self) -> None:
        """Post the program's new messages, or a heartbeat if it is due. If the hub cannot be reached, try later."""
        now = time.monotonic()
        if now < self._quiet_until:
            return
        self._gather()
        if not self._unposted and now - self._heard_at < self._work.heartbeat:
            return
        try:
            if self._unposted:
                self._post_messages()
            else:
                self._hub.heartbeat(self.leased)
        except LeaseEndedError:
            self._program.stop(Stop.LEASE_ENDED)
        except (NotNowError, ForbiddenError) as error:
            self._quiet_until = now + self._backoff.pause(error)
        except RefusedError as error:
            self._log(f"the hub refused a heartbeat: {error}")
            self._heard_at = now
        else:
            self._backoff.reset()
            self._heard_at = now

    def _gather(self) -> None:
        """Take the next batch of messages from the program's output, once the hub has the last batch."""
        if not self._unposted:
            self._unposted, self._batch_id = self._output.take(), uuid4()

    def _post_messages(self) -> None:
        """Post the batch, once. A batch that the hub refuses for good is dropped."""
        try:
            self._hub.say(self.leased, self._unposted, self._batch_id)
        except (LeaseEndedError, ForbiddenError):
            raise
        except RefusedError as error:
            self._log(f"the hub refused {len(self._unposted)} messages: {error}")
        self._unposted = []

    def _result(self) -> ProgramResult:
        ending = self._program.ending
        if ending.code == 0:
            return ProgramResult(text=self._output.last if self._work.result == "last" else self._output.whole)
        complaint = self._output.complaint
        return ProgramResult(error_message=f"{ending}\n{complaint}" if complaint else str(ending))

    def _answer(self, answer: ProgramResult) -> AttemptOutcome:
        try:
            posted = self._post(answer) if self._flush() else None
        except LeaseEndedError as error:
            return self._settled(f"the hub did not take the result: {error}")
        except RefusedError as error:
            self._log(str(error))
            return self._left()
        return self._left() if posted is None else self._settled((posted.error_message or "ok").partition("\n")[0])

    def _flush(self) -> bool:
        """Post all messages that were not posted yet. False: the hub was given up."""
        while True:
            self._gather()
            if not self._unposted:
                return True
            if not self._insist(self._post_messages):
                return False

    def _post(self, answer: ProgramResult) -> ProgramResult | None:
        """Post the result. If the hub refuses it for good, post that refusal as an error instead.

        Return the posted answer, None if the hub was given up.
        """
        try:
            return answer if self._insist(lambda: self._hub.answer(self.leased, answer)) else None
        except LeaseEndedError:
            raise
        except RefusedError as error:
            refused = ProgramResult(error_message=f"the hub refused the result: {error}")
        return refused if self._insist(lambda: self._hub.answer(self.leased, refused)) else None

    def _release(self, reason: str) -> AttemptOutcome:
        try:
            self._flush()
            released = self._insist(lambda: self._hub.release(self.leased, reason))
        except RefusedError as error:
            return self._settled(f"not released: {error}")
        if not released:
            return self._left()
        self._log(f"released: {reason}")
        return AttemptOutcome.RELEASED

    def _insist(self, request: Callable[[], object]) -> bool:
        return insist(request, abandon=self._abandon, on_trouble=self._trouble)

    def _trouble(self, error: HubError) -> None:
        self._log(f"the hub did not accept the request, trying again: {error}")

    def _settled(self, how: str) -> AttemptOutcome:
        self._log(how)
        return AttemptOutcome.SETTLED

    def _left(self) -> AttemptOutcome:
        self._log(f"given up: the hub has no outcome, and lease {self.leased.lease_id} stays live until it is repaired")
        return AttemptOutcome.LEFT

    def _log(self, what: str) -> None:
        took = time.monotonic() - self._began_at
        self._say(f"task {self.leased.id} attempt {self.leased.attempt} after {took:.1f} s: {what}")


def environment_of(leased: LeasedTask) -> dict[str, bytes]:
    """Return the variables that describe the task to its program, in UTF-8. The program also gets the text on stdin."""
    return {
        "A2A_TASK": _spelled(leased.task),
        "A2A_TASK_ID": leased.id.encode(),
        "A2A_LEASE_ID": leased.lease_id.encode(),
        "A2A_ATTEMPT": b"%d" % leased.attempt,
    }


def _spelled(task: Mapping[str, Any]) -> bytes:
    """Return the task as JSON of at most `TASK_BYTES`. The key ``left_out`` lists the fields that are left out.

    These are the text if that is enough, else the longest fields. The id always stays.
    """
    if len(spelled := orjson.dumps(task)) <= TASK_BYTES:
        return spelled
    by_length = sorted(task.keys() - {"id"}, key=lambda name: len(orjson.dumps(task[name])), reverse=True)
    for left_out in (["intent_text"], *(by_length[:number] for number in range(1, len(by_length) + 1))):
        kept = {name: value for name, value in task.items() if name not in left_out}
        spelled = orjson.dumps({**kept, "left_out": left_out})
        if len(spelled) <= TASK_BYTES:
            break
    return spelled


def _is_due_to_the_task(error: OSError | ValueError) -> bool:
    """Whether this task's own data prevented the start, so that the program may still start for other tasks."""
    return isinstance(error, ValueError) or error.errno == errno.E2BIG
