"""The parent of the hub's programs: web server, task cluster and carrier. It starts each again when it ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from a2aproject.serving import lifeline

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
STEADY_AFTER = 10.0  # seconds; when a program ends after so long a run, its pauses begin anew

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A program to keep running. Messages call it by its ``name``."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Child:
    """A service with its process, which is None while the service does not run."""

    service: Service
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_due_at: float = 0.0
    deaths_in_a_row: int = 0

    def start(self, now: float, line: int) -> None:
        """Start the program in a process group of its own. ``line`` is the reading end of the supervisor's lifeline."""
        self.process = subprocess.Popen(  # noqa: S603 (our own command, no shell)
            self.service.command,
            env=os.environ | self.service.environment | {lifeline.VARIABLE: str(line)},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=[line],
        )
        self.started_at = now

    def reap(self, now: float) -> str | None:
        """Collect the process if it has ended and plan the next start. Return a message about it, None if it runs."""
        if self.process is None or (code := self.process.poll()) is None:
            return None
        self.kill()
        steady = now - self.started_at >= STEADY_AFTER
        self.deaths_in_a_row = 1 if steady else self.deaths_in_a_row + 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (self.deaths_in_a_row - 1))
        self.start_due_at = now + pause
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"The {self.service.name} {how}; starting it again in {pause:g} s."

    def terminate(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def kill(self) -> None:
        """Kill the process and every process that it started."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None


class Supervisor:
    """Runs services, starts each again when it ends, and ends every process when it stops."""

    def __init__(self, services: Sequence[Service], *, say: Callable[[str], object], grace: float) -> None:
        """Take the services in the order of their start. Each has ``grace`` seconds to stop before it is killed."""
        self.children = [Child(service) for service in services]
        self.say = say
        self.grace = grace

    def run(self) -> None:
        """Run until a stop signal arrives and every process has ended. A second signal kills the processes at once."""
        with _signals() as wait_for_signals, lifeline.held() as line:
            try:
                while not wait_for_signals(self._tend(line)):
                    pass
                self.say("Stopping.")
                self._stop(wait_for_signals)
            finally:
                for child in self.children:
                    child.kill()

    def _tend(self, line: int) -> float:
        """Reap ended processes and start the services that are due. Return the seconds until the next start."""
        now = time.monotonic()
        for child in self.children:
            if report := child.reap(now):
                self.say(report)
            if child.process is None and child.start_due_at <= now:
                child.start(now, line)
        return min((child.start_due_at - now for child in self.children if child.process is None), default=60.0)

    def _stop(self, wait_for_signals: Callable[[float], bool]) -> None:
        for child in self.children:
            child.terminate()
        give_up_at = time.monotonic() + self.grace
        while any(child.process and child.process.poll() is None for child in self.children):
            remaining = give_up_at - time.monotonic()
            if remaining <= 0 or wait_for_signals(remaining):
                self.say("Some processes did not stop in time and are killed.")
                return


@contextlib.contextmanager
def _signals() -> Iterator[Callable[[float], bool]]:
    """Yield a function that sleeps so many seconds, or until a signal arrives. It returns whether to stop.

    The end of a child wakes it too. Signals arrive through a socket, so a signal just before the sleep counts too.
    """
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    watched = (*STOP_SIGNALS, signal.SIGCHLD)
    earlier_handlers = {number: signal.signal(number, lambda *_: None) for number in watched}
    earlier_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)

    def wait(seconds: float) -> bool:
        readable, _, _ = select.select([reader], [], [], max(0.0, seconds))
        return bool(readable) and any(number in STOP_SIGNALS for number in reader.recv(4096))

    try:
        yield wait
    finally:
        signal.set_wakeup_fd(earlier_fd)
        for number, handler in earlier_handlers.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()
