"""Programs as the work of a worker: each task is one run of the program, in its own process group.

The run is watched until all its processes have ended. It gets text on its stdin, variables that describe its task, and
a file with the conversation.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Literal

import msgspec

from a2a_hub_client.models.wire import blocks_of, text_of
from a2a_hub_client.worker.guard import Guard, kill_group
from a2a_hub_client.worker.job import Job, LeasedTask, Stop, TaskResult
from a2a_hub_client.worker.output import ControlledOutput, Output

if TYPE_CHECKING:
    from typing_extensions import Self

TASK_BYTES = 100_000  # Linux starts no program with an environment variable beyond 128 KiB
TICK = 0.1  # seconds between checks of a program that writes nothing
CHUNK = 65_536
LAST_WORDS = 1.0  # seconds to read what is left in the pipes after the program has ended


def environment_of(leased: LeasedTask, *, conversation: str, token: str | None) -> dict[str, bytes]:
    """Return the variables that describe the task to its program, in UTF-8.

    ``conversation`` is the path of the file of messages. ``token`` begins control lines; None: there are none.
    """
    control = {} if token is None else {"A2A_CONTROL": token.encode()}
    return {
        "A2A_TASK": _spelled(leased.task),
        "A2A_TASK_ID": leased.id.encode(),
        "A2A_LEASE_ID": leased.lease_id.encode(),
        "A2A_ATTEMPT": b"%d" % leased.attempt,
        "A2A_TURN": b"%d" % leased.turn,
        "A2A_CONVERSATION": conversation.encode(),
        **control,
    }


def _spelled(task: Mapping[str, Any]) -> bytes:
    """Return the task as JSON of at most `TASK_BYTES`. The key ``left_out`` lists the fields that are left out.

    These are the text if that is enough, else the longest fields. The id always stays.
    """
    if len(spelled := msgspec.json.encode(task)) <= TASK_BYTES:
        return spelled
    by_length = sorted(task.keys() - {"id"}, key=lambda name: len(msgspec.json.encode(task[name])), reverse=True)
    for left_out in (["intent_text"], *(by_length[:number] for number in range(1, len(by_length) + 1))):
        kept = {name: value for name, value in task.items() if name not in left_out}
        spelled = msgspec.json.encode({**kept, "left_out": left_out})
        if len(spelled) <= TASK_BYTES:
            break
    return spelled


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


class ProgramJob(Job):
    """One run of the program, for one task."""

    def __init__(self, leased: LeasedTask, settings: ProgramSettings, guard: Guard) -> None:
        self._leased = leased
        self._settings = settings
        self._guard = guard
        self._token = secrets.token_hex(16) if settings.protocol == "lines" else None
        self.is_strict = self._token is not None
        is_silent = settings.messages == "none"
        self.updates = self._output = (
            Output(is_silent=is_silent) if self._token is None else ControlledOutput(self._token, is_silent=is_silent)
        )
        self._ends_at = None if leased.time_limit is None else time.monotonic() + leased.time_limit
        self._files = contextlib.ExitStack()
        self._conversation: IO[bytes]  # a line of JSON per message; it may grow while the program reads it
        self._process: subprocess.Popen[bytes]
        self._ended = threading.Event()
        self._stop: Stop | None = None  # requested; it is ``stopped`` once SIGTERM was sent
        self._conclude_at: float | None = None
        self._kill_at: float | None = None

    def start(self, conversation: Sequence[Mapping[str, Any]]) -> None:
        file = self._files.enter_context(tempfile.NamedTemporaryFile(prefix="a2a-conversation-", suffix=".jsonl"))  # noqa: SIM115
        self._conversation = file.file
        self.hear(conversation)
        variables = environment_of(self._leased, conversation=file.name, token=self._token)
        environment: dict[str, str | bytes] = {**self._settings.environment, **variables}
        later = [text_of(blocks_of(said["content"])) for said in conversation[1:] if said["role"] == "user"]
        with tempfile.TemporaryFile() as stdin:  # writing to a pipe could block: the program may never read it
            stdin.write("\n".join([self._leased.task["intent_text"], *later]).encode())
            stdin.seek(0)
            self._process = subprocess.Popen(  # noqa: S603 (the operator's command, no shell)
                self._settings.command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=environment,
                start_new_session=True,
            )
        self._guard.watch(self._process.pid)
        threading.Thread(target=self._run, daemon=True).start()

    def hear(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._conversation.write(b"".join(msgspec.json.encode(message) + b"\n" for message in messages))
        self._conversation.flush()

    def stop(self, why: Stop, *, at_once: bool = False) -> None:
        """Stop the program with SIGTERM and then SIGKILL, or ``at_once`` with SIGKILL. The first reason counts."""
        self._stop = self._stop or why
        if at_once:
            self._kill_at = 0.0

    def conclude(self) -> None:
        """Stop the program if it does not end by itself within the grace, counted from the first call."""
        if self._conclude_at is None:
            self._conclude_at = time.monotonic() + self._settings.grace

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds`` until the program and its process group have ended; return whether they have."""
        return self._ended.wait(seconds)

    def close(self) -> None:
        self._files.close()

    def await_end(self) -> None:
        """Return at once: an attempt goes on only when its program has ended."""

    @property
    def fault(self) -> str | None:
        return self._output.fault

    @property
    def has_concluded(self) -> bool:
        return self._output.conclusion is not None

    @property
    def closing(self) -> TaskResult:
        """The last control line of a program that did not fail, else a result by its exit code."""
        code, conclusion = self._process.returncode, self._output.conclusion
        has_failed = code != 0 and self.stopped is None
        if conclusion is not None and not has_failed:
            return TaskResult(spoken=conclusion)
        if code == 0:
            return TaskResult(text=self._output.last if self._settings.result == "last" else self._output.whole)
        complaint = self._output.complaint
        return TaskResult(error_message=f"{_ending(code)}\n{complaint}" if complaint else _ending(code))

    def _run(self) -> None:
        group = self._process.pid
        try:
            with self._pipes() as pipes:
                while self._process.poll() is None:
                    if self._output.is_full:
                        time.sleep(TICK)  # the program waits for its pipe
                    else:
                        self._read(pipes)
                    self._enforce()
                kill_group(group, signal.SIGKILL)
                self._read_last_words(pipes)
        finally:
            kill_group(group, signal.SIGKILL)
            self._process.wait()
            self._guard.forget(group)
            self._output.close()
            self.ended_at = time.monotonic()
            self._ended.set()

    @contextlib.contextmanager
    def _pipes(self) -> Iterator[selectors.BaseSelector]:
        """Yield a selector of the program's pipes. The ``data`` of a pipe is the function that takes its bytes."""
        out, err = self._process.stdout, self._process.stderr
        assert out is not None  # noqa: S101 (Popen made pipes)
        assert err is not None  # noqa: S101
        with out, err, selectors.DefaultSelector() as pipes:
            pipes.register(out, selectors.EVENT_READ, self._output.feed)
            pipes.register(err, selectors.EVENT_READ, self._output.feed_stderr)
            yield pipes

    def _read(self, pipes: selectors.BaseSelector) -> None:
        """Read what is in the pipes, waiting up to a tick."""
        if not pipes.get_map():
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(TICK)
            return
        for key, _ in pipes.select(TICK):
            feed: Callable[[bytes], None] = key.data
            if data := os.read(key.fd, CHUNK):
                feed(data)
            else:
                pipes.unregister(key.fileobj)
        if self._output.is_overflowing:
            time.sleep(0.001)  # slows down a program that writes too much, and saves the CPU

    def _read_last_words(self, pipes: selectors.BaseSelector) -> None:
        give_up_at = time.monotonic() + LAST_WORDS
        while pipes.get_map() and time.monotonic() < give_up_at:
            self._read(pipes)

    def _enforce(self) -> None:
        now = time.monotonic()
        if self._ends_at is not None and now >= self._ends_at:
            self._stop = self._stop or Stop.TIMED_OUT
        if self._conclude_at is not None and now >= self._conclude_at:
            self._stop = self._stop or Stop.CONCLUDED
        if self._stop is None:
            return
        if self.stopped is None:
            self.stopped = self._stop
            kill_group(self._process.pid, signal.SIGTERM)
            self._kill_at = now + self._settings.grace if self._kill_at is None else self._kill_at
        if self._kill_at is not None and now >= self._kill_at:
            kill_group(self._process.pid, signal.SIGKILL)


def _ending(code: int) -> str:
    """Return how a program ended. ``code`` is its exit code, or minus the number of the signal that killed it."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


class Programs:
    """Runs a program for each task, and guards the programs of a worker that is killed."""

    def __init__(self, settings: ProgramSettings) -> None:
        self.name = settings.command[0]
        self.heartbeat, self.grace = settings.heartbeat, settings.grace
        self._settings = settings
        self._guard: Guard

    def __enter__(self) -> Self:
        self._guard = Guard(grace=self.grace)
        return self

    def __exit__(self, *_: object) -> None:
        self._guard.close()

    def job(self, leased: LeasedTask) -> ProgramJob:
        """Return a run of the program that has not started."""
        return ProgramJob(leased, self._settings, self._guard)
