"""One run of a program, in its own process group, which is watched until all its processes have ended."""

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

from a2a_hub_client.worker.guard import Guard, kill_group
from a2a_hub_client.worker.job import Stop
from a2a_hub_client.worker.output import Output

TICK = 0.1  # seconds between checks of a program that writes nothing
CHUNK = 65_536
LAST_WORDS = 1.0  # seconds to read what is left in the pipes after the program has ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a program ended. ``code`` is its exit code, or minus the number of the signal that killed it.

    ``stop`` is the reason why the worker stopped it, None if it ended by itself.
    """

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
    """A command. Its output goes to an `Output`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        output: Output,
        guard: Guard,
        time_limit: float | None,
        grace: float,
    ) -> None:
        """``time_limit`` is in seconds, None without a limit. ``grace``: seconds between SIGTERM and SIGKILL."""
        self.ended_at: float | None = None  # by the monotonic clock; None before the end
        self._command = command
        self._output = output
        self._guard = guard
        self._grace = grace
        self._ends_at = None if time_limit is None else time.monotonic() + time_limit
        self._process: subprocess.Popen[bytes]
        self._ended = threading.Event()
        self._stop: Stop | None = None  # requested
        self._stopped: Stop | None = None  # done: SIGTERM was sent
        self._conclude_at: float | None = None
        self._kill_at: float | None = None

    def start(self, text: str, environment: Mapping[str, str | bytes]) -> None:
        """Start the program with ``text`` on its stdin. Raises `OSError` or `ValueError` if that fails."""
        with tempfile.TemporaryFile() as stdin:  # writing to a pipe could block: the program may never read it
            stdin.write(text.encode())
            stdin.seek(0)
            self._process = subprocess.Popen(  # noqa: S603 (the operator's command, no shell)
                self._command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=environment,
                start_new_session=True,
            )
        self._guard.watch(self._process.pid)
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self, why: Stop, *, at_once: bool = False) -> None:
        """Stop the program with SIGTERM and then SIGKILL, or ``at_once`` with SIGKILL. The first reason counts."""
        self._stop = self._stop or why
        if at_once:
            self._kill_at = 0.0

    def conclude(self) -> None:
        """Stop the program if it does not end by itself within the grace, counted from the first call."""
        if self._conclude_at is None:
            self._conclude_at = time.monotonic() + self._grace

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds`` until the program and its process group have ended; return whether they have."""
        return self._ended.wait(seconds)

    @property
    def ending(self) -> Ending:
        return Ending(code=self._process.returncode, stop=self._stopped)

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
        if self._stopped is None:
            self._stopped = self._stop
            kill_group(self._process.pid, signal.SIGTERM)
            self._kill_at = now + self._grace if self._kill_at is None else self._kill_at
        if self._kill_at is not None and now >= self._kill_at:
            kill_group(self._process.pid, signal.SIGKILL)
