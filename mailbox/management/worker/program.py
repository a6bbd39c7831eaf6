"""One run of a program: started in a process group of its own, watched until nothing of it is left."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto

from mailbox.management.worker.guard import Guard, kill_group
from mailbox.management.worker.output import Output

TICK = 0.1  # seconds between looks at a program that writes nothing
CHUNK = 65_536
LAST_WORDS = 1.0  # seconds for what is in the pipes when the program is gone


class Stop(StrEnum):
    """Why a program was made to stop."""

    TIMED_OUT = auto()
    LEASE_ENDED = auto()
    WORKER_STOPPED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How it ended: an exit code, a signal's number below zero; ``stop`` None when it ended by itself."""

    code: int
    stop: Stop | None

    def __str__(self) -> str:
        if self.code >= 0:
            return f"exit code {self.code}"
        try:
            return f"killed by {signal.Signals(-self.code).name}"
        except ValueError:
            return f"killed by signal {-self.code}"


class Program:
    """A command that is given text on stdin and whose output goes to an `Output`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        text: str,
        environment: Mapping[str, str | bytes],
        output: Output,
        guard: Guard,
        time_limit: float | None,
        grace: float,
    ) -> None:
        """Let it run ``time_limit`` seconds, None for ever; ``grace`` is the time between SIGTERM and SIGKILL."""
        self._command = command
        self._text = text
        self._environment = environment
        self._output = output
        self._guard = guard
        self._grace = grace
        self._ends_at = None if time_limit is None else time.monotonic() + time_limit
        self._process: subprocess.Popen[bytes]
        self._ended = threading.Event()
        self._stop: Stop | None = None  # asked for
        self._stopped: Stop | None = None  # carried out
        self._kill_at: float | None = None

    def start(self) -> None:
        """Start it; raise `OSError` or `ValueError` when it cannot be."""
        with tempfile.TemporaryFile() as stdin:  # a pipe would have to be fed, and may never be read
            stdin.write(self._text.encode())
            stdin.seek(0)
            self._process = subprocess.Popen(  # noqa: S603 (what the operator asked for, no shell)
                self._command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=self._environment,
                start_new_session=True,
            )
        self._guard.watch(self._process.pid)
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self, why: Stop, *, at_once: bool = False) -> None:
        """Have it end soon, by SIGTERM and then SIGKILL, or ``at_once`` by SIGKILL; the first reason counts."""
        self._stop = self._stop or why
        if at_once:
            self._kill_at = 0.0

    def wait(self, seconds: float) -> bool:
        """Return whether it and all of its group have ended, as soon as they have."""
        return self._ended.wait(seconds)

    @property
    def ending(self) -> Ending:
        return Ending(code=self._process.returncode, stop=self._stopped)

    def _run(self) -> None:
        group = self._process.pid
        try:
            with self._pipes() as pipes:
                while self._process.poll() is None:
                    self._read(pipes)
                    self._enforce()
                kill_group(group, signal.SIGKILL)
                self._read_last_words(pipes)
        finally:
            kill_group(group, signal.SIGKILL)
            self._process.wait()
            self._guard.forget(group)
            self._output.close()
            self._ended.set()

    @contextlib.contextmanager
    def _pipes(self) -> Iterator[selectors.BaseSelector]:
        """Yield what tells which of the program's pipes can be read, each with who is fed from it."""
        out, err = self._process.stdout, self._process.stderr
        assert out is not None  # noqa: S101 (pipes were asked for)
        assert err is not None  # noqa: S101
        with out, err, selectors.DefaultSelector() as pipes:
            pipes.register(out, selectors.EVENT_READ, self._output.feed)
            pipes.register(err, selectors.EVENT_READ, self._output.feed_stderr)
            yield pipes

    def _read(self, pipes: selectors.BaseSelector) -> None:
        """Feed what is there to read, waiting a tick for it."""
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
            time.sleep(0.001)  # let a program that floods wait, not the machine

    def _read_last_words(self, pipes: selectors.BaseSelector) -> None:
        give_up_at = time.monotonic() + LAST_WORDS
        while pipes.get_map() and time.monotonic() < give_up_at:
            self._read(pipes)

    def _enforce(self) -> None:
        now = time.monotonic()
        if self._ends_at is not None and now >= self._ends_at:
            self._stop = self._stop or Stop.TIMED_OUT
        if self._stop is None:
            return
        if self._stopped is None:
            self._stopped = self._stop
            kill_group(self._process.pid, signal.SIGTERM)
            self._kill_at = now + self._grace if self._kill_at is None else self._kill_at
        if self._kill_at is not None and now >= self._kill_at:
            kill_group(self._process.pid, signal.SIGKILL)
